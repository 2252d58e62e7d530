"""The contract through Kafka's protocol, on plain frames: a reader of committed records."""

import struct
from collections.abc import Sequence
from typing import Any, Final

from tests.contract.door import Client, RefusedByDoor, Wire
from trivium.messages.api import ApiKey
from trivium.messages.api.api_versions import ApiVersionsRequest
from trivium.messages.api.create_topics import CreatableTopic, CreateTopicsRequest
from trivium.messages.api.fetch import FetchPartition, FetchRequest, FetchTopic
from trivium.messages.api.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from trivium.messages.api.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from trivium.messages.api.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from trivium.messages.errors import ErrorCode
from trivium.messages.frames import decode_response, encode_request
from trivium.messages.schema import Request
from trivium.records.batch import build_batch, check_batches, iter_records
from trivium.records.record import Record

_LENGTH: Final = struct.Struct(">i")
_READ_COMMITTED: Final = 1
_ACKS_ALL: Final = -1

name = "kafka"
half_a_request = bytes.fromhex("000000200012")
announced_too_large = _LENGTH.pack((100 << 20) + 1)


def connect(address: str) -> Client:
    return KafkaClient(address)


class KafkaClient:
    def __init__(self, address: str) -> None:
        self.wire = Wire(address)

    def _ask(self, key: ApiKey, request: Request, version: int) -> Any:
        frame = encode_request(request, version, 1, "contract")
        self.wire.send(_LENGTH.pack(len(frame)) + frame)
        (size_bytes,) = _LENGTH.unpack(self.wire.receive(_LENGTH.size))
        return decode_response(key, version, self.wire.receive(size_bytes))[1]

    def create_topic(self, topic: str, partitions: int) -> None:
        wanted = CreatableTopic(
            name=topic, num_partitions=partitions, replication_factor=1, assignments=[], configs=[]
        )
        answer = self._ask(ApiKey.CREATE_TOPICS, CreateTopicsRequest(topics=[wanted], timeout_ms=20_000), 5)
        _check(answer.topics[0].error_code)

    def produce(self, topic: str, partition: int, payloads: Sequence[bytes]) -> None:
        records = build_batch([Record(0, 0, None, payload) for payload in payloads])
        data = PartitionProduceData(index=partition, records=records)
        request = ProduceRequest(
            acks=_ACKS_ALL,
            timeout_ms=20_000,
            topic_data=[TopicProduceData(name=topic, partition_data=[data])],
        )
        answer = self._ask(ApiKey.PRODUCE, request, 9)
        _check(answer.responses[0].partition_responses[0].error_code)

    def fetch(self, topic: str, partition: int, offset: int) -> list[tuple[int, bytes]]:
        wanted = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=1 << 20)
        request = FetchRequest(
            max_wait_ms=0,
            min_bytes=0,
            isolation_level=_READ_COMMITTED,
            topics=[FetchTopic(topic=topic, partitions=[wanted])],
        )
        (answer,) = self._ask(ApiKey.FETCH, request, 11).responses[0].partitions
        _check(answer.error_code)
        data = bytes(answer.records or b"")
        return [
            (record.offset, record.value or b"")
            for position, header in check_batches(data)
            if not header.is_control
            for record in iter_records(data, position)
            if record.offset >= offset
        ]

    def commit(self, group: str, topic: str, partition: int, offset: int) -> None:
        part = OffsetCommitRequestPartition(
            partition_index=partition, committed_offset=offset, committed_metadata=None
        )
        request = OffsetCommitRequest(
            group_id=group, topics=[OffsetCommitRequestTopic(name=topic, partitions=[part])]
        )
        answer = self._ask(ApiKey.OFFSET_COMMIT, request, 8)
        _check(answer.topics[0].partitions[0].error_code)

    def committed(self, group: str, topic: str, partition: int) -> int | None:
        wanted = OffsetFetchRequestTopic(name=topic, partition_indexes=[partition])
        answer = self._ask(ApiKey.OFFSET_FETCH, OffsetFetchRequest(group_id=group, topics=[wanted]), 7)
        part = answer.topics[0].partitions[0]
        _check(part.error_code)
        offset: int = part.committed_offset
        return None if offset < 0 else offset

    def ping(self) -> None:
        assert self._ask(ApiKey.API_VERSIONS, ApiVersionsRequest(), 0).api_keys


def _check(error_code: int) -> None:
    if error_code:
        raise RefusedByDoor(ErrorCode(error_code).name)
