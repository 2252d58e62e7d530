"""Which leader wrote which offsets: the leader epochs of a partition, kept in leader-epoch-checkpoint.

An epoch begins at the first offset that was written in it and ends where the next one begins. Epochs and
their beginnings both increase; an assignment that contradicts older entries removes them, since it speaks
of a log that has been cut. Changes are in memory until the next sync of the log, or ``flush``. Losing one is
no loss of records: every batch carries its epoch, and recovery assigns again what it reads from the recovery
point on; what lies before was synced, and the epochs with it.
"""

from bisect import bisect_right
from collections.abc import Iterable

from trivium.log import checkpoint
from trivium.log.checkpoint import EpochStart
from trivium.log.files import Files

UNDEFINED_EPOCH = -1
UNDEFINED_OFFSET = -1


class LeaderEpochs:
    """The epochs of one partition, oldest first."""

    __slots__ = ("_changed", "_entries", "_files", "path")

    def __init__(self, files: Files, path: str, entries: Iterable[EpochStart] = ()) -> None:
        self.path = path
        self._files = files
        self._entries = list(entries)
        self._changed = False

    @classmethod
    def load(cls, files: Files, path: str) -> "LeaderEpochs":
        """What the checkpoint says; raises ``DecodeError`` if it is damaged, and then is to be rebuilt."""
        return cls(files, path, checkpoint.read_epochs(files, path))

    @property
    def entries(self) -> tuple[EpochStart, ...]:
        return tuple(self._entries)

    @property
    def latest(self) -> EpochStart | None:
        return self._entries[-1] if self._entries else None

    def assign(self, epoch: int, start_offset: int) -> None:
        """The leader of ``epoch`` writes from ``start_offset`` on. Saying it again changes nothing."""
        if epoch < 0 or start_offset < 0:
            raise ValueError(f"no leader has epoch {epoch} and begins at {start_offset}")
        latest = self.latest
        if latest is not None and latest.epoch == epoch and latest.start_offset <= start_offset:
            return
        kept = len(self._entries)
        while kept and not (
            self._entries[kept - 1].epoch < epoch and self._entries[kept - 1].start_offset < start_offset
        ):
            kept -= 1
        self._replace([*self._entries[:kept], EpochStart(epoch, start_offset)])

    def epoch_for(self, offset: int) -> int | None:
        """The epoch in which ``offset`` was, or would be, written; None before the first."""
        index = bisect_right(self._entries, offset, key=lambda entry: entry.start_offset)
        return self._entries[index - 1].epoch if index else None

    def end_offset_for(self, epoch: int, log_end_offset: int) -> EpochStart:
        """What a follower or consumer that last saw ``epoch`` may keep: (epoch, end offset exclusive).

        The epoch in the answer is the greatest one known that is not above the one asked for. An epoch
        newer than all known gets the undefined pair; one older than all known ends where those begin.
        """
        latest = self.latest
        if epoch != UNDEFINED_EPOCH and latest is not None:
            if epoch == latest.epoch:
                return EpochStart(epoch, log_end_offset)
            above = bisect_right(self._entries, epoch, key=lambda entry: entry.epoch)
            if above < len(self._entries):
                known = self._entries[above - 1].epoch if above else epoch
                return EpochStart(known, self._entries[above].start_offset)
        return EpochStart(UNDEFINED_EPOCH, UNDEFINED_OFFSET)

    def truncate_from_end(self, offset_end: int) -> None:
        """The log now ends before ``offset_end``: epochs that begin there or later never were."""
        self._replace([entry for entry in self._entries if entry.start_offset < offset_end])

    def truncate_from_start(self, log_start_offset: int) -> None:
        """The log now begins at ``log_start_offset``, and so does the epoch there; older ones go."""
        epoch = self.epoch_for(log_start_offset)
        if epoch is not None:
            later = [entry for entry in self._entries if entry.start_offset > log_start_offset]
            self._replace([EpochStart(epoch, log_start_offset), *later])

    def flush(self) -> None:
        """Write the checkpoint, durably, if it says something else."""
        if self._changed:
            checkpoint.write_epochs(self._files, self.path, self._entries)
            self._changed = False

    @property
    def unwritten(self) -> list[EpochStart] | None:
        """What the checkpoint should say, if it says something else; ``write`` it in any thread."""
        return self._entries if self._changed else None

    def write(self, entries: list[EpochStart]) -> None:
        checkpoint.write_epochs(self._files, self.path, entries)

    def note_written(self, entries: list[EpochStart]) -> None:
        # A change makes a new list, see ``_replace``.
        self._changed = self._changed and entries is not self._entries

    def _replace(self, entries: list[EpochStart]) -> None:
        if entries != self._entries:
            self._entries = entries
            self._changed = True
