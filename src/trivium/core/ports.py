"""What the core asks of the world: a clock, and logs to write to. ``server`` brings both together with it.

The core knows no disk: an adapter in ``server/`` puts the real log behind these, tests put a dictionary. What
may go wrong is raised as ``Refused`` with a fault of the core; no other exception is expected.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from trivium.core.faults import Fault
from trivium.core.metadata_access import ScramCredential, ScramMechanism
from trivium.records.batch import BatchHeader

Done = Callable[[Fault | None], None]
"""Called once, now or later: None when it is done for good, else why it never will be."""


class Clock(Protocol):
    def wall_ms(self) -> int:
        """Milliseconds since 1970, for stamping records. May jump."""
        ...

    def monotonic_ms(self) -> int:
        """For deadlines. Never jumps."""
        ...


class Appended(NamedTuple):
    base_offset: int
    last_offset: int


class Aborted(NamedTuple):
    """An aborted transaction that touches what was read."""

    producer_id: int
    first_offset: int


class Piece(NamedTuple):
    """Whole batches as they lie in the log, and the offset to read on from."""

    runs: Sequence[memoryview]
    offset_next: int
    aborted: Sequence[Aborted]
    size_bytes: int


class At(NamedTuple):
    """A record found by its time."""

    offset: int
    timestamp_ms: int
    leader_epoch: int


class ProducedFacts(Protocol):
    """A batch of an idempotent producer that lies in the log."""

    @property
    def first_sequence(self) -> int: ...
    @property
    def last_sequence(self) -> int: ...
    @property
    def first_offset(self) -> int: ...
    @property
    def last_offset(self) -> int: ...
    @property
    def timestamp(self) -> int: ...


class ProducerFacts(Protocol):
    """What a partition remembers of a producer."""

    @property
    def producer_id(self) -> int: ...
    @property
    def epoch(self) -> int: ...
    @property
    def last_sequence(self) -> int:
        """-1 before the first batch of this epoch."""
        ...

    @property
    def last_timestamp(self) -> int: ...
    @property
    def coordinator_epoch(self) -> int: ...
    @property
    def txn_first_offset(self) -> int | None: ...
    def duplicate_of(self, header: BatchHeader) -> ProducedFacts | None:
        """The batch with the same epoch and sequences, if it is one of the last five."""
        ...


class Log(Protocol):
    """One partition's records."""

    @property
    def log_start_offset(self) -> int: ...
    @property
    def high_watermark(self) -> int: ...
    @property
    def last_stable_offset(self) -> int: ...
    @property
    def log_end_offset(self) -> int: ...
    @property
    def size_bytes(self) -> int: ...
    @property
    def segment_offsets(self) -> Sequence[int]:
        """Where each segment begins, the oldest first; the last one is being written to."""
        ...

    def append(
        self, data: bytearray | memoryview, batches: Sequence[tuple[int, BatchHeader]], leader_epoch: int
    ) -> Appended:
        """Give checked batches their offsets and write them, all or nothing. They may be read at once."""
        ...

    def when_durable(self, done: Done) -> None:
        """Call back once everything that the log holds now has been synced. Syncs may run side by side: who
        asks later may be told earlier.
        """
        ...

    def read(self, offset: int, max_bytes: int, *, committed: bool) -> Piece:
        """Whole batches from the one that holds ``offset`` on: the first in any case."""
        ...

    def summon(self, offset: int, max_bytes: int, near: Callable[[], None]) -> bool:
        """Whether a read would have to wait for the disk. Then what it wants is brought into memory, and
        ``near`` is called later, once; a read tells what has come of it.
        """
        ...

    def first_at_or_after(self, timestamp_ms: int) -> At | None: ...
    def latest(self) -> At | None:
        """The youngest record."""
        ...

    def epoch_end(self, leader_epoch: int) -> tuple[int, int]:
        """The largest epoch not above this one, and the offset where it ends; (-1, -1) if there is none."""
        ...

    def epoch_at(self, offset: int) -> int:
        """The leader epoch of the record at an offset, -1 if nobody knows."""
        ...

    def producer(self, producer_id: int) -> ProducerFacts | None: ...
    def producers(self) -> Iterable[ProducerFacts]: ...

    def delete_before(self, offset: int, done: Done) -> None:
        """Records before ``offset`` are gone for readers; ``done`` when no crash brings them back."""
        ...


class FutureFacts(NamedTuple):
    """A copy that is on its way into a directory: how large it is, and how many records it is behind."""

    size_bytes: int
    offset_lag: int


