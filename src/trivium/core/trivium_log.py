"""The broker's own state in ``__trivium``: users, streams and queries, and nothing Kafka has a record for.

The pattern of every coordinator: changes are written first, and if that is refused nothing has happened; then
they are replayed into the tables, as a start will replay them; ``done`` comes when they are durable. If they
never will be, what the tables hold is worth nothing, and they are read anew before the next change.

The topic is made when there is something to keep in it: a node that only Kafka clients use has none.
"""

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from trivium.core.all_done import AllDone
from trivium.core.cluster import CLOSED_TOPIC, Cluster
from trivium.core.commands.topics import NewTopic
from trivium.core.faults import Fault, Refused
from trivium.core.internal_topic import InternalTopic, KeyedRecord, Stored
from trivium.core.ports import Done
from trivium.messages.schema import Message
from trivium.messages.stored.trivium_log import OWN_LOG
from trivium.wire.errors import DecodeError

TOPIC: Final = CLOSED_TOPIC
_PARTITION: Final = 0
_KIND_BYTES: Final = 2
_VALUE_VERSION: Final = 0

Change = tuple[Message, Message | None]
"""A key and what stands under it from now on; None: nothing does."""


class Table(Protocol):
    """State that follows from the records and from nothing else."""

    def clear(self) -> None: ...

    def replay(self, key: Message, value: Message | None) -> None:
        """Take in one record; those of other tables come by as well."""
        ...


class TriviumLog:
    def __init__(
        self,
        cluster: Cluster,
        new_topic_records: Callable[[NewTopic], list[tuple[Message, int]]],
        tables: Sequence[Table],
    ) -> None:
        self._topic = InternalTopic(
            cluster, TOPIC, new_topic_records, lambda: 1, {"cleanup.policy": "compact"}
        )
        self._tables = tables
        self._is_current = False

    @property
    def exists(self) -> bool:
        return self._topic.exists

    def load(self) -> None:
        """Make the tables what the log says, if they are not. ``Refused`` if it cannot be read."""
        if self._is_current:
            return
        for table in self._tables:
            table.clear()
        if self._topic.exists:
            try:
                for entry in self._topic.replay(_PARTITION):
                    if isinstance(entry, Stored):
                        self._replay(entry)
            except DecodeError as error:
                raise Refused(Fault.STORAGE, f"{TOPIC}-{_PARTITION} cannot be read: {error}") from error
        self._is_current = True

    def _replay(self, entry: Stored) -> None:
        if int.from_bytes(entry.key[:_KIND_BYTES], "big") not in OWN_LOG.key_types:
            # Written by a later version of this broker; it will know what to do with it.
            return
        key = OWN_LOG.decode_key(entry.key)
        self._take_in(key, OWN_LOG.decode_value(key, entry.value))

    def _take_in(self, key: Message, value: Message | None) -> None:
        for table in self._tables:
            table.replay(key, value)

    def commit(self, changes: Sequence[Change], done: Done) -> None:
        """Make these changes happen, all or none; they count when this returns, ``done`` when no crash can
        undo them. ``Refused`` if they cannot be written: then nothing has changed.
        """
        self.load()
        self._topic.ensure()
        # Where nobody waits for a sync, it is done before the tables know: whoever hears of it looks there.
        both = AllDone(lambda fault: self._written(fault, done))
        self._topic.append(_PARTITION, [_record(change) for change in changes], both.begin())
        for key, value in changes:
            self._take_in(key, value)
        both.all_begun()

    def when_durable(self, done: Done) -> None:
        """Call back when no crash can undo what the tables hold now. ``Refused`` if nobody can say."""
        if self._topic.exists:
            self._topic.when_durable(_PARTITION, done)
        else:
            done(None)

    def _written(self, fault: Fault | None, done: Done) -> None:
        if fault is not None:
            self._is_current = False
        done(fault)


def _record(change: Change) -> KeyedRecord:
    key, value = change
    return OWN_LOG.encode_key(key), (None if value is None else OWN_LOG.encode_value(value, _VALUE_VERSION))
