"""Records of ``__trivium`` come back as they were written, and never change their form on disk."""

import pytest

from trivium.messages.schema import Message
from trivium.messages.stored.trivium_log import (
    COUNTS_STREAMS,
    OWN_LOG,
    CounterKey,
    CounterValue,
    QueryKey,
    QueryValue,
    StoredPrepared,
    StoredStreamPermissions,
    StoredTopicPermissions,
    StreamGroupKey,
    StreamGroupValue,
    StreamKey,
    StreamTopicKey,
    StreamTopicValue,
    StreamValue,
    TokenKey,
    TokenValue,
    UserKey,
    UserValue,
)

RECORDS: list[tuple[Message, Message, str]] = [
    (CounterKey(counts=COUNTS_STREAMS), CounterValue(next_id=7), "000002 | 00000000000700"),
    (
        UserKey(user_id=1),
        UserValue(
            username="ann",
            is_active=True,
            created_at_us=5,
            password_hash="$h",
            has_permissions=True,
            rights=3,
            streams=[
                StoredStreamPermissions(
                    stream_id=2, rights=1, topics=[StoredTopicPermissions(topic_id=4, rights=8)]
                )
            ],
        ),
        "000100000001 | 000004616e6e01000000000000000503246801000302000000020001020000000400080000 00",
    ),
    (
        TokenKey(user_id=1, name="pat"),
        TokenValue(token_hash=b"\xab", expires_at_us=9),
        "0002000000010003706174 | 000002ab000000000000000900",
    ),
    (
        StreamKey(stream_id=0xFFFF_FFFE),
        StreamValue(name="s", created_at_us=5, next_topic_id=1),
        "0003fffffffe | 0000027300000000000000050000000100",
    ),
    (
        StreamTopicKey(stream_id=1, topic_id=2),
        StreamTopicValue(
            name="t",
            kafka_name="s.t",
            kafka_id=bytes(15) + b"\x01",
            created_at_us=5,
            compression=1,
            message_expiry_us=-1,
            size_bytes_max=0,
            replication_factor=1,
            next_group_id=3,
        ),
        "00040000000100000002 | 0000027404732e740000000000000000000000000000000100000000000000050"
        "1ffffffffffffffff000000000000000000010000000300",
    ),
    (
        StreamGroupKey(stream_id=1, topic_id=2, group_id=3),
        StreamGroupValue(name="g", created_at_us=5),
        "0005000000010000000200000003 | 00000267000000000000000500",
    ),
    (
        QueryKey(query_id="q"),
        QueryValue(
            batch_id=7,
            committed_at_ms=5,
            prepared=[StoredPrepared(transactional_id="q-0", producer_id=9, producer_epoch=1)],
        ),
        "0006000171 | 00000000000000000007000000000000000502 04712d3000000000000000090001 00 00",
    ),
]


@pytest.mark.parametrize(("key", "value", "stored"), RECORDS, ids=lambda each: type(each).__name__)
def test_record_has_its_form_and_comes_back(key: Message, value: Message, stored: str) -> None:
    key_bytes, value_bytes = (bytes.fromhex(part) for part in stored.split("|"))
    assert OWN_LOG.encode_key(key) == key_bytes
    assert OWN_LOG.encode_value(value, 0) == value_bytes
    assert OWN_LOG.decode_key(key_bytes) == key
    assert OWN_LOG.decode_value(key, value_bytes) == value


def test_every_kind_of_record_is_shown_here() -> None:
    assert {type(key) for key, _, _ in RECORDS} == set(OWN_LOG.value_types)
