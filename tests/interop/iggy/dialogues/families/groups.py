"""Consumer groups: members on several connections that join, poll, store and leave.

The topic has two partitions. With more, or with other numbers of them while there are members, Iggy deals
them otherwise than we do: it takes them from the last, and gives to each newcomer one at most.
"""

from tests.interop.dialogues.words import Pool
from tests.interop.iggy.dialogues.families.made import group, login, sent, stream, topic
from tests.interop.iggy.dialogues.families.messages import LARGEST, NAMED, READ
from tests.interop.iggy.dialogues.family import Family
from tests.interop.iggy.dialogues.values import ByNumber, ClientAt, Reader

PEERS = 3
PLACES = {
    "stream": Pool(["a", "a", "a", ByNumber("a")], ["unknown"]),
    "topic": Pool(["t", "t", "u", ByNumber("t")], ["unknown"]),
}
GROUPS_NAMED = Pool(
    ["g", "g", "g", ByNumber("g"), "h"], ["unknown", ByNumber("unknown"), "", LARGEST, "g" * 255]
)
READERS = Pool(
    [
        Reader("g", is_group=True),
        Reader("g", is_group=True),
        Reader(ByNumber("g"), is_group=True),
        Reader("h", is_group=True),
    ],
    [Reader("unknown", is_group=True), Reader("g"), Reader(1), Reader("", is_group=True)],
)

GROUPS = Family(
    "groups",
    {
        "CREATE_CONSUMER_GROUP": 2,
        "GET_CONSUMER_GROUP": 4,
        "GET_CONSUMER_GROUPS": 1,
        "DELETE_CONSUMER_GROUP": 1,
        "JOIN_CONSUMER_GROUP": 5,
        "LEAVE_CONSUMER_GROUP": 2,
        "POLL_MESSAGES": 5,
        "STORE_CONSUMER_OFFSET": 2,
        "GET_CONSUMER_OFFSET": 2,
        "DELETE_CONSUMER_OFFSET": 1,
        "GET_ME": 1,
        "GET_CLIENT": 1,
    },
    {
        **PLACES,
        **READ,
        "group": GROUPS_NAMED,
        "name": Pool(["g", "h"], ["", "g" * 255, b"\xff", "1", "Öl"]),
        "consumer": READERS,
        "partition": Pool([None, None, 0, 1], [2, LARGEST]),
        "strategy": Pool([(5, 0), (5, 0), (3, 0), (1, 1)], [(6, 0)]),
        "count": Pool([1, 10], [0]),
        "STORE_CONSUMER_OFFSET.partition": NAMED,
        "DELETE_CONSUMER_OFFSET.partition": NAMED,
        "offset": Pool([0, 0, 1], [2, 100, (1 << 64) - 1]),
        "client": Pool([ClientAt(0), ClientAt(1), ClientAt(2)], [0, 7, LARGEST]),
    },
    beginnings=(
        (
            *(login(peer=peer) for peer in range(PEERS)),
            stream("a"),
            topic("a", "t", 2),
            topic("a", "u", 1),
            group("a", "t", "g"),
            *(sent("a", "t", partition, b"0", b"1") for partition in range(2)),
            sent("a", "u", 0, b"0"),
        ),
    ),
    peers=PEERS,
)
