"""A send that comes in pieces is begun early, and is the same send in the end (002.8, 002.16; S1, S2)."""

import pytest

from tests.core.inhabited import InhabitedWorld
from tests.protocols.iggy.conversing import Conversing
from tests.protocols.iggy.raw_client import OFFSET, consumer, message, poll, request, send, to_partition
from trivium.core.commands import streams
from trivium.protocols.iggy.code import Code
from trivium.protocols.iggy.status import Status
from trivium.wire.receiving import GROWTH

COUNT = 300
PAYLOAD_BYTES = 1_000
PIECE_BYTES = 50_000


class Sender:
    """Somebody who may do everything, before an empty topic."""

    def __init__(self) -> None:
        self.world = InhabitedWorld()
        root = self.world.found()
        self.world.ask(streams.CreateStreamTopic("default", "t", 1), root)
        self.talk = Conversing(self.world)
        self.talk.session.client.caller = root
        self.arriving = self.talk.session.client.arriving
        self.begun_bytes_max = 0
        assert self.talk.statuses(request(Code.PING)) == [
            0
        ]  # Who is known may send large requests from now on.

    def send(self, frame: bytes, piece_bytes: int = PIECE_BYTES) -> list[int]:
        """The statuses of what is answered."""
        statuses = []
        for at in range(0, len(frame), piece_bytes):
            statuses += self.talk.statuses(frame[at : at + piece_bytes])
            self.begun_bytes_max = max(self.begun_bytes_max, self.arriving.held_bytes)
        return statuses

    def payloads(self) -> list[bytes]:
        frame = request(
            Code.POLL_MESSAGES, poll(consumer(), "default", "t", 0, (OFFSET, 0), 10 * COUNT, False)
        )
        answer = self.talk.answer(frame)
        return [answer[at : at + PAYLOAD_BYTES] for at in range(24 + 64, len(answer), 64 + PAYLOAD_BYTES)]


def payload(number: int, letter: bytes = b"a") -> bytes:
    return b"%d " % number + letter * (PAYLOAD_BYTES - len(b"%d " % number))


def sent_frame(letter: bytes = b"a", count: int = COUNT) -> bytes:
    messages = [message(payload(number, letter)) for number in range(count)]
    return request(Code.SEND_MESSAGES, send("default", "t", to_partition(0), *messages))


@pytest.fixture
def sender() -> Sender:
    return Sender()


@pytest.mark.parametrize("piece_bytes", [1_024, 17_777, PIECE_BYTES, 64 << 10])
def test_send_in_pieces_writes_each_message_once_and_in_order(sender: Sender, piece_bytes: int) -> None:
    assert sender.send(sent_frame(), piece_bytes) == [0]
    assert sender.payloads() == [payload(number) for number in range(COUNT)]


def test_send_in_pieces_is_begun_before_it_is_whole(sender: Sender) -> None:
    """Within what has arrived, times what the frame itself may grow by (S2)."""
    frame = sent_frame()
    assert sender.send(frame[: 4 * PIECE_BYTES]) == []
    assert 0 < sender.arriving.held_bytes <= GROWTH * 4 * PIECE_BYTES
    assert sender.talk.session.held_bytes >= 4 * PIECE_BYTES + sender.arriving.held_bytes
    assert sender.send(frame[4 * PIECE_BYTES :]) == [0]
    assert sender.arriving.held_bytes == 0


def test_sends_one_after_the_other_do_not_get_each_others_messages(sender: Sender) -> None:
    """They use the same memory, and have the same size."""
    for letter in (b"a", b"b", b"c"):
        assert sender.send(sent_frame(letter)) == [0]
    assert sender.begun_bytes_max
    assert sender.payloads() == [
        payload(number, letter) for letter in (b"a", b"b", b"c") for number in range(COUNT)
    ]


def test_send_that_is_broken_where_it_was_begun_is_refused_as_a_whole(sender: Sender) -> None:
    frame = bytearray(sent_frame())
    at = frame.index(payload(5)) - 12
    frame[at : at + 4] = (PAYLOAD_BYTES + 1).to_bytes(4, "little")
    assert sender.send(bytes(frame)) == [Status.INVALID_MESSAGES_SIZE]
    assert sender.payloads() == []
    assert sender.send(sent_frame()) == [0]


def test_send_that_announces_more_than_it_brings_is_refused_and_keeps_no_room(sender: Sender) -> None:
    frame = bytearray(sent_frame())
    at = frame.index(COUNT.to_bytes(4, "little"))
    frame[at : at + 4] = (1_000_000).to_bytes(4, "little")
    assert sender.send(bytes(frame)) == [Status.INVALID_COMMAND]
    assert sender.begun_bytes_max
    assert sender.arriving.held_bytes == 0
    assert sender.payloads() == []


def test_client_that_goes_away_in_the_middle_leaves_nothing_behind(sender: Sender) -> None:
    sender.send(sent_frame()[: 4 * PIECE_BYTES])
    assert sender.arriving.held_bytes
    sender.talk.session.close()
    assert sender.arriving.held_bytes == 0


def test_stranger_begins_nothing(sender: Sender) -> None:
    """S7."""
    stranger = Conversing(sender.world)
    stranger.session._receiver.bytes_max = 1 << 20
    frame = sent_frame()
    for at in range(0, 4 * PIECE_BYTES, PIECE_BYTES):
        stranger.answer(frame[at : at + PIECE_BYTES])
    assert stranger.session.client.arriving.held_bytes == 0
