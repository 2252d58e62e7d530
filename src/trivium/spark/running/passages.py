"""What a flow is run on: the topics as they come, a part of their past, or its own quarantine.

Each passage has a name of its own, under which tables remember its batches and the broker its offsets, and a
checkpoint of its own. The names of the second and third have a ``-``, which no flow's name can have.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from trivium.client.door import Door
from trivium.client.topology import TopicPartition
from trivium.pipeline.definition import Definition
from trivium.pipeline.flow import Flow
from trivium.pipeline.quarantine import RAW_COLUMNS
from trivium.pipeline.sink import TopicSink
from trivium.pipeline.source import TopicSource
from trivium.spark.connector.offsets_json import to_json
from trivium.spark.running.beginnings import beginning, topics_file
from trivium.spark.running.source_frames import raw_stream, topic_options

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_HEADER: Final = "trivium."


class Passage(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def checkpoint(self) -> str: ...

    @property
    def is_live(self) -> bool: ...

    def open(self, session: "SparkSession", source: TopicSource) -> "DataFrame":
        """The source's records as they are, with the columns of ``format("trivium")``."""


@dataclass(frozen=True)
class Live:
    definition: Definition
    flow: Flow
    door: Door
    is_live: bool = True

    @property
    def name(self) -> str:
        return self.definition.group_of(self.flow)

    @property
    def checkpoint(self) -> str:
        return self.definition.checkpoint_of(self.flow)

    def open(self, session: "SparkSession", source: TopicSource) -> "DataFrame":
        begins_at = beginning(self.definition, self.flow, source, self.door)
        file = topics_file(self.definition, self.flow, source)
        return raw_stream(session, source, self.door, self.name, begins_at, file)


@dataclass(frozen=True)
class Past:
    """Of each source the offsets from ``starts`` on and before ``ends``."""

    definition: Definition
    flow: Flow
    door: Door
    number: int
    starts: Mapping[str, Mapping[TopicPartition, int]]
    ends: Mapping[str, Mapping[TopicPartition, int]]
    is_live: bool = False

    @property
    def name(self) -> str:
        return f"{self.definition.group_of(self.flow)}-backfill-{self.number}"

    @property
    def checkpoint(self) -> str:
        return f"{self.definition.backfills_of(self.flow)}/{self.number}/checkpoint"

    def open(self, session: "SparkSession", source: TopicSource) -> "DataFrame":
        from trivium.spark.running.past import FORMAT, UNTIL_OPTION

        starts = to_json(self.starts[source.name])
        assigned = {topic: [int(index) for index in partitions] for topic, partitions in starts.items()}
        options = {
            **topic_options(self.door, self.name),
            "assign": json.dumps(assigned),
            "startingOffsets": json.dumps(starts),
            UNTIL_OPTION: json.dumps(to_json(self.ends[source.name])),
        }
        return session.readStream.format(FORMAT).options(**options).load()


@dataclass(frozen=True)
class Again:
    """What the flow, a backfill or an earlier replay has set aside, each record once."""

    definition: Definition
    flow: Flow
    door: Door
    is_live: bool = False

    @property
    def name(self) -> str:
        return f"{self.definition.group_of(self.flow)}-replay"

    @property
    def checkpoint(self) -> str:
        return self.definition.replay_of(self.flow)

    def open(self, session: "SparkSession", source: TopicSource) -> "DataFrame":
        from pyspark.sql import functions as F  # noqa: N812

        rows = self._quarantine(session)
        group = self.definition.group_of(self.flow)
        is_ours = (F.col("flow") == group) | F.col("flow").startswith(f"{group}-")
        from_source = F.col("topic").isin(*source.topics)
        if source.pattern is not None:
            from_source = F.col("topic").rlike(f"^(?:{source.pattern})$")
        return rows.filter(is_ours & from_source).select(*RAW_COLUMNS)

    def _quarantine(self, session: "SparkSession") -> "DataFrame":
        from trivium.spark.running.quarantine_stream import FORMAT, TABLE_OPTION
        from trivium.spark.tables.table_json import to_json as table_to_json

        quarantine = self.flow.quarantine
        assert quarantine is not None, "flows with a sink have one"
        if not isinstance(quarantine, TopicSink):
            reader = session.readStream.format(FORMAT)
            return reader.option(TABLE_OPTION, table_to_json(quarantine.table)).load()
        options = {
            **topic_options(self.door, self.name),
            "subscribe": quarantine.topic,
            "startingOffsets": "earliest",
        }
        return _unpacked(session.readStream.format("trivium").options(**options).load())


def _unpacked(records: "DataFrame") -> "DataFrame":
    """Records of a quarantine that is a topic, as they were: the reverse of ``topic_outlet``."""
    from pyspark.sql import functions as F  # noqa: N812

    def said(name: str) -> "Column":
        found = F.filter("headers", lambda header: header.getField("key") == f"{_HEADER}{name}")
        return F.try_element_at(found, F.lit(-1)).getField("value").cast("string")

    keys = F.transform("headers", lambda header: header.getField("key"))
    own_count = F.size(keys) - F.array_position(F.reverse(keys), f"{_HEADER}topic").cast("int")
    own = F.when(own_count > 0, F.slice("headers", F.lit(1), own_count))
    return records.select(
        said("topic").alias("topic"),
        said("partition").cast("int").alias("partition"),
        said("offset").cast("bigint").alias("offset"),
        said("timestamp").cast("timestamp").alias("timestamp"),
        F.col("key"),
        F.col("value"),
        own.alias("headers"),
        said("flow").alias("flow"),
    )
