"""Produce: payloads become records of Kafka batches, synced before they are acknowledged (promise R1).

Payloads have neither key nor headers, and the time of their arrival. Batches are cut at the size that topics
take by default; where a topic takes less, each record gets a batch of its own.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from trivium.core.commands.records import Produce, ProducedPart, ProducePart
from trivium.core.faults import Fault
from trivium.protocols.rustlog.call import Call
from trivium.protocols.rustlog.faults import error_of
from trivium.protocols.rustlog.messages import ProduceRequest, ProduceResponse
from trivium.records.batch import HEADER_BYTES, build_batch_of_values

BATCH_BYTES_MAX: Final = 1_048_588
"""Kafka's default of ``max.message.bytes``."""

RECORD_OVERHEAD_BYTES_MAX: Final = 20
"""What a record without key and headers takes besides its value, at most."""

PRODUCE_TIMEOUT_MS: Final = 30_000
"""How long a sync may take before the client is told that it is not known to be done."""

_ACKS_ALL: Final = -1


def produce(request: ProduceRequest, call: Call) -> None:
    _send(request, call, BATCH_BYTES_MAX)


def _send(request: ProduceRequest, call: Call, batch_bytes_max: int) -> None:
    now_ms = call.protocol.clock.wall_ms()
    batches = [build_batch_of_values(values, now_ms) for values in _shares(request.records, batch_bytes_max)]
    data = memoryview(bytearray().join(batches))

    def reply(parts: list[ProducedPart]) -> None:
        part = parts[0]
        if part.fault is Fault.MESSAGE_TOO_LARGE and len(batches) < len(request.records):
            _send(request, call, 0)
        else:
            _answer(request, part, call)

    part = ProducePart(request.topic, request.partition, data)
    call.execute(Produce([part], acks=_ACKS_ALL, timeout_ms=PRODUCE_TIMEOUT_MS), reply)


def _answer(request: ProduceRequest, part: ProducedPart, call: Call) -> None:
    records = request.records
    if part.fault is None:
        counters = call.protocol.counters
        counters.produced_records += len(records)
        counters.produced_bytes += sum(map(len, records))
        call.answer(ProduceResponse(part.base_offset, len(records)))
    elif part.fault is Fault.INVALID_RECORD and not records:
        # Nothing to write is refused last of all: the partition is there, and the caller may write to it.
        call.answer(ProduceResponse(0, 0))
    else:
        call.answer(error_of(part.fault, part.message, topic=request.topic, partition=request.partition))


def _shares(records: Sequence[bytes], batch_bytes_max: int) -> Iterator[Sequence[bytes]]:
    """The records of each batch: as many as fit, and one at least."""
    overhead_bytes = HEADER_BYTES + RECORD_OVERHEAD_BYTES_MAX * len(records)
    if records and overhead_bytes + sum(map(len, records)) <= batch_bytes_max:
        # What nearly every request is.
        yield records
        return
    begin, size_bytes = 0, HEADER_BYTES
    for number, value in enumerate(records):
        record_bytes = len(value) + RECORD_OVERHEAD_BYTES_MAX
        if size_bytes + record_bytes > batch_bytes_max and number > begin:
            yield records[begin:number]
            begin, size_bytes = number, HEADER_BYTES
        size_bytes += record_bytes
    if begin < len(records):
        yield records[begin:]
