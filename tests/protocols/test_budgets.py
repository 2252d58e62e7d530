"""Who has used more than its budgets allow is answered, and then not listened to: the same at every door."""

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
from trivium.core.users.permissions import EVERYTHING
from trivium.messages.api.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from trivium.messages.api.fetch import FetchPartition, FetchRequest, FetchTopic
from trivium.messages.api.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from trivium.messages.api.produce import ProduceResponse
from trivium.protocols.conversation import Conversation as Session
from trivium.protocols.iggy.code import Code


def limit(world: World, session: Session[Any], **limits: float) -> None:
    """A second's worth of this for everybody."""
    world.image.quotas.by_entity[(("user", None),)] = dict(limits)
    world.image.quotas.changes += 1
    session.budgets = Budgets(
        Limits(world.image.quotas), world.clock, world.timers, lambda: world.cluster.mutations, 1
    )


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


@pytest.mark.parametrize("version", range(1, 13))
def test_kafka_consumer_is_told_too(version: int) -> None:
    world = data_world()
    conversation = conversation_with(world)
    conversation.ask(produce_request(world, 9, (0, batch(bytes(5_000)))), 9, ProduceResponse)
    limit(world, conversation.session, consumer_byte_rate=100.0)
    parts = [FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)]
    fetch = FetchRequest(max_wait_ms=0, min_bytes=0, topics=[FetchTopic(topic="t", partitions=parts)])
    conversation.send(fetch, version)
    world.turn()
    (answer,) = conversation.answers()
    assert 45_000 < answer.throttle_time_ms < 60_000
    assert not conversation.session.has_room


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
