"""Bad logins, so many a second, from a process that yields to everybody else.

Run by ``bench.logins`` as ``python -m bench.login_flood FORM PORT ADDRESSES``; it floods until its standard
input ends and then prints how many logins it began and how many were answered. Frames are made beforehand,
every second one for a name that nobody has, each with a password of its own. Logins begin on time, whether or
not those before have been answered; ``OPEN_MAX`` of them at most wait.
"""

import contextlib
import json
import os
import selectors
import socket
import struct
import sys
import time
from collections.abc import Callable
from itertools import count

from bench.iggy_frames import login_frame
from bench.load import framed

from trivium.messages.api.sasl_authenticate import SaslAuthenticateRequest
from trivium.messages.api.sasl_handshake import SaslHandshakeRequest

PER_SECOND = 500
OPEN_MAX = 1_000
NICENESS = 19
CATCH_UP_SECONDS = 0.1
"""So much of what it was too slow for is made good; more would be a burst."""

Answered = Callable[[bytes], bytes | None]
"""What to send next; None when the login is over."""


def plain(number: int) -> tuple[bytes, Answered]:
    proof = f"\0{_name(number)}\0wrong-{number}".encode()
    return _handshake("PLAIN") + _sasl(proof), lambda data: None if data.count(b"failed") else b""


def scram(number: int) -> tuple[bytes, Answered]:
    first = f"n,,n={_name(number)},r=abc{number}".encode()

    def answered(data: bytes) -> bytes | None:
        at = data.find(b"r=abc")
        if at < 0:
            return None if b"failed" in data else b""
        nonce = data[at : data.index(b",", at)]
        return _sasl(b"c=biws," + nonce + b",p=" + b"A" * 43 + b"=")

    return _handshake("SCRAM-SHA-256") + _sasl(first), answered


def iggy(number: int) -> tuple[bytes, Answered]:
    return login_frame(_name(number), f"wrong-{number}"), lambda data: None


def rustlog(number: int) -> tuple[bytes, Answered]:
    body = json.dumps({"Login": {"username": _name(number), "password": f"wrong-{number}"}}).encode()
    return struct.pack(">I", len(body)) + body, lambda data: None


FORMS = {"plain": plain, "scram": scram, "iggy": iggy, "rustlog": rustlog}


def _name(number: int) -> str:
    return "iggy" if number % 2 else f"nobody-{number}"


def _handshake(mechanism: str) -> bytes:
    return framed(SaslHandshakeRequest(mechanism=mechanism), 1)


def _sasl(message: bytes) -> bytes:
    return framed(SaslAuthenticateRequest(auth_bytes=message), 1)


def flood(form: str, port: int, addresses: int) -> tuple[int, int]:
    """How many logins began, and how many had an answer."""
    begun = answered = 0
    with selectors.DefaultSelector() as selector:
        selector.register(sys.stdin.fileno(), selectors.EVENT_READ)
        due = time.monotonic()
        for number in count():
            while True:  # once at least, however late it is
                pause = due - time.monotonic()
                for key, _ in selector.select(max(pause, 0.0)):
                    if key.data is None:
                        return begun, answered
                    if _go_on(key.fileobj, key.data):  # type: ignore[arg-type]
                        answered += 1
                        selector.unregister(key.fileobj)
                if due <= time.monotonic() and begun - answered < OPEN_MAX:
                    break
            due = max(due + 1 / PER_SECOND, time.monotonic() - CATCH_UP_SECONDS)
            frame, then = FORMS[form](number)
            with contextlib.suppress(OSError):
                here = f"127.0.{1 + number % addresses // 250}.{1 + number % addresses % 250}"
                peer = socket.create_connection(("127.0.0.1", port), 10, source_address=(here, 0))
                peer.sendall(frame)
                selector.register(peer, selectors.EVENT_READ, then)
                begun += 1
    raise AssertionError("numbers do not end")


def _go_on(peer: socket.socket, then: Answered) -> bool:
    """Whether this login is over."""
    with contextlib.suppress(OSError):
        data = peer.recv(4096)
        answer = then(data) if data else None
        if answer is not None:
            if answer:
                peer.sendall(answer)
            return False
    peer.close()
    return True


if __name__ == "__main__":
    print("ready", flush=True)
    os.nice(NICENESS)
    print(json.dumps(flood(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
