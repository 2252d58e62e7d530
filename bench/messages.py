"""Messages to bytes and back, against kio in the same run: microseconds, and how many times faster.

    .venv/bin/python bench/messages.py

Figures are the best of many short rounds, so a busy machine changes them little; the ratio changes less. kio
decodes in native code and encodes in Python; here both are Python.
"""

import io
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kio.schema.metadata.v12 import response as kio_metadata
from kio.schema.produce.v9 import request as kio_produce
from kio.schema.produce.v9 import response as kio_produce_response
from kio.serial import entity_reader, entity_writer

from trivium.messages import decode, encode
from trivium.messages.api.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from trivium.messages.api.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from trivium.messages.frames import decode_request, encode_request, encode_response

ROUND_SECONDS = 0.002
ROUNDS = 300

PRODUCE_VERSION = 9
METADATA_VERSION = 12
BATCH_BYTES = 100
TOPICS = 100
PARTITIONS = 6


@dataclass(frozen=True)
class Case:
    name: str
    ours: Callable[[], Any]
    kios: Callable[[], Any] | None
    ceiling_us: float | None = None
    """The level that the design sets, where it sets one."""


def produce_request() -> ProduceRequest:
    partition = PartitionProduceData(index=0, records=bytes(BATCH_BYTES))
    topic = TopicProduceData(name="orders", partition_data=[partition])
    return ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[topic])


def produce_response() -> ProduceResponse:
    partition = PartitionProduceResponse(index=0, error_code=0, base_offset=123_456, log_start_offset=0)
    return ProduceResponse(responses=[TopicProduceResponse(name="orders", partition_responses=[partition])])


def metadata_response() -> MetadataResponse:
    def partition(index: int) -> MetadataResponsePartition:
        return MetadataResponsePartition(
            error_code=0,
            partition_index=index,
            leader_id=index % 3,
            leader_epoch=1,
            replica_nodes=[0, 1, 2],
            isr_nodes=[0, 1, 2],
            offline_replicas=[],
        )

    topics = [
        MetadataResponseTopic(
            error_code=0,
            name=f"topic-{number}",
            topic_id=number.to_bytes(16, "big"),
            partitions=[partition(index) for index in range(PARTITIONS)],
        )
        for number in range(1, TOPICS + 1)
    ]
    brokers = [MetadataResponseBroker(node_id=node, host="broker", port=9092) for node in range(3)]
    return MetadataResponse(brokers=brokers, cluster_id="cluster", controller_id=0, topics=topics)


def decode_case(
    name: str, data: bytes, ours: Callable[[], Any], kio_class: Any, ceiling_us: float | None
) -> Case:
    read = entity_reader(kio_class)
    return Case(name, ours, lambda: read(data, 0), ceiling_us)


def encode_case(
    name: str, data: bytes, ours: Callable[[], Any], kio_class: Any, ceiling_us: float | None
) -> Case:
    """kio writes what it reads from our bytes: the same values, and the same bytes in the end."""
    entity, _ = entity_reader(kio_class)(data, 0)
    write = entity_writer(kio_class)

    def kios() -> bytes:
        buffer = io.BytesIO()
        write(buffer, entity)
        return buffer.getvalue()

    if kios() != data:
        raise AssertionError(f"{name}: kio writes other bytes")
    return Case(name, ours, kios, ceiling_us)


def cases() -> list[Case]:
    request, answer, metadata = produce_request(), produce_response(), metadata_response()
    request_bytes, answer_bytes = encode(request, PRODUCE_VERSION), encode(answer, PRODUCE_VERSION)
    metadata_bytes = encode(metadata, METADATA_VERSION)
    frame = encode_request(request, PRODUCE_VERSION, 1, "client")
    metadata_class, produce_class = kio_metadata.MetadataResponse, kio_produce.ProduceRequest
    return [
        decode_case(
            "decode Produce v9, 100 bytes",
            request_bytes,
            lambda: decode(ProduceRequest, PRODUCE_VERSION, request_bytes),
            produce_class,
            3.0,
        ),
        encode_case(
            "encode Produce v9 answer",
            answer_bytes,
            lambda: encode(answer, PRODUCE_VERSION),
            kio_produce_response.ProduceResponse,
            1.5,
        ),
        encode_case(
            "encode Metadata v12, 100 x 6",
            metadata_bytes,
            lambda: encode(metadata, METADATA_VERSION),
            metadata_class,
            None,
        ),
        decode_case(
            "decode Metadata v12, 100 x 6",
            metadata_bytes,
            lambda: decode(MetadataResponse, METADATA_VERSION, metadata_bytes),
            metadata_class,
            None,
        ),
        Case("decode Produce frame, with header", lambda: decode_request(frame), None),
        Case("encode Produce answer, with header", lambda: encode_response(answer, PRODUCE_VERSION, 1), None),
    ]


def best_microseconds(action: Callable[[], Any]) -> float:
    number = max(1, round(ROUND_SECONDS / min(timeit.repeat(action, number=1, repeat=5))))
    return min(timeit.repeat(action, number=number, repeat=ROUNDS)) / number * 1e6


def main() -> None:
    print(f"{'':36} {'trivium us':>11} {'kio us':>11} {'ratio':>7}   level")
    for case in cases():
        ours = best_microseconds(case.ours)
        kios = best_microseconds(case.kios) if case.kios else None
        shown = f"{kios:11.2f} {kios / ours:6.1f}x" if kios else f"{'':11} {'':7}"
        level = f"<= {case.ceiling_us} us" if case.ceiling_us else ""
        print(f"{case.name:36} {ours:11.2f} {shown}   {level}")


if __name__ == "__main__":
    main()
