"""Offsets of consumers and of groups: stored, asked for, deleted, and moved by polls.

No consumer has a name that is a number: for ours it is the same as that number, for Iggy another.
"""

from tests.interop.dialogues.words import Pool
from tests.interop.iggy.dialogues.families.made import group, login, sent, stream, topic
from tests.interop.iggy.dialogues.families.messages import LARGEST, LARGEST_U64, NAMED, PLACES, READ
from tests.interop.iggy.dialogues.family import Family
from tests.interop.iggy.dialogues.values import ByNumber, Reader

OFFSETS = Family(
    "offsets",
    {
        "STORE_CONSUMER_OFFSET": 5,
        "GET_CONSUMER_OFFSET": 4,
        "DELETE_CONSUMER_OFFSET": 2,
        "POLL_MESSAGES": 4,
        "JOIN_CONSUMER_GROUP": 1,
        "LEAVE_CONSUMER_GROUP": 1,
        "DELETE_CONSUMER_GROUP": 1,
        "CREATE_CONSUMER_GROUP": 1,
        "SEND_MESSAGES": 1,
        "PURGE_TOPIC": 1,
    },
    {
        **PLACES,
        **READ,
        "consumer": Pool(
            [
                Reader(0),
                Reader(1),
                Reader("c"),
                Reader("g", is_group=True),
                Reader("g", is_group=True),
                Reader(ByNumber("g"), is_group=True),
            ],
            [
                Reader(LARGEST),
                Reader("n" * 255),
                Reader("Öl"),
                Reader(""),
                Reader("unknown", is_group=True),
                Reader(1, kind=0),
            ],
        ),
        "strategy": Pool([(5, 0), (5, 0), (1, 1)], [(1, 100)]),
        "STORE_CONSUMER_OFFSET.partition": NAMED,
        "DELETE_CONSUMER_OFFSET.partition": NAMED,
        "offset": Pool([0, 1, 2, 4], [5, 100, LARGEST_U64, LARGEST_U64 - 1]),
        "group": Pool(["g", "g", ByNumber("g")], ["unknown"]),
        "name": Pool(["g"]),
        "partitioning": Pool([(2, 0), (2, 1)]),
        "batch": Pool([sent("", "", 0, b"new").values["batch"]]),
    },
    beginnings=(
        (
            login(),
            stream("a"),
            topic("a", "t", 1),
            topic("a", "u", 3),
            group("a", "t", "g"),
            group("a", "u", "g"),
            sent("a", "t", 0, b"0", b"1", b"2", b"3", b"4"),
            sent("a", "u", 0, b"0", b"1", b"2"),
        ),
    ),
)
