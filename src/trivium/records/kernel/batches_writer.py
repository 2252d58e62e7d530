"""Writes the batches that Iggy's messages become: records, and before them a header with its checksum."""

from __future__ import annotations

from trivium.records.header import CRC_AT, HEADER, LOG_OVERHEAD_BYTES, MAGIC, BatchHeader
from trivium.records.kernel import cython
from trivium.records.kernel.batches import CHECKED_FROM, HEAD_BYTES, checksum
from trivium.records.kernel.header_names import ID, MICROSECONDS, ORIGIN, TYPES
from trivium.records.kernel.integers import put_big_endian, u64_at
from trivium.records.kernel.user_headers import UserHeaders
from trivium.records.kernel.writer import Writer, varint_bytes
from trivium.wire.errors import EncodeError
from trivium.wire.limits import BATCH_BYTES_MAX

NO_MODEL = cython.declare(cython.Py_ssize_t, -1)
"""As many bytes as no payload has: there is no last record, or it is not one that others are like."""


@cython.final
@cython.cclass
class BatchesWriter:
    """Batches of records that share one timestamp, none larger than it must be."""

    writer: Writer
    headers: Writer
    headers_count: cython.Py_ssize_t
    holds_origin_only: cython.bint
    origin_at: cython.Py_ssize_t
    model: Writer
    model_head_bytes: cython.Py_ssize_t
    model_delta_bytes: cython.Py_ssize_t
    model_payload_bytes: cython.Py_ssize_t
    batch_at: cython.Py_ssize_t
    size_max: cython.Py_ssize_t
    records_count: cython.Py_ssize_t
    timestamp: cython.longlong
    microseconds: cython.longlong
    closed: list[tuple[int, BatchHeader]]

    def __init__(self, capacity: int, now_us: int, size_bytes_max: int) -> None:
        self.writer = Writer(capacity)
        self.headers = Writer(256)
        self.holds_origin_only = False
        self.model = Writer(64)
        self.model_head_bytes = self.model_delta_bytes = 0
        self.model_payload_bytes = NO_MODEL
        self.size_max = min(size_bytes_max, BATCH_BYTES_MAX)
        self.timestamp = now_us // 1000
        self.microseconds = now_us % 1000
        self.closed = []
        self.open()

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def open(self) -> cython.bint:
        self.batch_at = self.writer.position
        self.writer.reserve(HEAD_BYTES)
        self.writer.position += HEAD_BYTES
        self.records_count = 0
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def append(
        self,
        p: cython.p_const_uchar,
        message_at: cython.Py_ssize_t,
        payload_at: cython.Py_ssize_t,
        payload_length: cython.Py_ssize_t,
        user_headers: UserHeaders,
    ) -> cython.bint:
        """A message as the next record, in a new batch if it does not fit into the one that is open."""
        complete: cython.Py_ssize_t = self.writer.position
        self.collect_headers(p, message_at, user_headers)
        self.write_record(p, payload_at, payload_length, user_headers)
        if self.records_count > 1 and self.writer.position - self.batch_at > self.size_max:
            self.writer.position = complete
            self.records_count -= 1
            self.close()
            self.open()
            self.write_record(p, payload_at, payload_length, user_headers)
        self.keep_model(payload_length, user_headers)
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def keep_model(self, payload_length: cython.Py_ssize_t, user_headers: UserHeaders) -> cython.bint:
        """Keep what stands before and behind the payload of the last record, for those that are like it."""
        writer: Writer = self.writer
        model: Writer = self.model
        tail_bytes: cython.Py_ssize_t = varint_bytes(self.headers_count) + self.headers.position
        head_bytes: cython.Py_ssize_t
        self.model_payload_bytes = NO_MODEL
        if not self.holds_origin_only or user_headers.record_key_length() >= 0 or user_headers.is_tombstone:
            return True
        self.model_delta_bytes = varint_bytes(self.records_count - 1)
        # Beside the offset: attributes, time, and the length of no key are a byte each.
        head_bytes = 3 + self.model_delta_bytes + varint_bytes(payload_length)
        head_bytes += varint_bytes(head_bytes + payload_length + tail_bytes)
        model.position = 0
        model.reserve(head_bytes + tail_bytes)
        model.copy(writer.p, writer.position - tail_bytes - payload_length - head_bytes, head_bytes)
        model.copy(writer.p, writer.position - tail_bytes, tail_bytes)
        self.model_head_bytes = head_bytes
        self.model_payload_bytes = payload_length
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def append_alike(
        self,
        p: cython.p_const_uchar,
        message_at: cython.Py_ssize_t,
        payload_at: cython.Py_ssize_t,
        payload_length: cython.Py_ssize_t,
    ) -> cython.bint:
        """A message without user headers after the model of the last record, with a place, a payload and a
        sender's clock of its own; False, and nothing is done, where more than that would differ.
        """
        writer: Writer = self.writer
        model: Writer = self.model
        head_bytes: cython.Py_ssize_t = self.model_head_bytes
        tail_bytes: cython.Py_ssize_t = model.position - head_bytes
        end: cython.Py_ssize_t = writer.position + model.position + payload_length
        if (
            payload_length != self.model_payload_bytes
            or end - self.batch_at > self.size_max
            or varint_bytes(self.records_count) != self.model_delta_bytes
            or (u64_at(p, message_at + 8) | u64_at(p, message_at + 16)) != 0
        ):
            return False
        writer.reserve(model.position + payload_length)
        writer.copy(model.p, 0, head_bytes)
        # Behind the offset the head has the lengths of no key and of the value.
        writer.position -= self.model_delta_bytes + 1 + varint_bytes(payload_length)
        writer.varint(self.records_count)
        writer.position = end - tail_bytes - payload_length
        writer.copy(p, payload_at, payload_length)
        writer.copy(model.p, head_bytes, tail_bytes)
        writer.position = end - self.headers.position + self.origin_at
        writer.reversed_copy(p, message_at + 40, 8)
        writer.position = end
        self.records_count += 1
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def collect_headers(
        self, p: cython.p_const_uchar, message_at: cython.Py_ssize_t, user_headers: UserHeaders
    ) -> cython.bint:
        """The headers of a record: first what Kafka has no other place for, then the user's own."""
        headers: Writer = self.headers
        count: cython.Py_ssize_t = 1 + user_headers.named_count
        has_id: cython.bint = (u64_at(p, message_at + 8) | u64_at(p, message_at + 16)) != 0
        is_plain: cython.bint = not (has_id or user_headers.named_count or user_headers.is_typed)
        if is_plain and self.holds_origin_only:
            # Of most messages in a row nothing differs but the sender's clock.
            complete: cython.Py_ssize_t = headers.position
            headers.position = self.origin_at
            headers.reversed_copy(p, message_at + 40, 8)
            headers.position = complete
            return True
        self.holds_origin_only = is_plain
        headers.position = 0
        if has_id:
            headers.header(ID, 0, len(ID), p, message_at + 8, 16)
            count += 1
        headers.open_header(ORIGIN, 8)
        self.origin_at = headers.position
        headers.reversed_copy(p, message_at + 40, 8)
        if self.microseconds:
            headers.open_header(MICROSECONDS, 2)
            put_big_endian(headers.p, headers.position, self.microseconds, 2)
            headers.position += 2
            count += 1
        if user_headers.is_typed:
            headers.header(TYPES, 0, len(TYPES), user_headers.types.p, 0, user_headers.types.position)
            count += 1
        headers.reserve(user_headers.named.position)
        headers.copy(user_headers.named.p, 0, user_headers.named.position)
        self.headers_count = count
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def write_record(
        self,
        p: cython.p_const_uchar,
        payload_at: cython.Py_ssize_t,
        payload_length: cython.Py_ssize_t,
        user_headers: UserHeaders,
    ) -> cython.bint:
        self.writer.record(
            0,
            self.records_count,
            user_headers.key.data.p,
            0,
            user_headers.record_key_length(),
            p,
            payload_at,
            -1 if user_headers.is_tombstone else payload_length,
            self.headers_count,
            self.headers.p,
            self.headers.position,
        )
        self.records_count += 1
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def close(self) -> cython.bint:
        size_bytes: cython.Py_ssize_t = self.writer.position - self.batch_at
        header: BatchHeader = BatchHeader(
            base_offset=0,
            batch_length=size_bytes - LOG_OVERHEAD_BYTES,
            leader_epoch=-1,
            magic=MAGIC,
            crc=0,
            attributes=0,
            last_offset_delta=self.records_count - 1,
            base_timestamp=self.timestamp,
            max_timestamp=self.timestamp,
            producer_id=-1,
            producer_epoch=-1,
            base_sequence=-1,
            records_count=self.records_count,
        )
        if size_bytes > BATCH_BYTES_MAX:
            raise EncodeError(f"a batch of {size_bytes} bytes is larger than {BATCH_BYTES_MAX}")
        HEADER.pack_into(self.writer.data, self.batch_at, *header)
        crc: cython.longlong = checksum(self.writer.p, self.batch_at + CHECKED_FROM, self.writer.position)
        put_big_endian(self.writer.p, self.batch_at + CRC_AT, crc, 4)
        self.closed.append((self.batch_at, header._replace(crc=crc)))
        return True

    @cython.cfunc
    def taken(self) -> bytearray:
        self.close()
        return self.writer.taken()
