"""Who has used more than its budgets allow is answered, and then not listened to: the same at every door."""

from itertools import count
from typing import Any

import pytest

from tests.core.batches import batch
from tests.core.fakes import World
from tests.core.inhabited import InhabitedWorld
from tests.protocols.iggy.conversing import Conversing
from tests.protocols.iggy.raw_client import message, request, send, to_partition
from tests.protocols.kafka.conversation import Conversation
from tests.protocols.kafka.data_world import conversation_with, data_world
from tests.protocols.kafka.test_produce_api import records_for
from tests.protocols.kafka.test_produce_api import request as produce_request
from tests.protocols.rustlog.conversation import Door
from trivium.core.commands import streams
from trivium.core.commands.users import CreateUser
from trivium.core.quotas.budgets import Budgets
from trivium.core.quotas.limits import Limits
from trivium.core.topic_creation import TopicCreation
from trivium.core.topic_deletion import TopicDeletion
from trivium.core.users.permissions import EVERYTHING
from trivium.messages.api.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from trivium.messages.api.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from trivium.messages.api.delete_topics import DeleteTopicsRequest
from trivium.messages.api.fetch import FetchPartition, FetchRequest, FetchTopic
from trivium.messages.api.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from trivium.messages.api.produce import ProduceResponse
from trivium.messages.errors import ErrorCode
from trivium.protocols.conversation import Conversation as Session
from trivium.protocols.iggy.code import Code

SESSIONS_SINCE = 7
IDS = (b"made" + number.to_bytes(12, "big") for number in count())


def budgets_of(world: World, **limits: float) -> Budgets:
    """A second's worth of this for everybody."""
    world.image.quotas.by_entity[(("user", None),)] = dict(limits)
    world.image.quotas.changes += 1
    return Budgets(Limits(world.image.quotas), world.clock, world.timers, lambda: world.cluster.mutations, 1)


def limit(world: World, session: Session[Any], **limits: float) -> None:
    session.budgets = budgets_of(world, **limits)


def offsets(conversation: Conversation) -> None:
    conversation.send(ListOffsetsRequest(replica_id=-1, topics=[]), 1)


@pytest.mark.parametrize("version", range(1, 14))
def test_kafka_producer_is_told_how_long_it_is_not_listened_to(version: int) -> None:
    world = data_world()
    conversation = conversation_with(world)
    limit(world, conversation.session, producer_byte_rate=100.0)
    large = produce_request(world, version, (0, records_for(version, bytes(1_000))))
    answer = conversation.ask(large, version, ProduceResponse)
    wait_ms = answer.throttle_time_ms
    assert 9_000 < wait_ms < 15_000
    assert answer.responses[0].partition_responses[0].error_code == 0
    assert not conversation.session.has_room
    offsets(conversation)
    assert conversation.answers() == []
    world.pass_time(wait_ms - 1)
    conversation.session.proceed()
    assert conversation.answers() == []
    world.pass_time(1)
    conversation.session.proceed()
    (late,) = conversation.answers()
    assert isinstance(late, ListOffsetsResponse)


def fetch_of(
    conversation: Conversation, world: World, version: int, session_id: int = 0, epoch: int = -1, **more: Any
) -> Any:
    parts = [FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)]
    topics = [] if epoch > 0 else [FetchTopic(topic="t", partitions=parts)]
    fetch = FetchRequest(max_wait_ms=0, min_bytes=0, topics=topics, **more)
    if version >= SESSIONS_SINCE:
        fetch.session_id, fetch.session_epoch = session_id, epoch
    conversation.send(fetch, version)
    world.turn()
    (answer,) = conversation.answers()
    return answer


def records_in(answer: Any) -> int:
    return sum(len(part.records or b"") for topic in answer.responses for part in topic.partitions)


@pytest.mark.parametrize("version", range(1, 13))
def test_kafka_consumer_gets_no_records_while_it_has_read_too_much(version: int) -> None:
    """As Kafka: nothing in the answer but the time, and nothing is listened to meanwhile. What is larger than
    everything that may be read at once is read all the same, or nobody ever would.
    """
    world = data_world()
    conversation = conversation_with(world)
    conversation.ask(produce_request(world, 9, (0, batch(bytes(5_000)))), 9, ProduceResponse)
    limit(world, conversation.session, consumer_byte_rate=100.0)
    first = fetch_of(conversation, world, version)
    assert (first.throttle_time_ms, records_in(first) > 5_000) == (0, True)
    answer = fetch_of(conversation, world, version)
    assert 45_000 < answer.throttle_time_ms < 60_000
    assert answer.responses == []
    assert not conversation.session.has_room
    world.pass_time(answer.throttle_time_ms)
    conversation.session.proceed()
    assert records_in(fetch_of(conversation, world, version)) > 5_000


