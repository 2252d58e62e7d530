"""What a real Kafka has stored of a share group is understood (003.7, KIP-932)."""

from pathlib import Path

from tests.core.fakes import World

from trivium.core.cluster import SHARE_STATE_TOPIC
from trivium.core.groups.moment import Moment
from trivium.core.groups.share.flight import State
from trivium.core.groups.share.group import ShareGroup
from trivium.core.groups.share.records import ShareGroupKey, replay
from trivium.core.groups.share.state_shard import StateShard
from trivium.core.internal_topic import InternalTopic
from trivium.messages.stored.group_log import GROUP_LOG
from trivium.records.batch import iter_batches, iter_records

LOGS = Path(__file__).parent / "kafka-share-state"
NOW = Moment(1_800_000_000_000, 0)


def test_state_of_a_share_partition_is_what_members_have_said() -> None:
    world = World()
    world.create_topic(SHARE_STATE_TOPIC, 1)
    data = bytearray((LOGS / "__share_group_state.log").read_bytes())
    world.log(SHARE_STATE_TOPIC).append(data, list(iter_batches(data)), 0)
    topic = InternalTopic(world.cluster, SHARE_STATE_TOPIC, world.topics.new_topic_records, lambda: 1, {})
    shard = StateShard(topic, 0, world.cluster, 500, lambda _shard: None)
    shard.load()
    # The member hung up in the end, so that what it still had was for others.
    by_number = {key.partition: partition for key, partition in shard.partitions.items()}
    assert set(by_number) == {0, 1}
    assert by_number[1].flight is None
    flight = by_number[0].flight
    assert flight is not None
    assert flight.start_offset == 2
    assert [(run.first, run.last, run.state, run.deliveries) for run in flight.runs] == [
        (2, 2, State.AVAILABLE, 1),
        (3, 3, State.ARCHIVED, 1),
        (4, 6, State.AVAILABLE, 1),
        (7, 7, State.ACKNOWLEDGED, 1),
        (8, 9, State.AVAILABLE, 1),
    ]


def test_share_group_has_its_member_and_where_it_has_begun() -> None:
    group = ShareGroup("g")
    data = (LOGS / "__consumer_offsets.log").read_bytes()
    for at, _ in iter_batches(data):
        for record in iter_records(data, at):
            key = GROUP_LOG.decode_key(record.key or b"")
            assert isinstance(key, ShareGroupKey)
            replay(group, key, GROUP_LOG.decode_value(key, record.value), NOW)
    [member] = group.members.values()
    assert (member.member_id, member.profile.topic_names) == ("m", frozenset(("two",)))
    assert member.holding.epoch == group.assignment_epoch == group.epoch
    assert member.holding.parts == group.begun == group.target["m"]
    assert {number for _, number in group.begun} == {0, 1}
