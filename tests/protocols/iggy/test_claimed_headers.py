"""Messages of Java's client of 0.6, whose user headers stay behind (the whole dialogue: ``test_golden``)."""

import struct

import pytest

from tests.protocols.iggy.raw_client import message
from trivium.protocols.iggy.claimed_headers import without_claimed_headers
from trivium.records.iggy import batches_from_messages

HEADERS = struct.pack("<I", 3) + b"key" + struct.pack("<BI", 2, 5) + b"value"


def claiming(payload: bytes) -> bytes:
    return message(payload, header_bytes=56, headers=HEADERS)[: -len(HEADERS)]


def indexed(*messages: bytes) -> bytes:
    ends = [sum(map(len, messages[: number + 1])) for number in range(len(messages))]
    return b"".join(struct.pack("<IIQ", 0, end, 0) for end in ends) + b"".join(messages)


def test_message_that_claims_headers_is_one_without_any() -> None:
    honest = [message(b"one", header_bytes=56), message(b"three", header_bytes=56, headers=HEADERS)]
    data = indexed(honest[0], claiming(b"two"), honest[1])
    corrected = without_claimed_headers(data, 3)
    assert corrected is not None
    assert bytes(corrected) == indexed(honest[0], message(b"two", header_bytes=56), honest[1])
    assert batches_from_messages(corrected, 3, now_us=0).header_bytes == 56


@pytest.mark.parametrize(
    "data",
    [
        indexed(message(b"one", header_bytes=56)),
        indexed(message(b"one", header_bytes=56, headers=HEADERS)[:-1]),
        indexed(message(b"one")[:40]),
        b"",
    ],
)
def test_messages_with_nothing_or_something_else_wrong_are_left_alone(data: bytes) -> None:
    assert without_claimed_headers(data, 1) is None


def test_messages_cut_anywhere_are_left_alone_or_corrected() -> None:
    data = indexed(claiming(b"one"), claiming(b"two"))
    for size_bytes in range(len(data)):
        without_claimed_headers(data[:size_bytes], 2)
