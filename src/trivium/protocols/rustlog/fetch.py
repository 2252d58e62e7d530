"""Fetch: payloads out of Kafka batches, committed ones only.

- With a group, its committed offset counts if it is higher (mission 004.7).
- There is one record at least if there is any, then as many as ``max_bytes`` of payload and one frame hold.
- An offset behind the end gives nothing and the end; one before the start is an error (mission 004.9). The
  end is that of what is decided: an open transaction ends what readers see (X.6).
- A group that reads faster than its budget gets its answer later; one that is far behind is reported.
"""

from typing import Final

from trivium.core.commands.list_offsets import FindOffsets, FoundOffset, OffsetQuery, Spot
from trivium.core.commands.offsets import FetchOffsets, GroupOffsets, GroupOffsetsWanted
from trivium.core.commands.records import Fetch, FetchedPart, FetchPart
from trivium.core.faults import Fault
from trivium.protocols.rustlog.call import Call
from trivium.protocols.rustlog.faults import error_of
from trivium.protocols.rustlog.messages import ErrorResponse, FetchRequest, FetchResponse, Problem
from trivium.protocols.rustlog.slow_consumer import SLOW_CONSUMER_LAG, SlowConsumer
from trivium.records import kernel
from trivium.records.batch import read_header, read_section
from trivium.records.record import ValuesWanted
from trivium.records.visibility import Visibility
from trivium.wire.errors import DecodeError

READS_MAX: Final = 16
"""Reads of one fetch that find nothing for readers, before it answers with nothing: aborted transactions may
go on for long, and others want their turn."""

READ_BYTES_MIN: Final = 64 << 10
"""One read: records that are passed over must not cost a read each."""

FIRST_READ_BYTES_MIN: Final = 16 << 10
"""The first: mostly nothing is passed over, and what lies beyond the answer is read and checked in vain."""

ENVELOPE_BYTES: Final = 64
"""What stands around the records of an answer."""

OFFSET_MAX: Final = (1 << 63) - 1


def fetch(request: FetchRequest, call: Call) -> None:
    reading = _Reading(request, call)
    if request.group_id is None:
        reading.read()
        return
    place = (request.topic, request.partition)
    wanted = GroupOffsetsWanted(request.group_id, [place])
    call.execute(FetchOffsets([wanted]), reading.begin_at_committed)


class _Reading:
    """One fetch: as many reads as it takes to find a record."""

    def __init__(self, request: FetchRequest, call: Call) -> None:
        self._request = request
        self._call = call
        self._offset = min(request.offset, OFFSET_MAX)
        self._reads = 0

    def begin_at_committed(self, found: list[GroupOffsets]) -> None:
        group = found[0]
        fault = group.fault or group.offsets[0].fault
        if fault is not None:
            self._fail(fault)
        else:
            self._offset = max(self._offset, group.offsets[0].offset)
            self.read()

    def read(self) -> None:
        self._reads += 1
        request = self._request
        # Half as much again as is wanted of payload: records have more to them, most by far less than that.
        if self._reads == 1:
            read_bytes = max(request.max_bytes + request.max_bytes // 2, FIRST_READ_BYTES_MIN)
        else:
            read_bytes = max(request.max_bytes, READ_BYTES_MIN)
        read_bytes = min(read_bytes, self._call.protocol.frame_bytes_max)
        part = FetchPart(request.topic, request.partition, self._offset, read_bytes)
        command = Fetch([part], max_wait_ms=0, min_bytes=0, max_bytes=read_bytes, committed=True)
        self._call.execute(command, self._take)

    def _take(self, parts: list[FetchedPart]) -> None:
        part = parts[0]
        if part.fault is Fault.OFFSET_OUT_OF_RANGE:
            self._find_end()
        elif part.fault is not None:
            self._fail(part.fault)
        elif not part.runs:
            self._give(FetchResponse((), part.last_stable_offset), part)
        else:
            self._gather(part)

    def _gather(self, part: FetchedPart) -> None:
        protocol = self._call.protocol
        dialect = self._call.dialect
        values = kernel.Values(
            ValuesWanted(
                offset_first=self._offset,
                payload_bytes_max=min(self._request.max_bytes, OFFSET_MAX),
                answer_bytes_max=protocol.frame_bytes_max - ENVELOPE_BYTES,
                record_bytes=dialect.record_bytes_max,
                byte_bytes=dialect.byte_bytes_max,
                takes_gaps=dialect.tells_offsets,
            )
        )
        damage = _fill(values, part, self._offset)
        taken = values.taken()
        if taken.records:
            self._give(FetchResponse(taken.records, taken.offset_next), part, taken.payload_bytes)
        elif damage is not None:
            detail = f"The records from offset {taken.offset_next} on cannot be read: {damage}."
            self._call.answer(ErrorResponse(Problem.OTHER, detail))
        elif self._reads < READS_MAX:
            self._offset = taken.offset_next
            self.read()
        else:
            self._give(FetchResponse((), taken.offset_next), part)

    def _give(self, response: FetchResponse, part: FetchedPart, size_bytes: int = 0) -> None:
        call, request = self._call, self._request
        counters = call.protocol.counters
        counters.fetched_records += len(response.records)
        counters.fetched_bytes += size_bytes
        wait_ms = 0
        if request.group_id is not None:
            wait_ms = call.wait_ms(size_bytes)
            lag = part.last_stable_offset - response.next_offset
            if lag > SLOW_CONSUMER_LAG:
                counters.slow_consumers += 1
                call.protocol.report_slow_consumer(
                    SlowConsumer(request.group_id, request.topic, request.partition, lag)
                )
        if wait_ms:
            counters.throttled += 1
            call.protocol.timers.after(wait_ms, lambda: call.answer(response))
        else:
            call.answer(response)

    def _find_end(self) -> None:
        query = OffsetQuery(self._request.topic, self._request.partition, Spot.LATEST)
        self._call.execute(FindOffsets([query], committed=True), self._judge_offset)

    def _judge_offset(self, found: list[FoundOffset]) -> None:
        end = found[0]
        if end.fault is not None:
            self._fail(end.fault)
        elif self._offset >= end.offset:
            self._call.answer(FetchResponse((), end.offset))
        else:
            detail = f"Offset {self._offset} is no longer there; the first is {end.log_start_offset}."
            self._call.answer(ErrorResponse(Problem.OFFSET_OUT_OF_RANGE, detail))

    def _fail(self, fault: Fault) -> None:
        self._call.answer(error_of(fault, topic=self._request.topic, partition=self._request.partition))


def _fill(values: kernel.Values, part: FetchedPart, offset_first: int) -> DecodeError | None:
    """Take what readers may see, in order, until something does not fit, or cannot be read."""
    visibility = Visibility(part.aborted or ())
    for run in part.runs:
        position, end = 0, len(run)
        while position < end:
            try:
                header = read_header(run, position)
                is_wanted = visibility.sees(run, position, header) and header.offset_end > offset_first
                if is_wanted and not values.take(read_section(run, position)):
                    return None
            except DecodeError as error:
                return error
            values.pass_over(header.offset_end)
            position += header.size_bytes
    return None
