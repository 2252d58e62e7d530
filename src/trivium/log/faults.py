"""What can go wrong in a log, as few named errors. Each message is a sentence a person can act on.

``OSError`` never leaves this package: ``health.py`` turns it into one of these.
"""


class LogError(Exception):
    """Anything a log refuses to do."""


class OffsetOutOfRange(LogError):
    """The offset is before the log's start or after its end."""

    def __init__(self, offset: int, log_start_offset: int, log_end_offset: int) -> None:
        super().__init__(f"offset {offset} is outside [{log_start_offset}, {log_end_offset}]")
        self.offset = offset
        self.log_start_offset = log_start_offset
        self.log_end_offset = log_end_offset


class Corrupt(LogError):
    """Stored bytes are damaged. Records before ``offset`` are sound and stay readable."""

    def __init__(self, partition: str, offset: int, reason: str) -> None:
        super().__init__(f"{partition} is corrupt from offset {offset}: {reason}")
        self.partition = partition
        self.offset = offset
        self.reason = reason


class DiskFull(LogError):
    """The write did not happen; reads go on. Writing works again when there is room."""

    def __init__(self, directory: str) -> None:
        super().__init__(f"no space left in {directory}; free some or add a log directory")


class DirectoryOffline(LogError):
    """The directory failed and is out of service until the next start recovers it."""

    def __init__(self, directory: str, reason: str) -> None:
        super().__init__(f"{directory} is offline: {reason}; check the disk, then restart to recover it")
        self.directory = directory
        self.reason = reason


class Deleted(LogError):
    """The partition was deleted while something was done with it."""

    def __init__(self, partition: str) -> None:
        super().__init__(f"{partition} has been deleted")


class Stopped(LogError):
    """Something long was given up because the broker stops."""

    def __init__(self) -> None:
        super().__init__("given up: the broker stops")


class DirectoryRefused(LogError):
    """The directory cannot be opened at all: of another version, another cluster, or in use."""
