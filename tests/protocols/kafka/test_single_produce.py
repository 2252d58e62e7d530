"""The short way to read a Produce says the same as the long one, or leaves it alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.messages.api.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from trivium.messages.codec import decode, encode
from trivium.protocols.kafka.single_produce import VERSION_MIN, SingleProduce, read_single_produce
from trivium.wire.errors import DecodeError

VERSIONS = range(VERSION_MIN, 14)
BEFORE = b"header"
"""The request stands behind something else in its frame."""


def long_way(frame: memoryview, version: int) -> SingleProduce | None:
    """What the general decoder makes of a request, if it is one batch for one partition and no more."""
    try:
        request, _ = decode(ProduceRequest, version, frame, len(BEFORE))
    except DecodeError:
        return None
    if request.transactional_id is not None or len(request.topic_data) != 1:
        return None
    (topic,) = request.topic_data
    if len(topic.partition_data) != 1 or topic.partition_data[0].records is None:
        return None
    (part,) = topic.partition_data
    assert part.records is not None
    return SingleProduce(
        topic.topic_id if version >= 13 else topic.name,
        part.index,
        memoryview(part.records),
        request.acks,
        request.timeout_ms,
    )


names = st.text(max_size=130)
parts = st.builds(
    PartitionProduceData,
    index=st.integers(-(2**31), 2**31 - 1),
    records=st.none() | st.binary(max_size=300),
)


def requests(version: int) -> st.SearchStrategy[ProduceRequest]:
    named = {"topic_id": st.binary(min_size=16, max_size=16)} if version >= 13 else {"name": names}
    topics = st.builds(TopicProduceData, partition_data=st.lists(parts, max_size=2), **named)
    return st.builds(
        ProduceRequest,
        transactional_id=st.none() | st.text(max_size=3),
        acks=st.integers(-(2**15), 2**15 - 1),
        timeout_ms=st.integers(-(2**31), 2**31 - 1),
        topic_data=st.lists(topics, max_size=2),
    )


@given(st.data(), st.sampled_from(VERSIONS))
def test_short_way_says_what_the_long_way_says(data: st.DataObject, version: int) -> None:
    request = data.draw(requests(version))
    frame = memoryview(bytearray(BEFORE + encode(request, version)))
    short = read_single_produce(frame, len(BEFORE), version)
    assert short is None or short == long_way(frame, version)


@given(st.binary(max_size=80), st.sampled_from(VERSIONS))
def test_short_way_never_reads_what_the_long_way_refuses(body: bytes, version: int) -> None:
    """S1: any bytes."""
    frame = memoryview(bytearray(BEFORE + body))
    short = read_single_produce(frame, len(BEFORE), version)
    assert short is None or short == long_way(frame, version)


@given(st.integers(0, 200), st.sampled_from(VERSIONS))
def test_short_way_leaves_what_is_cut_off(cut: int, version: int) -> None:
    topic = {"topic_id": b"t" * 16} if version >= 13 else {"name": "topic"}
    part = PartitionProduceData(index=1, records=bytes(150))
    request = ProduceRequest(
        acks=1,
        timeout_ms=9,
        topic_data=[TopicProduceData(partition_data=[part], **topic)],
    )
    whole = encode(request, version)
    frame = memoryview(BEFORE + whole[: min(cut, len(whole) - 1)])
    assert read_single_produce(frame, len(BEFORE), version) is None


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("size", [1, 100, 127, 128, 1_000, 1_000_000])
def test_short_way_is_taken_for_one_batch(version: int, size: int) -> None:
    """Or all would be well, and slow."""
    topic = {"topic_id": b"t" * 16} if version >= 13 else {"name": "a-topic.name"}
    part = PartitionProduceData(index=7, records=bytes(size))
    request = ProduceRequest(
        acks=-1,
        timeout_ms=30_000,
        topic_data=[TopicProduceData(partition_data=[part], **topic)],
    )
    frame = memoryview(bytearray(encode(request, version)))
    single = read_single_produce(frame, 0, version)
    assert single is not None
    assert (single.partition, single.acks, single.timeout_ms) == (7, -1, 30_000)
    assert len(single.records) == size
    assert single.records.obj is frame.obj
