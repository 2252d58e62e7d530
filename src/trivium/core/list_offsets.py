"""Finding offsets: by time or by name, and where a leader's epoch ends (KIP-320)."""

from trivium.core.access import Access, Row
from trivium.core.caller import Caller
from trivium.core.cluster import Cluster
from trivium.core.commands.command import Reply, Routes, TopicRef
from trivium.core.commands.list_offsets import (
    EpochEnd,
    EpochQuery,
    FindEpochEnds,
    FindOffsets,
    FoundOffset,
    OffsetQuery,
    Spot,
)
from trivium.core.faults import Refused
from trivium.core.partition import LivePartition
from trivium.core.permission import permitted_partition


class Offsets:
    def __init__(self, cluster: Cluster, access: Access) -> None:
        self._cluster = cluster
        self._access = access
        self.routes: Routes = {FindOffsets: self.find, FindEpochEnds: self.find_epoch_ends}

    def find(self, command: FindOffsets, caller: Caller, reply: Reply[list[FoundOffset]]) -> None:
        results = []
        for query in command.queries:
            try:
                partition = self._partition(query.topic, query.partition, caller, command.ROW)
                partition.check_epoch(query.current_leader_epoch)
                results.append(_found(partition, query, committed=command.committed))
            except Refused as refused:
                results.append(FoundOffset(query.topic, query.partition, refused.fault))
        reply(results)

    def find_epoch_ends(self, command: FindEpochEnds, caller: Caller, reply: Reply[list[EpochEnd]]) -> None:
        results = []
        for query in command.queries:
            try:
                partition = self._partition(query.topic, query.partition, caller, command.ROW)
                partition.check_epoch(query.current_leader_epoch)
                results.append(_epoch_end(partition, query))
            except Refused as refused:
                results.append(EpochEnd(query.topic, query.partition, refused.fault))
        reply(results)

    def _partition(self, topic: TopicRef, index: int, caller: Caller, row: Row) -> LivePartition:
        return permitted_partition(self._cluster, self._access, caller, row, topic, index)


def _found(partition: LivePartition, query: OffsetQuery, *, committed: bool) -> FoundOffset:
    log = partition.log
    end = log.last_stable_offset if committed else log.high_watermark
    nothing = FoundOffset(
        query.topic,
        query.partition,
        log_start_offset=log.log_start_offset,
        high_watermark=log.high_watermark,
    )
    if query.at is Spot.TIERED:
        return nothing
    if query.at is Spot.EARLIEST:
        is_empty = log.log_start_offset == log.log_end_offset
        epoch = partition.leader_epoch if is_empty else log.epoch_at(log.log_start_offset)
        return nothing._replace(offset=log.log_start_offset, leader_epoch=epoch)
    if query.at is Spot.LATEST:
        return nothing._replace(offset=end, leader_epoch=partition.leader_epoch)
    at = log.latest() if isinstance(query.at, Spot) else log.first_at_or_after(query.at)
    if at is None or at.offset >= end:
        return nothing
    return nothing._replace(offset=at.offset, timestamp_ms=at.timestamp_ms, leader_epoch=at.leader_epoch)


def _epoch_end(partition: LivePartition, query: EpochQuery) -> EpochEnd:
    epoch, offset_end = partition.epoch_end(query.leader_epoch)
    return EpochEnd(query.topic, query.partition, None, epoch, offset_end)