def test_fetch_session_is_the_same_after_an_answer_that_was_withheld() -> None:
    """KIP-227: the next request of the session has the records, and no session begins by such an answer."""
    world = data_world()
    conversation = conversation_with(world)
    conversation.ask(produce_request(world, 9, (0, batch(bytes(500)))), 9, ProduceResponse)
    limit(world, conversation.session, consumer_byte_rate=1_000.0)
    opened = fetch_of(conversation, world, 12, epoch=0)
    assert opened.session_id
    withheld = fetch_of(conversation, world, 12, opened.session_id, 1)
    assert (withheld.session_id, withheld.responses) == (opened.session_id, [])
    assert withheld.throttle_time_ms > 0
    world.pass_time(1_000)
    assert records_in(fetch_of(conversation, world, 12, opened.session_id, 2)) > 500
    sessions = len(conversation.session.protocol.fetch_sessions)
    none = fetch_of(conversation, world, 12, epoch=0)
    assert (none.session_id, none.responses) == (0, [])
    assert len(conversation.session.protocol.fetch_sessions) == sessions


def test_fetch_reads_no_more_at_once_than_the_quota_allows_at_once() -> None:
    world = data_world()
    conversation = conversation_with(world)
    for _ in range(10):
        conversation.ask(produce_request(world, 9, (0, batch(bytes(500)))), 9, ProduceResponse)
    limit(world, conversation.session, consumer_byte_rate=2_000.0)
    answer = fetch_of(conversation, world, 11)
    assert 1_000 < records_in(answer) <= 2_000
    assert answer.throttle_time_ms == 0


MAKING: dict[str, tuple[int, Any, Any]] = {
    "create topics": (
        6,
        lambda name: CreateTopicsRequest(
            topics=[
                CreatableTopic(name=name, num_partitions=10, replication_factor=1, assignments=[], configs=[])
            ],
            timeout_ms=1000,
        ),
        lambda answer: answer.topics,
    ),
    "create partitions": (
        3,
        lambda name: CreatePartitionsRequest(
            topics=[CreatePartitionsTopic(name=name, count=11, assignments=None)],
            timeout_ms=1000,
            validate_only=False,
        ),
        lambda answer: answer.results,
    ),
    "delete topics": (
        5,
        lambda name: DeleteTopicsRequest(topic_names=[name], timeout_ms=1000),
        lambda answer: answer.responses,
    ),
}


class Mutating:
    """A broker with the topics a and b, and a client that may make two partitions a second."""

    def __init__(self, kind: str) -> None:
        self.strict_since, self._request, self._results = MAKING[kind]
        self.world = world = data_world()
        budgets = budgets_of(world, controller_mutation_rate=2.0)
        creation = TopicCreation(
            world.cluster,
            world.settings,
            world.access,
            lambda: next(IDS),
            world.timers,
            budgets.admits_mutations,
        )
        deletion = TopicDeletion(
            world.cluster, world.settings, world.access, world.timers, budgets.admits_mutations
        )
        world.add({**creation.routes, **deletion.routes})
        self.conversation = conversation_with(world)
        self.conversation.session.budgets = budgets
        self.names = ("a", "b")
        if kind != "create topics":
            for name in self.names:
                world.create_topic(name, 10 if kind == "delete topics" else 1)

    def ask(self, name: str, version: int) -> tuple[int, int]:
        """The error code and the throttle time."""
        self.conversation.send(self._request(name), version)
        self.world.turn()
        (answer,) = self.conversation.answers()
        return self._results(answer)[0].error_code, answer.throttle_time_ms


