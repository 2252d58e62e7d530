"""How one partition's log behaves. Names, units and defaults are Kafka's topic settings."""

from typing import NamedTuple

FOREVER = -1
"""Kafka's word for "no limit" in retention settings."""


class LogSettings(NamedTuple):
    segment_bytes: int = 1 << 30
    segment_ms: int = 7 * 24 * 3600 * 1000
    segment_jitter_ms: int = 0
    """So much earlier, at most, a segment is rolled by time: each by another part of it."""
    preallocate: bool = False
    """A new log file has its full size from the beginning."""
    segment_index_bytes: int = 10 << 20
    """An index that is full rolls the segment; entries are 8 bytes, so this is 1.3 million of them."""
    index_interval_bytes: int = 4096

    retention_ms: int = 7 * 24 * 3600 * 1000
    retention_bytes: int = FOREVER

    delete: bool = True
    compact: bool = False
    min_cleanable_dirty_ratio: float = 0.5
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = (1 << 63) - 1
    delete_retention_ms: int = 24 * 3600 * 1000

    flush_messages: int = (1 << 63) - 1
    """Sync after this many records even if nobody waits for it."""
    flush_ms: int = (1 << 63) - 1

    file_delete_delay_ms: int = 60_000
    """So long the files of what was deleted stay, under another name."""

    producer_id_expiration_ms: int = 24 * 3600 * 1000

    @property
    def roll_ms(self) -> int:
        """After how long a segment is rolled: only sealed ones can be compacted in time."""
        return min(self.segment_ms, self.max_compaction_lag_ms) if self.compact else self.segment_ms
