"""The next stretch of a partition, made ready while its reader is busy with the last one.

Most of what a poll costs is reading records, proving them and making them messages. A client that polls one
stretch after the other will want the next one, and has nothing to ask while it works on the answer.

Rules:
- Only who has read two stretches side by side, of as many messages each, is foreseen; and only a whole
  stretch is, of ``STRETCH_BYTES_MAX`` at most: making it ready must not keep others waiting.
- A poll asks for its place as ever, rights included, and its answer is charged as ever. Then it takes what is
  ready if that is what it would read: the same partition in the same life, offset, count and form, all of it
  decided and still there. Records do not change, so it is what the log would give. Where compaction may take
  some of them out of the middle nothing is foreseen.
- What is ready serves one poll. The next one takes it or lets it go.
- Everything that is ready takes ``READY_BYTES_MAX`` at most; what has waited longest goes first.

Knows neither sessions nor the broker; ``commands/polling.py`` does the reading.
"""

from typing import Final, NamedTuple

from trivium.records.iggy import PolledMessages

STRETCH_BYTES_MAX: Final = 2 << 20
"""Of messages: a millisecond's work."""
READY_BYTES_MAX: Final = 16 << 20
"""Of all clients of a node: some kilobytes for each of thousands, a stretch for the busiest."""


class Stretch(NamedTuple):
    """What a poll reads."""

    topic: str
    partition: int
    life: int
    """Of the partition (``PollPlace.life``)."""
    offset: int
    messages_count: int
    header_bytes: int
    topic_id: bytes
    """Of which ids are made."""

    def rest(self, offset: int, read_count: int) -> "Stretch":
        """What is left when so many messages before this offset have been read."""
        topic, partition, life, _, messages_count, header_bytes, topic_id = self
        return Stretch(topic, partition, life, offset, messages_count - read_count, header_bytes, topic_id)


class Ready:
    """What is ready, of all clients of a node: a stretch of each, and its messages."""

    def __init__(self, bytes_max: int = READY_BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self._stretches: dict[Foresight, tuple[Stretch, PolledMessages]] = {}
        self.size_bytes = 0

    def put(self, whose: "Foresight", stretch: Stretch, messages: PolledMessages) -> None:
        self.take(whose)
        self._stretches[whose] = stretch, messages
        self.size_bytes += len(messages.data)
        while self.size_bytes > self._bytes_max:
            self.take(next(iter(self._stretches)))

    def take(self, whose: "Foresight") -> tuple[Stretch, PolledMessages] | None:
        found = self._stretches.pop(whose, None)
        if found is not None:
            self.size_bytes -= len(found[1].data)
        return found


class Foresight:
    """What one client is going to read, by what it has read."""

    __slots__ = ("_expected", "_ready", "wanted")

    def __init__(self, ready: Ready) -> None:
        self._ready = ready
        self._expected: Stretch | None = None
        """Where the client goes on, if it does."""
        self.wanted: Stretch | None = None
        """What to make ready when there is time."""

    def take(self, stretch: Stretch, offset_end: int) -> PolledMessages | None:
        """The messages of this stretch if they are ready; no record from ``offset_end`` on may be read."""
        found = self._ready.take(self)
        if found is None or found[0] != stretch or found[1].offset_next > offset_end:
            return None
        return found[1]

    def has_read(self, stretch: Stretch, pieces: list[PolledMessages], offset_end: int) -> None:
        went_on = stretch == self._expected
        if len(pieces) != 1 or len(pieces[0].data) > STRETCH_BYTES_MAX:
            self.forget()
            return
        offset = pieces[0].offset_next
        self._expected = stretch.rest(offset, 0)
        self.wanted = self._expected if went_on and offset + stretch.messages_count <= offset_end else None

    def expects(self, stretch: Stretch) -> bool:
        """Whether the client has not been somewhere else since it was wanted."""
        return stretch == self._expected

    def put(self, stretch: Stretch, messages: PolledMessages) -> None:
        """These are the messages of a stretch that it expects; they are of use if they are all of them."""
        if messages.count == stretch.messages_count:
            self._ready.put(self, stretch, messages)

    def forget(self) -> None:
        self._expected = self.wanted = None
        self._ready.take(self)
