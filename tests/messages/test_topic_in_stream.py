"""The place of a topic in a stream, as it travels beside what Kafka knows of the topic."""

from trivium.messages.api.describe_topic_partitions import (
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponseTopic,
)
from trivium.messages.codec import decode, encode
from trivium.messages.topic_in_stream import TAG, TopicInStream, from_tags, to_tags

PLACE = TopicInStream(stream_id=1, stream="shop", topic_id=0xFFFF_FFFE, topic="Bestellungen/ü")


def test_place_comes_back_from_an_answer() -> None:
    topic = DescribeTopicPartitionsResponseTopic(
        error_code=0, name="t", topic_id=bytes(16), is_internal=False, partitions=[]
    )
    topic.unknown_tags = to_tags(PLACE)
    answer = DescribeTopicPartitionsResponse(throttle_time_ms=0, topics=[topic], next_cursor=None)
    found, _ = decode(DescribeTopicPartitionsResponse, 0, encode(answer, 0))
    assert from_tags(found.topics[0].unknown_tags) == PLACE


def test_place_keeps_its_form() -> None:
    """Clients of another version read it."""
    assert to_tags(TopicInStream(stream_id=1, stream="s", topic_id=2, topic="t")) == {
        29_810: bytes.fromhex("00000001 0273 00000002 0274 00")
    }


def test_topic_without_a_place_has_none() -> None:
    assert from_tags({}) is None


def test_place_that_is_cut_off_is_no_place() -> None:
    whole = to_tags(PLACE)[TAG]
    for size_bytes in range(len(whole)):
        assert from_tags({TAG: whole[:size_bytes]}) is None
