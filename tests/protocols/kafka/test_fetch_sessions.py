"""Fetch sessions (KIP-227, 001.37): full, incremental, forgotten, wrong, and when there is no room."""

from itertools import count
from typing import Any

import pytest

from tests.core.batches import batch, produce
from tests.core.fakes import World
from tests.protocols.kafka.conversation import Conversation
from tests.protocols.kafka.data_world import conversation_with, data_world, topic_id
from trivium.core.commands.records import FetchPart
from trivium.messages.api.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, ForgottenTopic
from trivium.messages.errors import ErrorCode
from trivium.protocols.kafka.fetch_sessions import SETTLED_MS, FetchSessions, random_id


class Reader:
    """A client with a session."""

    def __init__(self, world: World, conversation: Conversation, version: int = 12) -> None:
        self.world = world
        self.conversation = conversation
        self.version = version
        self.session_id = 0
        self.epoch = 0

    def fetch(
        self, *parts: tuple[int, int], forget: tuple[int, ...] = (), version: int | None = None, **fields: Any
    ) -> FetchResponse:
        """Partitions with their offsets; the answer, and the session goes on."""
        version = version or self.version
        named: dict[str, Any] = {"topic_id": topic_id(self.world)} if version >= 13 else {"topic": "t"}
        partitions = [
            FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=1 << 20)
            for index, offset in parts
        ]
        asked = FetchRequest(
            max_wait_ms=0,
            min_bytes=0,
            topics=[FetchTopic(partitions=partitions, **named)] if parts else [],
            forgotten_topics_data=[ForgottenTopic(partitions=list(forget), **named)] if forget else [],
            **{"session_id": self.session_id, "session_epoch": self.epoch, **fields},
        )
        answer = self.conversation.ask(asked, version, FetchResponse)
        if not answer.error_code:
            self.session_id = answer.session_id
            self.epoch += 1
        return answer


def reader(version: int = 12) -> Reader:
    world = data_world()
    return Reader(world, conversation_with(world), version)


def partitions(answer: FetchResponse) -> list[int]:
    return [part.partition_index for topic in answer.responses for part in topic.partitions]


@pytest.mark.parametrize("version", [7, 11, 12, 13, 18])
def test_session_is_opened_by_a_full_fetch(version: int) -> None:
    client = reader(version)
    answer = client.fetch((0, 0), (1, 0))
    assert answer.session_id > 0
    assert partitions(answer) == [0, 1]


@pytest.mark.parametrize("version", [7, 13])
def test_incremental_fetch_says_only_what_is_new(version: int) -> None:
    client = reader(version)
    client.fetch((0, 0), (1, 0))
    assert client.fetch().responses == []
    produce(client.world, batch(b"a"), partition=1)
    assert partitions(client.fetch()) == [1]
    # The client has not moved on, so the records are still new to it.
    assert partitions(client.fetch()) == [1]
    assert client.fetch((1, 1)).responses == []


def test_forgotten_partition_is_not_read_any_more() -> None:
    client = reader()
    client.fetch((0, 0), (1, 0))
    produce(client.world, batch(b"a"), partition=1)
    assert client.fetch(forget=(1,)).responses == []


def test_session_without_partitions_ends() -> None:
    client = reader()
    client.fetch((0, 0))
    answer = client.fetch(forget=(0,))
    assert (answer.session_id, answer.error_code) == (0, 0)
    assert len(client.conversation.session.protocol.fetch_sessions) == 0


def test_error_of_a_partition_is_said_each_time_and_keeps_the_session() -> None:
    client = reader()
    client.fetch((0, 0), (1, 77))
    for _ in range(2):
        answer = client.fetch()
        assert [part.error_code for part in answer.responses[0].partitions] == [ErrorCode.OFFSET_OUT_OF_RANGE]
    answer = client.fetch((1, 0))
    assert [part.error_code for part in answer.responses[0].partitions] == [0]
    assert client.fetch().responses == []


def test_unknown_session_is_refused() -> None:
    client = reader()
    client.session_id, client.epoch = 4_711, 1
    answer = client.fetch((0, 0))
    assert (answer.error_code, answer.session_id) == (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, 0)


@pytest.mark.parametrize("epoch", [2, 7])
def test_wrong_epoch_is_refused_and_the_session_goes_on(epoch: int) -> None:
    client = reader()
    client.fetch((0, 0))
    answer = client.fetch(session_epoch=epoch)
    assert answer.error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
    assert client.fetch().error_code == 0


