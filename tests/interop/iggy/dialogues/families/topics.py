"""Streams, topics and partitions: made, looked at, changed, emptied and deleted, by name and by number."""

from tests.interop.dialogues.words import Pool
from tests.interop.iggy.dialogues.families.made import FOR_EVER, login, sent, stream, topic
from tests.interop.iggy.dialogues.family import Family
from tests.interop.iggy.dialogues.values import Batch, ByNumber, Message

LARGEST = (1 << 32) - 1
LONG = "n" * 255
NAMES = Pool(["a", "b", "c.d", "Öl 5"], ["", LONG, "a ", "A", "1", "-_2e", b"\xff", "\0", "default.a"])
STREAMS = Pool(
    ["a", "a", "b", "c.d", "Öl 5", ByNumber("a"), ByNumber("b")],
    ["", "unknown", ByNumber("unknown"), LARGEST, LONG, "A"],
)
TOPICS_NAMED = Pool(
    ["a", "a", "b", "c.d", "Öl 5", ByNumber("a"), ByNumber("b")],
    ["", "unknown", ByNumber("unknown"), LARGEST, LONG],
)
COUNTS = Pool([1, 1, 2, 3], [0, 100, 1001, LARGEST])
OPTIONS = {
    "compression": Pool([1, 1, 2], [0, 3, 255]),
    "expiry": Pool([FOR_EVER, 0, 60_000_000], [1, 999, FOR_EVER - 1, 1 << 63]),
    "size_limit": Pool([FOR_EVER, 0, 2 << 30], [1, (1 << 30) - 1, 1 << 30, FOR_EVER - 1, 1 << 63]),
    "replication": Pool([1, 0], [2, 255]),
}

TOPICS = Family(
    "topics",
    {
        "CREATE_STREAM": 3,
        "GET_STREAM": 3,
        "GET_STREAMS": 1,
        "UPDATE_STREAM": 2,
        "DELETE_STREAM": 1,
        "PURGE_STREAM": 1,
        "CREATE_TOPIC": 5,
        "GET_TOPIC": 3,
        "GET_TOPICS": 2,
        "UPDATE_TOPIC": 3,
        "DELETE_TOPIC": 2,
        "PURGE_TOPIC": 1,
        "CREATE_PARTITIONS": 2,
        "DELETE_PARTITIONS": 2,
        "SEND_MESSAGES": 1,
    },
    {
        "name": NAMES,
        "stream": STREAMS,
        "topic": TOPICS_NAMED,
        "partitions": COUNTS,
        "count": COUNTS,
        **OPTIONS,
        "partitioning": Pool([(2, 0), (1, None)]),
        "batch": Pool([Batch((Message(b"one"),))]),
    },
    beginnings=(
        (login(),),
        (login(), stream("a"), stream("b")),
        (login(), stream("a"), topic("a", "a", 1), topic("a", "b", 3), sent("a", "a", 0, b"one", b"two")),
    ),
)
