"""Records from a log directory, Trivium's or Apache Kafka's, without a broker.

Each partition is opened through an overlay: nothing on disk changes, also where a broker is at work in the
directory or a crash has left something to recover. What a running broker appends later is not seen.
"""

import os
import time
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from trivium.client.offsets import EARLIEST, LATEST, Isolation
from trivium.client.topology import TopicPartition
from trivium.log import checkpoint
from trivium.log.faults import LogError, OffsetOutOfRange
from trivium.log.files import RealFiles
from trivium.log.health import Health
from trivium.log.names import (
    CLEAN_SHUTDOWN,
    CLEANER_OFFSET_CHECKPOINT,
    LOG_START_OFFSET_CHECKPOINT,
    META_PROPERTIES,
    RECOVERY_POINT_CHECKPOINT,
    parse_partition_directory,
    partition_directory,
)
from trivium.log.opening import Known, open_log
from trivium.log.overlay import OverlayFiles
from trivium.log.partition_log import PartitionLog
from trivium.log.settings import LogSettings
from trivium.log.timestamps import first_at_or_after
from trivium.spark.connector.bounds import fell_back, removed
from trivium.spark.connector.errors import BadOption, ConnectorError
from trivium.spark.connector.origin import Piece, make_piece
from trivium.spark.connector.ranges import OffsetRange
from trivium.wire.errors import DecodeError

READ_BYTES: Final = 8 * 1024 * 1024
"""Read at once, and made into batches of rows (``rows.ROWS_BYTES``)."""

_INTERNAL: Final = "__"
"""How the names of a cluster's own topics begin; a pattern finds none of them."""


class DirectoryOrigin:
    def __init__(self, path: str, isolation: Isolation, *, fail_on_data_loss: bool = True) -> None:
        self._path = path.rstrip("/") or "/"
        self._isolation = isolation
        self._fail_on_data_loss = fail_on_data_loss
        if not os.path.isfile(f"{self._path}/{META_PROPERTIES}"):
            raise BadOption(
                f"{path} has no {META_PROPERTIES} on the machine that reads it; name the log directory "
                "itself, as in log.dirs, where all of Spark's workers find it."
            )
        self._open = cache(self._open_partition)

    def topic_names(self) -> list[str]:
        return sorted({key.topic for key in self._keys() if not key.topic.startswith(_INTERNAL)})

    def partitions(self, topic: str) -> list[TopicPartition]:
        found = sorted(key for key in self._keys() if key.topic == topic)
        if not found:
            raise BadOption(
                f"{self._path} holds no partition of topic {topic}; 'trivium inspect {self._path}' shows "
                "what it holds."
            )
        return found

    def find_offsets(self, timestamps: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
        return {key: self._find_offset(key, timestamp) for key, timestamp in timestamps.items()}

    def pieces(self, wanted: OffsetRange) -> Iterator[Piece]:
        log = self._open(wanted.key)
        position = wanted.offset_start
        while position < wanted.offset_end:
            try:
                piece = self._read(log, wanted, position)
            except OffsetOutOfRange as error:
                position = self._skip_lost(wanted, position, error)
            except LogError as error:
                raise ConnectorError(f"{self._path}: {error}.") from error
            else:
                if not piece.batches:
                    return
                position = piece.offset_end
                yield piece

    def _skip_lost(self, wanted: OffsetRange, position: int, missed: OffsetOutOfRange) -> int:
        """Where to go on when the directory has changed since the read was planned."""
        if position < missed.log_start_offset:
            lost = removed(wanted.key, position, missed.log_start_offset)
        else:
            lost = fell_back(wanted.key, position, missed.log_end_offset)
        if self._fail_on_data_loss:
            raise lost
        return missed.log_start_offset if position < missed.log_start_offset else wanted.offset_end

    def _read(self, log: PartitionLog, wanted: OffsetRange, position: int) -> Piece:
        if self._isolation is Isolation.READ_COMMITTED:
            found, aborted = log.read_committed(position, READ_BYTES)
            return make_piece(wanted, found.join(), position, aborted)
        return make_piece(wanted, log.read(position, READ_BYTES).join(), position, ())

    def _find_offset(self, key: TopicPartition, timestamp: int) -> int:
        log = self._open(key)
        is_committed_only = self._isolation is Isolation.READ_COMMITTED
        end = log.last_stable_offset if is_committed_only else log.high_watermark
        if timestamp == EARLIEST:
            return log.log_start_offset
        if timestamp == LATEST:
            return end
        found = first_at_or_after(log, timestamp, offset_end=end)
        return -1 if found is None else found.offset

    def _keys(self) -> Iterator[TopicPartition]:
        for name in os.listdir(self._path):
            parsed = parse_partition_directory(name)
            if parsed is not None and not parsed.fate:
                yield TopicPartition(parsed.topic, parsed.partition)

    def _open_partition(self, key: TopicPartition) -> PartitionLog:
        name = partition_directory(*key)
        # That it may have been compacted is assumed: a gap is no damage then.
        try:
            log, _ = open_log(
                OverlayFiles(RealFiles()),
                f"{self._path}/{name}",
                name,
                settings=LogSettings(compact=True),
                health=Health(self._path),
                known=self._known(key),
                now_ms=int(time.time() * 1000),
            )
        except (LogError, OSError) as error:
            raise ConnectorError(f"{self._path}/{name} cannot be read: {error}.") from error
        return log

    def _known(self, key: TopicPartition) -> Known:
        is_clean = os.path.exists(f"{self._path}/{CLEAN_SHUTDOWN}")
        try:
            points, starts, cleaned = (
                checkpoint.read_offsets(RealFiles(), f"{self._path}/{name}")
                for name in (
                    RECOVERY_POINT_CHECKPOINT,
                    LOG_START_OFFSET_CHECKPOINT,
                    CLEANER_OFFSET_CHECKPOINT,
                )
            )
        except DecodeError:
            return Known(clean=False)  # As at a broker's start: nothing is known, so everything is read.
        return Known(is_clean, points.get(key, 0), starts.get(key, 0), cleaned.get(key, 0))
