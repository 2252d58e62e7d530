"""Reading a stream: which offsets the next micro-batch gets, and how far the query is.

Lives on the driver, in a process of its own that Spark asks before every micro-batch. A question is answered
with what is there; only a query that does nothing but ask waits a moment here instead, and hears of a record
when it comes. ``partitions`` is a function of its arguments and of what topics they are of, so that a
micro-batch that is done again after a crash has the same rows, or none where its topic was made anew since.
"""

import logging
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    ReadMinRows,
    SupportsTriggerAvailableNow,
)

from trivium.client.errors import ClientError
from trivium.client.offsets import EARLIEST, LATEST
from trivium.client.topology import TopicPartition
from trivium.spark.connector.admission import admit, backlog
from trivium.spark.connector.bounds import fell_back, resolve_start
from trivium.spark.connector.broker_origin import may_pass
from trivium.spark.connector.errors import DataLost, MadeAnew
from trivium.spark.connector.offsets_json import Offsets, from_json, to_json
from trivium.spark.connector.options import ReadOptions
from trivium.spark.connector.origins import open_broker
from trivium.spark.connector.progress import PublishedProgress
from trivium.spark.connector.ranges import OffsetRange, make_ranges, split_ranges
from trivium.spark.connector.rows import WantedColumn, read_rows
from trivium.spark.connector.topic_ids import TopicIds
from trivium.spark.connector.worker_process import fall_silent_if_left, settle

if TYPE_CHECKING:
    import pyarrow as pa

WAIT_MS = 50
"""For a record, by a query with nothing to do. Its other sources wait as long for their turn."""

ASKED_SOON_S = 0.04
"""After the answer that there is nothing: then the query is idle. Spark itself waits 10 ms before it asks
again, and a query that is busy with another source comes later."""

