"""Messages: sent in all ways, polled from everywhere, flushed, and emptied out.

Nothing is sent to the topic that has no partitions: by a key, that ends Iggy's server.
"""

from tests.interop.dialogues.words import Pool
from tests.interop.iggy.dialogues.families.made import group, login, sent, stream, topic
from tests.interop.iggy.dialogues.family import Family
from tests.interop.iggy.dialogues.values import Batch, ByNumber, Message, Moment, Reader

LARGEST = (1 << 32) - 1
LARGEST_U64 = (1 << 64) - 1
HEADERS = ((2, b"key", 2, b"value"), (2, b"n", 6, b"\1\0\0\0"))
ODD_HEADERS = ((6, b"\1\0\0\0", 1, b"\0"), (1, b"\xff", 3, b"\1"))
PLACES = {
    "stream": Pool(["a", "a", "a", ByNumber("a")], ["unknown", ByNumber("unknown"), ""]),
    "topic": Pool(["t", "t", "u", ByNumber("t"), ByNumber("u")], ["unknown", "none", ByNumber("unknown")]),
}
PARTITIONS = Pool([0, 0, 1, 2], [3, LARGEST])
READ = {
    "consumer": Pool(
        [Reader(1), Reader(1), Reader(2), Reader("c")],
        [Reader("g", is_group=True), Reader("unknown", is_group=True), Reader(1, kind=3), Reader(LARGEST)],
    ),
    "partition": Pool([0, 0, 0, 1, None], [2, 3, LARGEST]),
    "strategy": Pool(
        [(1, 0), (1, 1), (1, 3), (3, 0), (4, 0), (5, 0), (5, 0), (2, 0), (2, Moment(0)), (2, Moment(1))],
        [
            (1, 1_000),
            (1, LARGEST_U64),
            (2, Moment(0, 1)),
            (2, Moment(1, -1)),
            (2, Moment(-1)),
            (2, Moment(-1, 1)),
            (2, LARGEST_U64),
            (2, 1 << 63),
            (0, 0),
            (6, 0),
        ],
    ),
    "count": Pool([1, 2, 10, 10, 1_000], [0, LARGEST]),
    "auto_commit": Pool([0, 0, 1], [2]),
}
NAMED = Pool([0, 0, 1], [2, 3, LARGEST])
"""Partitions whose offsets are stored or deleted. If a member of a group names none, Iggy takes the one
behind that which it has polled last."""
BATCHES = Pool(
    [
        Batch((Message(b"one"),)),
        Batch((Message(b"one", 1), Message(b"two", 7))),
        Batch((Message(b"with", 0, HEADERS), Message(b"without"))),
        Batch(tuple(Message(b"%d" % number) for number in range(5))),
        Batch((Message(b"x" * 5_000), Message(b"\0"))),
        Batch((Message(b"odd", (1 << 128) - 1, ODD_HEADERS),)),
    ],
    [
        Batch((Message(b""),)),
        Batch((Message(b"same", 7), Message(b"same", 7))),
        Batch(()),
        Batch((Message(b"one"), Message(b"two")), count=1),
        Batch((Message(b"one"),), count=2),
        Batch((Message(b"one"), Message(b"two")), shift=-1),
        Batch((Message(b"one"), Message(b"two")), shift=1),
        Batch((Message(b"one"), Message(b"two")), shift=-1_000),
        Batch((Message(b"one"),), index_offset=1),
        Batch((Message(b"one"),), index_timestamp=1),
        Batch((Message(b"one"),), metadata_more=1_000_000),
        Batch((Message(b"headers", broken_headers=b"\2\1\0\0"),)),
        Batch((Message(b"headers", broken_headers=b"x" * 100_001),)),
        Batch((Message(b"twice", 0, (HEADERS[0], HEADERS[0])),)),
        Batch((Message(b"kafka", 0, ((2, b"kafka.key", 2, b"k"), (2, b"iggy.id", 1, b"\0"))),)),
    ],
)
PARTITIONINGS = Pool(
    [(2, 0), (2, 0), (2, 1), (1, None), (3, b"key"), (3, b"user-1"), (3, b"\1\0\0\0")],
    [(2, 3), (2, LARGEST), (2, b"\0"), (1, b"\0"), (3, b""), (3, b"k" * 255), (0, None), (4, b"\0\0\0\0")],
)

MESSAGES = Family(
    "messages",
    {
        "SEND_MESSAGES": 6,
        "POLL_MESSAGES": 10,
        "FLUSH_UNSAVED_BUFFER": 1,
        "GET_CONSUMER_OFFSET": 2,
        "GET_TOPIC": 2,
        "PURGE_TOPIC": 1,
        "DELETE_SEGMENTS": 1,
    },
    {
        **PLACES,
        **READ,
        "SEND_MESSAGES.topic": Pool(["t", "t", "u", ByNumber("t"), ByNumber("u")], ["unknown"]),
        "FLUSH_UNSAVED_BUFFER.partition": PARTITIONS,
        "DELETE_SEGMENTS.partition": PARTITIONS,
        "DELETE_SEGMENTS.count": Pool([1, 2], [0, LARGEST]),
        "fsync": Pool([0, 1], [2]),
        "batch": BATCHES,
        "partitioning": PARTITIONINGS,
    },
    beginnings=(
        (login(), stream("a"), topic("a", "t", 1), topic("a", "u", 3), topic("a", "none", 0)),
        (
            login(),
            stream("a"),
            topic("a", "t", 1),
            topic("a", "u", 3),
            group("a", "t", "g"),
            sent("a", "t", 0, b"0", b"1", b"2"),
            sent("a", "t", 0, b"3", b"4"),
            sent("a", "u", 1, b"u"),
        ),
    ),
)