def test_session_by_name_is_not_continued_by_id() -> None:
    client = reader(12)
    client.fetch((0, 0))
    answer = client.fetch((0, 0), version=13)
    assert answer.error_code == ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR


def test_session_is_closed_by_the_last_epoch() -> None:
    client = reader()
    client.fetch((0, 0))
    answer = client.fetch((0, 0), session_epoch=-1)
    assert (answer.session_id, partitions(answer)) == (0, [0])
    assert len(client.conversation.session.protocol.fetch_sessions) == 0


def test_new_session_replaces_the_one_it_names() -> None:
    client = reader()
    first = client.fetch((0, 0)).session_id
    second = client.fetch((0, 0), session_epoch=0).session_id
    assert second not in (0, first)
    assert len(client.conversation.session.protocol.fetch_sessions) == 1


def test_session_may_go_on_over_another_connection() -> None:
    client = reader()
    client.fetch((0, 0))
    protocol = client.conversation.session.protocol
    client.conversation = Conversation(protocol)
    assert client.fetch().error_code == 0


def test_partition_with_records_comes_last_the_next_time() -> None:
    """So a full answer does not always serve the same partitions."""
    client = reader()
    client.fetch((0, 0), (1, 0))
    for partition in (0, 1):
        produce(client.world, batch(bytes(100)), partition=partition)
    size = len(batch(bytes(100)))
    served = []
    for _ in range(4):
        answer = client.fetch(max_bytes=size)
        served += [part.partition_index for part in answer.responses[0].partitions if part.records]
    assert served == [0, 1, 0, 1]


# -- room ----------------------------------------------------------------------------------------


class Clock:
    now_ms = 0

    def __call__(self) -> int:
        return self.now_ms


def parts(number: int) -> list[FetchPart]:
    return [FetchPart("t", index, 0, 1) for index in range(number)]


def test_session_that_was_not_used_for_long_gives_way() -> None:
    clock = Clock()
    sessions = FetchSessions(clock, 2, count(1).__next__)
    first, second = sessions.open(parts(5), by_id=False), sessions.open(parts(5), by_id=False)
    assert first is not None
    assert second is not None
    clock.now_ms = SETTLED_MS + 1
    sessions.get(first.session_id)
    assert sessions.open(parts(1), by_id=False) is not None
    assert sessions.get(first.session_id) is first
    assert sessions.get(second.session_id) is None


def test_session_finds_no_room_while_all_others_are_in_use() -> None:
    sessions = FetchSessions(Clock(), 1, count(1).__next__)
    assert sessions.open(parts(1), by_id=False) is not None
    assert sessions.open(parts(9), by_id=False) is None
    assert len(sessions) == 1


def test_larger_session_takes_the_place_of_an_old_smaller_one() -> None:
    clock = Clock()
    sessions = FetchSessions(clock, 1, count(1).__next__)
    small = sessions.open(parts(2), by_id=False)
    assert small is not None
    clock.now_ms = SETTLED_MS + 1
    sessions.get(small.session_id)
    assert sessions.open(parts(2), by_id=False) is None
    assert sessions.open(parts(3), by_id=False) is not None


def test_client_without_a_session_still_gets_its_records() -> None:
    client = reader()
    client.conversation.session.protocol.fetch_sessions = FetchSessions(Clock(), 0)
    produce(client.world, batch(b"a"))
    answer = client.fetch((0, 0))
    assert (answer.session_id, partitions(answer)) == (0, [0])


def test_id_that_is_taken_is_drawn_again() -> None:
    ids = iter((5, 5, 6))
    sessions = FetchSessions(Clock(), 10, ids.__next__)
    drawn = [sessions.open(parts(1), by_id=False) for _ in range(2)]
    assert [session.session_id for session in drawn if session is not None] == [5, 6]


def test_ids_are_positive_and_fit_into_the_field() -> None:
    assert all(1 <= random_id() <= 2**31 - 1 for _ in range(1_000))


def test_epoch_begins_again_after_the_last() -> None:
    session = FetchSessions(Clock()).open(parts(1), by_id=False)
    assert session is not None
    session.epoch = 2**31 - 1
    session.advance()
    assert session.epoch == 1