_log = logging.getLogger(__name__)


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Is pickled for the executors before anything is asked of it: what is open comes later."""

    def __init__(self, options: ReadOptions, columns: tuple[WantedColumn, ...]) -> None:
        self._options = options
        self._columns = columns
        self._progress = PublishedProgress(options.kafka.group_id)
        self._ends: dict[TopicPartition, int] = {}
        """Where partitions ended when they were last looked at."""
        self._topic_ids = TopicIds()
        self._target: dict[TopicPartition, int] | None = None
        """Where an available-now run ends."""
        self._heard_s = self._admitted_s = time.monotonic()
        self._idle_s: float | None = None
        """When the last answer was that there is nothing new."""

    # -- offsets ---------------------------------------------------------------------------------

    def initialOffset(self) -> Offsets:  # noqa: N802 - this and the others below are Spark's names
        options = self._options
        origin = open_broker(options)
        keys = options.subscription.find(origin)
        self._begin(origin.topic_ids)
        return to_json(
            resolve_start(
                origin,
                options.starting,
                keys,
                no_match=options.no_match,
                fail_on_data_loss=options.fail_on_data_loss,
            )
        )

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._target = self._find_ends()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        if self._options.trigger_offsets_max is not None:
            return ReadMaxRows(self._options.trigger_offsets_max)
        if self._options.trigger_offsets_min is not None:
            return ReadMinRows(self._options.trigger_offsets_min)
        return ReadAllAvailable()

    def latestOffset(self, start: Mapping[str, Any], limit: ReadLimit) -> Offsets:  # noqa: N802
        """Up to where the next micro-batch goes; ``start`` itself if there is none to be made now."""
        starts = from_json(start)
        try:
            ends = self._find_ends()
            self._progress.publish(open_broker(self._options).cluster, starts)
            if ends == starts:
                ends = self._wait(ends)
        except ClientError as error:
            self._bear(error)
            return to_json(starts)
        self._heard_s = time.monotonic()
        ends |= self._check_loss(starts, ends)
        if self._target is not None:
            ends = _within(self._target, starts, ends)
        admitted = admit(starts, ends, limit.max_rows) if isinstance(limit, ReadMaxRows) else ends
        goes_back = any(ends[key] < start for key, start in starts.items() if key in ends)
        if not goes_back and self._is_too_little(sum(backlog(starts, ends).values()), limit):
            return to_json(starts)
        if any(admitted.get(key) != at for key, at in starts.items()) or admitted.keys() != starts.keys():
            self._admitted_s = time.monotonic()
        return to_json(admitted)

    def stop(self) -> None:
        fall_silent_if_left()

    def reportLatestOffset(self) -> Offsets | None:  # noqa: N802
        """Where the topics end, for the lag in Spark's progress."""
        return to_json(self._ends) if self._ends else None

    def commit(self, end: Mapping[str, Any]) -> None:
        """Spark says it while it builds the next micro-batch; ``latestOffset`` has known it for longer."""

    # -- records ---------------------------------------------------------------------------------

    def partitions(self, start: Mapping[str, Any], end: Mapping[str, Any]) -> list[InputPartition]:
        ids = self._known_ids()
        ranges = [
            replace(each, topic_id=ids.id_of(each.topic))
            for each in make_ranges(from_json(start), from_json(end))
        ]
        return [*split_ranges(ranges, self._options.partitions_min, self._options.partition_records_max)]

    def read(self, partition: InputPartition) -> "Iterator[pa.RecordBatch]":
        settle()
        if isinstance(partition, OffsetRange):
            origin = open_broker(self._options, patience_s=self._options.poll_timeout_ms / 1000)
            yield from read_rows(origin.pieces(partition), partition, self._columns)

    # -- inside ----------------------------------------------------------------------------------

    def _find_ends(self) -> dict[TopicPartition, int]:
        origin = open_broker(self._options)
        keys = self._options.subscription.find(origin)
        self._ends = origin.find_offsets(dict.fromkeys(keys, LATEST))
        return dict(self._ends)

    def _wait(self, ends: dict[TopicPartition, int]) -> dict[TopicPartition, int]:
        """Nothing is new: look again when something comes, if all that the query does is to ask."""
        is_idle = self._idle_s is not None and time.monotonic() < self._idle_s + ASKED_SOON_S
        self._idle_s = None
        if is_idle and self._target is None and open_broker(self._options).await_more(ends, WAIT_MS):
            return self._find_ends()
        self._idle_s = time.monotonic()
        return ends

    def _bear(self, error: ClientError) -> None:
        """A broker that is away for a while stops nobody: there is nothing new until it is back."""
        if not may_pass(error) or time.monotonic() - self._heard_s > self._options.poll_timeout_ms / 1000:
            raise error
        _log.warning("%s", error)

    def _begin(self, ids: Mapping[str, bytes]) -> None:
        self._topic_ids.begin(ids)

    def _known_ids(self) -> TopicIds:
        return self._topic_ids

    def _made_anew(self, starts: Mapping[TopicPartition, int]) -> set[str]:
        return self._known_ids().made_anew(open_broker(self._options).topic_ids, starts)

    def _check_loss(
        self, starts: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, int]:
        """Topics that were made anew, and partitions that are gone or end before what was read of them; gives
        the ends of a micro-batch that goes back to the beginning of what was made anew."""
        anew = self._made_anew(starts)
        for key, start in starts.items():
            lost: DataLost
            if key.topic in anew:
                lost = MadeAnew(f"Topic {key.topic} was deleted and made anew while it was read.")
            elif key not in ends:
                lost = DataLost(f"Topic {key.topic}, partition {key.partition} is gone, read up to {start}.")
            elif ends[key] < start:
                lost = fell_back(key, start, ends[key])
            else:
                continue
            if self._options.fail_on_data_loss:
                raise lost
            _log.warning("%s", lost)
        back = {key: EARLIEST for key in ends if key.topic in anew}
        begins = open_broker(self._options).find_offsets(back)
        self._topic_ids.went_back(begins, starts)
        return {key: begin for key, begin in begins.items() if begin != starts.get(key)}

    def _is_too_little(self, waiting: int, limit: ReadLimit) -> bool:
        """Whether to wait for more: fewer offsets than ``minOffsetsPerTrigger``, and not for too long yet."""
        minimum = self._options.trigger_offsets_min
        if minimum is None or self._target is not None or isinstance(limit, ReadAllAvailable):
            return False
        return waiting < minimum and time.monotonic() - self._admitted_s < self._options.trigger_delay_s


def _within(
    target: Mapping[TopicPartition, int],
    starts: Mapping[TopicPartition, int],
    ends: Mapping[TopicPartition, int],
) -> dict[TopicPartition, int]:
    """Ends that an available-now run may go to: not behind its target, nor back from where it begins."""
    return {
        key: min(end, max(target.get(key, 0), starts.get(key, 0)))
        for key, end in ends.items()
        if key in target or key in starts
    }
