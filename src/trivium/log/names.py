"""Every name in a data directory, made and read back: Kafka's layout, letter by letter.

    topic-0/                                        a partition, live
    topic-0.0123456789abcdef0123456789abcdef-delete/  waiting to be deleted (-future, -stray alike)
        00000000000000000042.log                    a segment: .log .index .timeindex .txnindex
        00000000000000000042.log.deleted            the same, on its way out (.cleaned, .swap alike)
        00000000000000000042.snapshot               producers as of that offset
        00000000000000000042-0000000003.checkpoint  a metadata snapshot: offset and epoch

Reading is the exact inverse of making: a name that no function here would have made is foreign and
reads as ``None``, so no two names ever mean the same thing, and none can leave its directory (S14).
Nothing here touches a disk.
"""

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple, get_args

from trivium.wire.errors import EncodeError

META_PROPERTIES = "meta.properties"
PARTITION_METADATA = "partition.metadata"
LEADER_EPOCH_CHECKPOINT = "leader-epoch-checkpoint"
RECOVERY_POINT_CHECKPOINT = "recovery-point-offset-checkpoint"
LOG_START_OFFSET_CHECKPOINT = "log-start-offset-checkpoint"
REPLICATION_OFFSET_CHECKPOINT = "replication-offset-checkpoint"
CLEANER_OFFSET_CHECKPOINT = "cleaner-offset-checkpoint"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
METADATA_TOPIC = "__cluster_metadata"
"""Its directory looks like a partition and is one, but Kafka keeps it out of the checkpoints."""
LOCK = ".lock"

TEMPORARY = ".tmp"
"""Behind the name of a file that is being written and will be renamed; safe to remove at any start."""

Kind = Literal[".log", ".index", ".timeindex", ".txnindex", ".snapshot"]
"""What a file that is named after an offset holds."""

Stage = Literal["", ".deleted", ".cleaned", ".swap"]
"""Where it is in its life: live, leaving, being written by compaction, about to replace its elders."""

Fate = Literal["", "delete", "future", "stray"]
"""What is to become of a partition's directory; "" is live."""

TOPIC_CHARACTERS_MAX = 249
_DIRECTORY_CHARACTERS_MAX = 255
"""What common file systems take as one name; Kafka's 249 leaves room for a partition number."""

_TOPIC = re.compile(r"[a-zA-Z0-9._-]+")
_KINDS = "|".join(re.escape(kind) for kind in get_args(Kind))
_STAGES = "|".join(re.escape(stage) for stage in get_args(Stage))
_OFFSET_FILE = re.compile(rf"([0-9]{{20}})({_KINDS})({_STAGES})")
_METADATA_SNAPSHOT = re.compile(r"([0-9]{20})-([0-9]{10})\.checkpoint")
_PARTITION = re.compile(r"(.+)-(0|[1-9][0-9]{0,9})(?:\.([0-9a-f]{32})-(delete|future|stray))?")

_INT64_MAX = 2**63 - 1
_INT32_MAX = 2**31 - 1


class OffsetFile(NamedTuple):
    """A file of one segment, or the producers' snapshot at one offset."""

    offset: int
    kind: Kind
    stage: Stage = ""


class MetadataSnapshot(NamedTuple):
    """A snapshot of the metadata log: its state up to ``offset`` (exclusive), last written in ``epoch``."""

    offset: int
    epoch: int


class PartitionDirectory(NamedTuple):
    """A partition's directory. In a doomed one ``topic`` may be cut short, see ``doomed_directory``."""

    topic: str
    partition: int
    fate: Fate = ""
    unique_id: str = ""


def offset_text(offset: int) -> str:
    """Twenty digits, so that names sort as offsets do."""
    if not 0 <= offset <= _INT64_MAX:
        raise EncodeError(f"offset {offset} has no file name: it must lie between 0 and {_INT64_MAX}")
    return f"{offset:020d}"


