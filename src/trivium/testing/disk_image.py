"""What a disk holds, twice: as processes see it, and as a power loss may leave it.

A file is a size and sectors of 512 bytes; a directory is names. Until the next sync every change is only
pending. When the power goes:

- each changed sector independently has its old bytes, or those of any write since the sync (writes are
  reordered), or is torn between two of them at any byte; bytes that were never synced may be zeros;
- the file has its old size or any later one, whatever became of the data;
- of a directory's changes the first few have happened, in order, and the rest have not.

Synced bytes that nobody wrote to again are never harmed: that much every disk promises.

A sync that failed leaves the pages clean but not written (Linux): readers still see them, the next sync
has nothing to do and succeeds, and what a power loss leaves of them is as unknown as before.
"""

from collections.abc import Iterable
from random import Random
from typing import NamedTuple

SECTOR_BYTES = 512


class FileImage:
    """One file. ``content`` is what a process reads; change it by the methods only."""

    __slots__ = ("_durable", "_lost", "_lost_sizes", "_pending", "_pending_sizes", "content")

    def __init__(self, content: bytes = b"") -> None:
        self.content = bytearray(content)
        self._durable = bytearray(content)
        # Sector number -> what it held after each write since the last sync, as far as the file reached.
        self._pending: dict[int, list[bytes]] = {}
        self._pending_sizes: list[int] = []
        # The same for writes whose sync failed.
        self._lost: dict[int, list[bytes]] = {}
        self._lost_sizes: list[int] = []

    def write(self, data: bytes, position: int) -> None:
        if not data:
            return
        was_bytes = len(self.content)
        if position > was_bytes:
            self.content.extend(bytes(position - was_bytes))
        self.content[position : position + len(data)] = data
        self._changed(min(position, was_bytes), position + len(data), was_bytes)

    def truncate(self, size_bytes: int) -> None:
        was_bytes = len(self.content)
        if size_bytes < was_bytes:
            del self.content[size_bytes:]
        else:
            self.content.extend(bytes(size_bytes - was_bytes))
        self._changed(min(size_bytes, was_bytes), max(size_bytes, was_bytes), was_bytes)

    def sync(self) -> None:
        if not self._lost and not self._lost_sizes:
            # No sync has failed: below the first changed sector the medium has what processes see.
            if self._pending:
                start = min(self._pending) * SECTOR_BYTES
                self._durable[start:] = self.content[start:]
                self._pending.clear()
            self._pending_sizes.clear()
            return
        size_bytes, durable = self._synced_size(), self._durable
        del durable[size_bytes:]
        durable.extend(bytes(size_bytes - len(durable)))
        for sector in self._pending:
            start = sector * SECTOR_BYTES
            fresh = self.content[start : min(start + SECTOR_BYTES, size_bytes)]
            durable[start : start + len(fresh)] = fresh
            self._lost.pop(sector, None)
        if size_bytes == len(self.content):
            self._lost_sizes.clear()
        self._pending.clear()
        self._pending_sizes.clear()

    def _synced_size(self) -> int:
        """The whole size if it has changed; otherwise it follows the sectors that are written now."""
        if self._pending_sizes:
            return len(self.content)
        reach_bytes = (max(self._pending, default=-1) + 1) * SECTOR_BYTES
        return max(len(self._durable), min(reach_bytes, len(self.content)))

    def fail_to_sync(self) -> None:
        for sector, versions in self._pending.items():
            self._lost.setdefault(sector, []).extend(versions)
        self._lost_sizes.extend(self._pending_sizes)
        self._pending.clear()
        self._pending_sizes.clear()

    def flip(self, position: int, bit: int) -> None:
        """Turn one bit around, in memory and on the medium, without anybody having written."""
        self.content[position] ^= 1 << bit
        if position < len(self._durable):
            self._durable[position] ^= 1 << bit

    def after_power_loss(self, random: Random) -> "FileImage":
        fortune = random.random()
        if fortune < 0.25:
            return FileImage(bytes(self._durable))
        if fortune < 0.4 and not self._lost:
            return FileImage(bytes(self.content))
        size_bytes = self._surviving_size(random)
        content = self._durable[:size_bytes].ljust(size_bytes, b"\0")
        for sector in sorted(self._pending.keys() | self._lost.keys()):
            start = sector * SECTOR_BYTES
            end = min(start + SECTOR_BYTES, size_bytes)
            if start < end:
                versions = self._lost.get(sector, []) + self._pending.get(sector, [])
                content[start:end] = self._surviving_sector(start, versions, random)[: end - start]
        return FileImage(bytes(content))

    def _surviving_size(self, random: Random) -> int:
        sizes = [len(self._durable), *self._lost_sizes, *self._pending_sizes]
        size_bytes = random.choice(sizes)
        if random.random() < 0.2:
            # Delayed allocation: the size stops at a page between two that were asked for.
            between = random.randint(min(sizes), max(sizes)) // SECTOR_BYTES * SECTOR_BYTES
            size_bytes = max(between, min(sizes))
        return size_bytes

    def _surviving_sector(self, start: int, versions: list[bytes], random: Random) -> bytes:
        old = bytes(self._durable[start : start + SECTOR_BYTES]).ljust(SECTOR_BYTES, b"\0")
        new = random.choice(versions).ljust(SECTOR_BYTES, b"\0")
        fate = random.choice(["old", "new", "new", "torn", "zeros"])
        if fate == "old":
            return old
        if fate == "torn":
            tear = random.randrange(SECTOR_BYTES)
            return new[:tear] + old[tear:]
        if fate == "zeros":
            kept = max(0, min(len(self._durable) - start, SECTOR_BYTES))
            return old[:kept] + bytes(SECTOR_BYTES - kept)
        return new

    def _changed(self, start: int, end: int, was_bytes: int) -> None:
        for sector in range(start // SECTOR_BYTES, -(-end // SECTOR_BYTES)):
            at = sector * SECTOR_BYTES
            self._pending.setdefault(sector, []).append(bytes(self.content[at : at + SECTOR_BYTES]))
        if len(self.content) != was_bytes:
            self._pending_sizes.append(len(self.content))


class DirectoryImage:
    """One directory. ``entries`` is what a process sees; change it by the methods only."""

    __slots__ = ("_durable", "_pending", "_sync_is_broken", "entries")

    def __init__(self, entries: "dict[str, Node] | None" = None) -> None:
        self.entries: dict[str, Node] = dict(entries or {})
        self._durable: dict[str, Node] = dict(self.entries)
        self._pending: list[Change] = []
        self._sync_is_broken = False

    def link(self, name: str, node: "Node") -> None:
        self._change(Change(gone=None, come=name, node=node))

    def unlink(self, name: str) -> None:
        self._change(Change(gone=name, come=None, node=None))

    def rename(self, old: str, new: str) -> None:
        """One step: at no time is there neither."""
        self._change(Change(gone=old, come=new, node=self.entries[old]))

    def sync(self) -> None:
        if not self._sync_is_broken:
            self._durable = dict(self.entries)
            self._pending.clear()

    def fail_to_sync(self) -> None:
        # Later names cannot become durable before earlier ones, so this directory never will again.
        self._sync_is_broken = True

    def after_power_loss(self, random: Random) -> "DirectoryImage":
        survivors = dict(self._durable)
        happened = random.choice([0, random.randint(0, len(self._pending)), len(self._pending)])
        for change in self._pending[:happened]:
            change.apply(survivors)
        return DirectoryImage({name: survivors[name].after_power_loss(random) for name in sorted(survivors)})

    def files(self, prefix: str = "") -> Iterable[tuple[str, FileImage]]:
        for name, node in sorted(self.entries.items()):
            if isinstance(node, FileImage):
                yield f"{prefix}/{name}", node
            else:
                yield from node.files(f"{prefix}/{name}")

    def _change(self, change: "Change") -> None:
        self._pending.append(change)
        change.apply(self.entries)


Node = FileImage | DirectoryImage


class Change(NamedTuple):
    """One change of a directory: a name goes, a name comes, or both at once."""

    gone: str | None
    come: str | None
    node: Node | None

    def apply(self, entries: dict[str, Node]) -> None:
        if self.gone is not None:
            del entries[self.gone]
        if self.come is not None and self.node is not None:
            entries[self.come] = self.node
