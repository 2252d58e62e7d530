"""Users, rights and tokens, and what their users may do then. The first connection is root's.

Nobody is made inactive who is logged in: with ours it may do nothing more at once (``docs/rights.md``).
"""

from tests.interop.dialogues.words import Pool
from tests.interop.iggy.dialogues.families.made import group, login, sent, stream, topic
from tests.interop.iggy.dialogues.families.messages import NAMED, PARTITIONS, READ
from tests.interop.iggy.dialogues.family import Family
from tests.interop.iggy.dialogues.step import Step
from tests.interop.iggy.dialogues.values import Batch, ByNumber, ClientAt, Message, Reader, Rights, TokenOf

LARGEST = (1 << 32) - 1
NOTHING = "0" * 10


def _everywhere(*places: int) -> Rights:
    """Places among the rights that are for everything."""
    return Rights("".join(str(int(place in places)) for place in range(10)))


def _of_stream(*places: int, topics: tuple[tuple[str, str], ...] = ()) -> Rights:
    rights = "".join(str(int(place in places)) for place in range(6))
    return Rights(NOTHING, ((ByNumber("a"), rights, topics),))


ALL_RIGHTS = [
    None,
    Rights(),
    Rights("1" * 10),
    *(_everywhere(place) for place in range(10)),
    *(_of_stream(place) for place in range(6)),
    *(
        _of_stream(topics=(("t", "".join(str(int(place == each)) for place in range(4))),))
        for each in range(4)
    ),
    Rights("0000000001", ((ByNumber("a"), "010000", (("t", "0010"), ("u", "1111"))), ("b", "111111", ()))),
]
PASSWORDS = Pool(["secret", "secret", "another"], ["", "no", "p" * 100, "p" * 101, "Öl", b"\xff\xff\xff"])
NAMES = Pool(
    ["ann", "ann", "bob"], ["", "xx", "u" * 50, "u" * 51, "Ann", "iggy", b"\xff\xff\xff", "a:b", "öö"]
)


def user(name: str, rights: Rights | None) -> Step:
    values = {"username": name, "password": "secret", "status": 1, "permissions": rights}
    return Step("CREATE_USER", values)


def _beginning(rights: Rights | None) -> tuple[Step, ...]:
    return (
        login(),
        stream("a"),
        stream("b"),
        topic("a", "t", 2),
        topic("a", "u", 1),
        group("a", "t", "g"),
        sent("a", "t", 0, b"0", b"1"),
        user("ann", rights),
        login("ann", "secret", peer=1),
    )