@pytest.mark.parametrize("kind", MAKING)
def test_client_that_knows_the_error_is_refused_while_it_has_changed_too_much(kind: str) -> None:
    """KIP-599. Whoever may do anything may do all of it; what is refused changes nothing."""
    mutating = Mutating(kind)
    first, second = mutating.names
    world, version = mutating.world, mutating.strict_since
    assert mutating.ask(first, version) == (0, 0)
    assert mutating.conversation.session.has_room
    before = {name: len(topic.partitions) for name, topic in world.image.topics.by_name.items()}
    assert mutating.ask(second, version) == (ErrorCode.THROTTLING_QUOTA_EXCEEDED, 4_000)
    assert before == {name: len(topic.partitions) for name, topic in world.image.topics.by_name.items()}
    assert not mutating.conversation.session.has_room
    world.pass_time(4_000)
    mutating.conversation.session.proceed()
    assert mutating.ask(second, version) == (0, 0)


@pytest.mark.parametrize("kind", MAKING)
def test_client_that_does_not_know_the_error_is_made_to_wait(kind: str) -> None:
    mutating = Mutating(kind)
    assert mutating.ask(mutating.names[0], mutating.strict_since - 1) == (0, 4_000)
    assert not mutating.conversation.session.has_room


def test_answer_that_comes_later_tells_how_long_it_still_is() -> None:
    """The disk takes its time: the client is not listened to from its request on."""
    mutating = Mutating("create topics")
    world, conversation = mutating.world, mutating.conversation
    world.storage.holds_syncs = True
    conversation.send(MAKING["create topics"][1]("a"), 5)
    assert conversation.answers() == []
    assert not conversation.session.has_room
    world.clock.advance(500)
    world.storage.sync()
    (answer,) = conversation.answers()
    assert answer.throttle_time_ms == 3_500


def test_partitions_that_are_made_are_counted() -> None:
    world = data_world()
    world.add(world.topics.routes)
    conversation = conversation_with(world)
    limit(world, conversation.session, controller_mutation_rate=2.0)
    new = CreatableTopic(name="new", num_partitions=10, replication_factor=1, assignments=[], configs=[])
    answer = conversation.ask(CreateTopicsRequest(topics=[new], timeout_ms=1000), 5, CreateTopicsResponse)
    assert answer.topics[0].error_code == 0
    assert answer.throttle_time_ms == 4_000
    assert not conversation.session.has_room


def test_kafka_producer_that_wants_no_answer_waits_too() -> None:
    world = data_world()
    conversation = conversation_with(world)
    limit(world, conversation.session, producer_byte_rate=100.0)
    conversation.send(produce_request(world, 9, (0, batch(bytes(1_000))), acks=0), 9)
    assert not conversation.session.has_room


def test_closed_connection_leaves_no_timer_behind() -> None:
    world = data_world()
    conversation = conversation_with(world)
    limit(world, conversation.session, producer_byte_rate=1.0)
    conversation.ask(produce_request(world, 9, (0, batch(b"x"))), 9, ProduceResponse)
    assert world.timers.next_due_ms is not None
    conversation.session.close()
    assert world.timers.next_due_ms is None


def test_limit_that_is_not_reached_is_not_felt() -> None:
    world = data_world()
    conversation = conversation_with(world)
    limit(world, conversation.session, producer_byte_rate=1e6, consumer_byte_rate=1.0)
    answer = conversation.ask(produce_request(world, 9, (0, batch(b"x"))), 9, ProduceResponse)
    assert answer.throttle_time_ms == 0
    assert conversation.session.has_room


def test_rustlog_client_is_answered_and_then_not_listened_to() -> None:
    door = Door()
    talk = door.connect()
    limit(door.world, talk.session, producer_byte_rate=100.0)
    talk.ask("Produce", topic="t", partition=0, records=[[0] * 1_000])
    assert not talk.session.has_room
    wakes = talk.wakes
    door.world.pass_time(60_000)
    assert talk.session.has_room
    assert talk.wakes > wakes


def test_iggy_client_is_answered_and_then_not_listened_to() -> None:
    world = InhabitedWorld()
    root = world.found()
    world.ask(streams.CreateStreamTopic("default", "t", 1), root)
    world.ask(CreateUser("ann", "secret", permissions=EVERYTHING), root)
    conversing = Conversing(world)
    conversing.session.client.caller = world.log_in("ann", "secret")
    limit(world, conversing.session, producer_byte_rate=100.0)
    sending = request(Code.SEND_MESSAGES, send("default", "t", to_partition(0), message(bytes(1_000))))
    assert conversing.statuses(sending) == [0]
    assert not conversing.session.has_room
    assert conversing.statuses(request(Code.PING, b"")) == []
    world.pass_time(60_000)
    conversing.session.proceed()
    assert conversing.statuses(b"") == [0]