def offset_file(offset: int, kind: Kind, stage: Stage = "") -> str:
    return offset_text(offset) + kind + stage


def parse_offset_file(name: str) -> OffsetFile | None:
    match = _OFFSET_FILE.fullmatch(name)
    if match is None or int(match[1]) > _INT64_MAX:
        return None
    return OffsetFile(int(match[1]), match[2], match[3])  # type: ignore[arg-type]  # the pattern is made of them


def metadata_snapshot(offset: int, epoch: int) -> str:
    if not 0 <= epoch <= _INT32_MAX:
        raise EncodeError(f"epoch {epoch} has no file name: it must lie between 0 and {_INT32_MAX}")
    return f"{offset_text(offset)}-{epoch:010d}.checkpoint"


def parse_metadata_snapshot(name: str) -> MetadataSnapshot | None:
    match = _METADATA_SNAPSHOT.fullmatch(name)
    if match is None or int(match[1]) > _INT64_MAX or int(match[2]) > _INT32_MAX:
        return None
    return MetadataSnapshot(int(match[1]), int(match[2]))


def newest_metadata_snapshot(names: Iterable[str]) -> MetadataSnapshot | None:
    """The one to start from, of those in the metadata log's directory."""
    return max((found for name in names if (found := parse_metadata_snapshot(name))), default=None)


def topic_fault(topic: str) -> str | None:
    """Why this cannot be a topic's name, in one sentence; ``None`` when it can."""
    if not topic:
        return "A topic name must not be empty."
    if topic in (".", ".."):
        return f"A topic cannot be named '{topic}': that is a directory of the file system."
    if len(topic) > TOPIC_CHARACTERS_MAX:
        return f"A topic name has at most {TOPIC_CHARACTERS_MAX} characters; this one has {len(topic)}."
    if not _TOPIC.fullmatch(topic):
        return f"Topic name {topic!a} may only use ASCII letters, digits, '.', '_' and '-'."
    return None


def partition_directory(topic: str, partition: int) -> str:
    """The directory of a live partition."""
    name = _checked_stem(topic, partition)
    if len(name) > _DIRECTORY_CHARACTERS_MAX:
        raise EncodeError(f"Partition {partition} of topic {topic} is too long a name for a directory.")
    return name


def doomed_directory(topic: str, partition: int, fate: Fate, unique_id: str) -> str:
    """The directory of a partition that is leaving, arriving or unwanted.

    ``unique_id`` (32 hex digits) keeps two deletions of one topic apart. Where the name would be too
    long for a file system, the topic loses its tail, as in Kafka: only deletion reads it again.
    """
    suffix = f"-{partition}.{unique_id}-{fate}"
    name = _checked_stem(topic, partition)[: -len(f"-{partition}")]
    name = name[: _DIRECTORY_CHARACTERS_MAX - len(suffix)] + suffix
    if not fate or parse_partition_directory(name) is None:
        raise EncodeError(f"'{name}' is no directory name: the id must be 32 lower-case hex digits.")
    return name


def parse_partition_directory(name: str) -> PartitionDirectory | None:
    # Greedy: the last dash before a number wins, so topic "a-0" with partition 1 is "a-0-1".
    match = _PARTITION.fullmatch(name)
    if match is None or len(name) > _DIRECTORY_CHARACTERS_MAX:
        return None
    topic, partition = match[1], int(match[2])
    if topic_fault(topic) is not None or partition > _INT32_MAX:
        return None
    return PartitionDirectory(topic, partition, match[4] or "", match[3] or "")  # type: ignore[arg-type]


def _checked_stem(topic: str, partition: int) -> str:
    fault = topic_fault(topic)
    if fault is not None:
        raise EncodeError(fault)
    if not 0 <= partition <= _INT32_MAX:
        raise EncodeError(f"Partition {partition} must lie between 0 and {_INT32_MAX}.")
    return f"{topic}-{partition}"
