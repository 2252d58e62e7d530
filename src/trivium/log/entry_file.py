"""A file of equal entries, one after the other: what the three indexes of a segment are made of.

The content is read into memory when somebody asks, and can be dropped again; no descriptor stays open
between calls, since a directory has thousands of indexes. Appended entries wait in memory until
``flush`` writes them all at once: an index says nothing that the log does not say too, and is rebuilt
from it after a crash. Damage is found when the file is read, by the index that owns the entries.
"""

from collections.abc import Callable

from trivium.log import whole_file
from trivium.log.files import Files
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError


class EntryFile:
    """Entries of ``entry_bytes`` each. ``check`` sees all of them when they come from the disk.

    ``padded``: zeros at the end are space that Kafka had preallocated and was killed before it cut it off.
    No entry of such an index may be all zeros. ``optional``: there is no file until there is an entry.
    """

    __slots__ = (
        "_changed",
        "_check",
        "_entry_bytes",
        "_files",
        "_image",
        "_optional",
        "_padded",
        "_written_bytes",
        "path",
    )

    def __init__(
        self,
        files: Files,
        path: str,
        entry_bytes: int,
        check: Callable[[Buffer], None],
        *,
        padded: bool,
        optional: bool,
    ) -> None:
        self.path = path
        self._files = files
        self._entry_bytes = entry_bytes
        self._check = check
        self._padded = padded
        self._optional = optional
        self._image: bytearray | None = None
        self._written_bytes = 0
        self._changed = False

    def __len__(self) -> int:
        return len(self.image()) // self._entry_bytes

    def exists(self) -> bool:
        """Whether the file is on disk. One that is not reads as empty."""
        return self._files.exists(self.path)

    @property
    def is_known_empty(self) -> bool:
        """Whether it has been loaded, or begun, and has no entry."""
        return self._image is not None and not self._image

    def image(self) -> bytearray:
        """Every entry, those not yet flushed included. For reading only."""
        if self._image is None:
            image = self._load()
            self._check(image)
            self._image, self._written_bytes = image, len(image)
        return self._image

    def append(self, entry: bytes) -> None:
        self.image().extend(entry)
        self._changed = True

    def truncate(self, count: int) -> None:
        """Keep the first ``count`` entries, on disk too."""
        image = self.image()
        del image[count * self._entry_bytes :]
        if len(image) < self._written_bytes:
            self._written_bytes = len(image)
            file = self._files.open(self.path)
            try:
                file.truncate(len(image))
            finally:
                file.close()

    def flush(self, *, sync: bool = False) -> None:
        """Write what was appended; make the file if there is none yet. Durable only with ``sync``."""
        image = self.image()
        if self._optional and not image and not self.exists():
            return
        file = self._files.open(self.path, create=True)
        try:
            # Padding, or what a write that failed has left.
            if file.size() > self._written_bytes:
                file.truncate(self._written_bytes)
            if len(image) > self._written_bytes:
                with memoryview(image) as view:
                    file.write(view[self._written_bytes :], self._written_bytes)
                self._written_bytes = len(image)
            self._changed = False
            if sync:
                file.sync()
        finally:
            file.close()

    def reset(self) -> None:
        """Forget every entry, without reading them; those on disk go with the next ``flush``."""
        self._image, self._written_bytes, self._changed = bytearray(), 0, True

    def release(self) -> None:
        """Give the memory back, unless it says something that the file does not."""
        if not self._changed:
            self._image = None

    def _load(self) -> bytearray:
        if not self.exists():
            return bytearray()
        image = bytearray(whole_file.read(self._files, self.path))
        if len(image) % self._entry_bytes:
            raise DecodeError(
                f"{self.path} is damaged: {len(image)} bytes are no whole number of entries "
                f"of {self._entry_bytes}"
            )
        if self._padded:
            used_bytes = len(image.rstrip(b"\0"))
            del image[used_bytes + -used_bytes % self._entry_bytes :]
        return image
