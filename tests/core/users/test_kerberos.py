"""GSSAPI step by step, with tickets that are only words (mission 003.20, promise S8)."""

from collections.abc import Callable
from typing import Any

import pytest

from trivium.core.ports import Accepted
from trivium.core.users.kerberos import FAILED, TOKENS_MAX, Kerberos, Progress
from trivium.core.users.kerberos_names import LocalNames

OFFER = b"<\x01\0\0\0>"


class FakeTickets:
    """``answers``: what each token is answered with, by its number; after the last one there is a context.

    A token is trusted if it begins with "ticket"; a wrapped message is one in brackets.
    """

    def __init__(self, *answers: bytes, principal: str = "ann@EXAMPLE.COM") -> None:
        self._answers = answers
        self._principal = principal

    def accept(self, context: Any, token: bytes, done: Callable[[Accepted | None], None]) -> None:
        seen = (context or 0) + 1
        if not token.startswith(b"ticket"):
            done(None)
        elif seen < len(self._answers):
            done(Accepted(seen, self._answers[seen - 1], None))
        else:
            done(Accepted(seen, self._answers[-1], self._principal))

    def wrap(self, context: Any, message: bytes, done: Callable[[bytes | None], None]) -> None:
        done(b"<" + message + b">")

    def unwrap(self, context: Any, message: bytes, done: Callable[[bytes | None], None]) -> None:
        is_whole = message.startswith(b"<") and message.endswith(b">")
        done(message[1:-1] if is_whole else None)


def played(tickets: FakeTickets, *messages: bytes) -> list[Progress]:
    """What comes of each message, until it is over."""
    kerberos = Kerberos(tickets, LocalNames.parse(["DEFAULT"], "EXAMPLE.COM"), "kafka")
    progresses: list[Progress] = []
    exchange = None
    for message in messages:
        kerberos.step(exchange, message, progresses.append)
        exchange = progresses[-1].exchange
        if exchange is None:
            break
    return progresses


def choice(name: bytes = b"", layer: int = 1) -> bytes:
    return b"<" + bytes((layer, 0, 0, 0)) + name + b">"


def test_ticket_lets_its_owner_in_without_a_security_layer() -> None:
    first, second, third = played(FakeTickets(b"mine"), b"ticket", b"", choice())
    assert first.answer == b"mine"
    assert second.answer == OFFER
    assert third == Progress(username="ann")


def test_context_without_an_answer_is_followed_by_the_offer_at_once() -> None:
    first, second = played(FakeTickets(b""), b"ticket", choice())
    assert first.answer == OFFER
    assert second.username == "ann"


def test_context_may_take_several_tokens() -> None:
    answers = [each.answer for each in played(FakeTickets(b"more", b""), b"ticket 1", b"ticket 2", choice())]
    assert answers == [b"more", OFFER, b""]


def test_context_that_never_comes_ends_the_exchange() -> None:
    tickets = FakeTickets(*[b"more"] * (TOKENS_MAX + 1))
    progresses = played(tickets, *[b"ticket"] * (TOKENS_MAX + 5))
    assert len(progresses) == TOKENS_MAX + 1
    assert progresses[-1] == FAILED


@pytest.mark.parametrize("name", [b"", b"ann@EXAMPLE.COM", b"ann", b"kafka@localhost", b"kafka@"])
def test_name_beside_the_ticket_may_say_the_same(name: bytes) -> None:
    """Java's client writes its principal, kafka-python the service that it has asked for."""
    assert played(FakeTickets(b""), b"ticket", choice(name))[-1].username == "ann"


@pytest.mark.parametrize(
    "name", [b"root", b"root@EXAMPLE.COM", b"ann@OTHER.COM", b"Ann", b"kafka", b"\xff", b"\0"]
)
def test_name_of_another_beside_the_ticket_is_refused(name: bytes) -> None:
    assert played(FakeTickets(b""), b"ticket", choice(name))[-1] == FAILED


@pytest.mark.parametrize(
    "messages",
    [
        [b""],
        [b"nonsense"],
        [b"ticket", b"something"],
        [b"ticket", b"", b"\x01\0\0\0"],
        [b"ticket", b"", b"<\x01\0\0>"],
        [b"ticket", b"", b"<>"],
        [b"ticket", b"", b""],
        *([b"ticket", b"", choice(layer=layer)] for layer in (0, 2, 3, 4, 7, 255)),
    ],
)
def test_message_that_is_not_the_next_one_ends_the_exchange(messages: list[bytes]) -> None:
    progresses = played(FakeTickets(b"mine"), *messages)
    assert len(progresses) == len(messages)
    assert progresses[-1] == FAILED


def test_principal_that_is_nobody_here_is_refused() -> None:
    tickets = FakeTickets(b"", principal="ann@OTHER.COM")
    assert played(tickets, b"ticket", choice())[-1] == FAILED