class DirectoryFacts(NamedTuple):
    """One log directory. ``fault`` is why it is offline."""

    path: str
    directory_id: bytes
    fault: Fault | None
    total_bytes: int
    usable_bytes: int
    sizes: Mapping[tuple[str, int], int]
    arriving: Mapping[tuple[str, int], FutureFacts] = MappingProxyType({})
    """Partitions that are being carried here."""


class Storage(Protocol):
    """All logs of this node, by topic and partition."""

    def log(self, topic: str, partition: int) -> Log:
        """The log of a partition that exists in the metadata; made when it is first asked for."""
        ...

    def create(self, topic: str, partition: int, topic_id: bytes) -> None:
        """A partition is new."""
        ...

    def delete(self, topic: str, partition: int) -> None: ...

    def configure(self, topic: str) -> None:
        """The settings of a topic, or of all topics for an empty name, have changed."""
        ...

    def is_offline(self, topic: str, partition: int) -> bool:
        """Whether the partition lies in a directory that failed: it is there and cannot be used."""
        ...

    def move(self, topic: str, partition: int, path: str, done: Done) -> None:
        """Begin to carry a partition to another log directory of this node; ``Refused`` if that cannot be.

        ``done`` when it lives there, which may take minutes (``DirectoryFacts.arriving``).
        """
        ...

    def directories(self) -> Sequence[DirectoryFacts]: ...


class Loggers(Protocol):
    """How much this process says about itself."""

    def levels(self) -> Mapping[str, str]:
        """The loggers there are, each with its level in Kafka's words."""
        ...

    def set_level(self, name: str, level: str | None) -> None:
        """None: no level of its own."""
        ...


class HashedPassword(NamedTuple):
    """What is kept of a password: for those who send it, and for those who only prove that they know it."""

    text: str
    scram: Mapping[ScramMechanism, ScramCredential]

    def __repr__(self) -> str:
        return "HashedPassword()"


class Asker(NamedTuple):
    """Who wants to be let in, by its own account, and from where."""

    username: str
    address: str


class Passwords(Protocol):
    """Hashing and checking passwords. Both take long on purpose, so both answer later, in another thread."""

    def hash(self, password: str, username: str, done: Callable[[HashedPassword], None]) -> None:
        """Of a user's new password. Whoever then comes with it is recalled."""
        ...

    def salt(
        self,
        mechanism: ScramMechanism,
        password: str,
        salt: bytes,
        asker: Asker,
        done: Callable[[ScramCredential | None], None],
    ) -> None:
        """What SCRAM keeps of a password that nobody stores; None, at once, if too many wait for that."""
        ...

    def recalls(self, stored: str | None, password: str, username: str) -> bool:
        """Whether this password was hashed or found right before, for this user and this hash. That costs
        nothing.
        """
        ...

    def verify(
        self, stored: str | None, password: str, asker: Asker, done: Callable[[bool | None], None]
    ) -> None:
        """Whether the password is the one that was hashed. None, for a user that does not exist, takes as
        long as any and is never right. The answer None comes at once: too many wait for theirs.
        """
        ...


class BearerTokens(Protocol):
    """Tokens that others have signed."""

    def claims(self, token: str, done: Callable[[Mapping[str, Any] | None], None]) -> None:
        """What a token says, if its signature is one to trust. Answers later."""
        ...


class Accepted(NamedTuple):
    """A token of a client has been taken. ``principal``: who it is, once there is a context on this side."""

    context: Any
    answer: bytes
    principal: str | None


class Tickets(Protocol):
    """Kerberos, for who is asked for a service. A context belongs to one exchange, and only this port looks
    into it. All answer later; None is for what cannot be trusted.
    """

    def accept(self, context: Any, token: bytes, done: Callable[[Accepted | None], None]) -> None:
        """``context`` is None at first."""
        ...

    def wrap(self, context: Any, message: bytes, done: Callable[[bytes | None], None]) -> None: ...

    def unwrap(self, context: Any, message: bytes, done: Callable[[bytes | None], None]) -> None: ...


class MachineFacts(NamedTuple):
    """The process and the machine it runs on. Times are microseconds, sizes are bytes."""

    process_id: int = 0
    cpu_percent: float = 0.0
    """Of one core, since it was last asked."""
    machine_cpu_percent: float = 0.0
    memory_bytes: int = 0
    machine_memory_bytes: int = 0
    available_memory_bytes: int = 0
    run_time_us: int = 0
    started_at_us: int = 0
    read_bytes: int = 0
    written_bytes: int = 0
    threads_count: int = 0
    hostname: str = ""
    os_name: str = ""
    os_version: str = ""
    kernel_version: str = ""


class Machine(Protocol):
    def facts(self) -> MachineFacts: ...