CHANGES = {
    "GET_USER": 2,
    "GET_USERS": 1,
    "CREATE_USER": 2,
    "DELETE_USER": 1,
    "UPDATE_USER": 2,
    "UPDATE_PERMISSIONS": 2,
    "CHANGE_PASSWORD": 2,
    "LOGIN_USER": 3,
    "LOGOUT_USER": 1,
    "GET_TOKENS": 1,
    "CREATE_TOKEN": 2,
    "DELETE_TOKEN": 1,
    "LOGIN_WITH_TOKEN": 2,
    "GET_ME": 1,
    "PING": 1,
}
REQUESTS = {
    "GET_STREAM": 2,
    "GET_STREAMS": 1,
    "CREATE_STREAM": 1,
    "UPDATE_STREAM": 1,
    "PURGE_STREAM": 1,
    "DELETE_STREAM": 1,
    "GET_TOPIC": 2,
    "GET_TOPICS": 2,
    "CREATE_TOPIC": 1,
    "UPDATE_TOPIC": 1,
    "PURGE_TOPIC": 1,
    "DELETE_TOPIC": 1,
    "CREATE_PARTITIONS": 1,
    "DELETE_PARTITIONS": 1,
    "DELETE_SEGMENTS": 1,
    "SEND_MESSAGES": 3,
    "POLL_MESSAGES": 3,
    "FLUSH_UNSAVED_BUFFER": 1,
    "GET_CONSUMER_OFFSET": 1,
    "STORE_CONSUMER_OFFSET": 1,
    "DELETE_CONSUMER_OFFSET": 1,
    "GET_CONSUMER_GROUP": 1,
    "GET_CONSUMER_GROUPS": 1,
    "CREATE_CONSUMER_GROUP": 1,
    "DELETE_CONSUMER_GROUP": 1,
    "JOIN_CONSUMER_GROUP": 1,
    "LEAVE_CONSUMER_GROUP": 1,
    "GET_CLIENT": 1,
    "GET_STATS": 1,
    "GET_CLUSTER_METADATA": 1,
}
WORDS = {
    **READ,
    "stream": Pool(["a", "a", "b", ByNumber("a")], ["unknown", ByNumber("unknown")]),
    "topic": Pool(["t", "t", "u", ByNumber("t")], ["unknown", ByNumber("unknown")]),
    "group": Pool(["g", ByNumber("g")], ["unknown"]),
    "consumer": Pool([Reader(1), Reader("g", is_group=True)], [Reader("unknown", is_group=True)]),
    "user": Pool(["ann", "ann", "bob", ByNumber("ann")], ["unknown", ByNumber("unknown"), "", LARGEST]),
    "DELETE_USER.user": Pool(["ann", "bob", ByNumber("ann")], ["iggy", "unknown", ByNumber("iggy")]),
    "UPDATE_PERMISSIONS.user": Pool(["ann", "ann", "bob"], ["iggy", "unknown"]),
    "username": NAMES,
    "UPDATE_USER.username": Pool(
        ["ann", "bob", None], [each for each in NAMES.odd if each != b"\xff\xff\xff"]
    ),
    "LOGIN_USER.username": Pool(["ann", "ann", "bob", "iggy"], NAMES.odd),
    "password": PASSWORDS,
    "current": PASSWORDS,
    "new": PASSWORDS,
    "LOGIN_USER.password": Pool(["secret", "secret", "another", "iggy"], PASSWORDS.odd),
    "CREATE_USER.status": Pool([1, 1, 1, 2], [0, 3]),
    "UPDATE_USER.status": Pool([None, 1], [0, 3]),
    "permissions": Pool(ALL_RIGHTS),
    "version": Pool(["0.10.0", ""]),
    "context": Pool([""]),
    "name": Pool(["one", "two", "n.o"], ["", "x" * 255]),
    "CREATE_TOKEN.name": Pool(["one", "two"], ["", "xx", "t" * 30, "t" * 31]),
    "DELETE_TOKEN.name": Pool(["one", "two"], ["", "xx", "t" * 30, "unknown"]),
    "CREATE_TOKEN.expiry": Pool([0, (1 << 64) - 1, 3_600_000_000], [1, 1 << 63]),
    "token": Pool([TokenOf("one"), TokenOf("two")], ["", "unknown", "x" * 255]),
    "client": Pool([ClientAt(0), ClientAt(1)], [0, 7]),
    "partitions": Pool([1, 2], [0]),
    "count": Pool([1], [0, 5]),
    "POLL_MESSAGES.count": Pool([10]),
    "compression": Pool([1]),
    "expiry": Pool([0]),
    "size_limit": Pool([0]),
    "replication": Pool([1]),
    "partitioning": Pool([(2, 0), (1, None)]),
    "batch": Pool([Batch((Message(b"one"),))]),
    "FLUSH_UNSAVED_BUFFER.partition": PARTITIONS,
    "DELETE_SEGMENTS.partition": PARTITIONS,
    "fsync": Pool([0, 1]),
    "STORE_CONSUMER_OFFSET.partition": NAMED,
    "DELETE_CONSUMER_OFFSET.partition": NAMED,
    "offset": Pool([0, 1], [7]),
}

USERS = Family(
    "users",
    {**CHANGES, **REQUESTS},
    WORDS,
    beginnings=[_beginning(rights) for rights in ALL_RIGHTS],
    peers=2,
    damage_chance=0.0,
)
