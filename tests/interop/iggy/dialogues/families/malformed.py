"""Every request, most of them damaged: cut, with other kinds and lengths, with bytes behind."""

from tests.interop.dialogues.words import Pool
from tests.interop.iggy.dialogues.families.made import group, login, sent, stream, topic
from tests.interop.iggy.dialogues.families.messages import BATCHES, PARTITIONINGS, READ
from tests.interop.iggy.dialogues.families.topics import OPTIONS
from tests.interop.iggy.dialogues.families.users import CHANGES, REQUESTS, WORDS, user
from tests.interop.iggy.dialogues.family import Family
from tests.interop.iggy.dialogues.values import Rights

NEVER = ("LOGOUT_USER", "LOGIN_USER", "LOGIN_WITH_TOKEN", "UPDATE_USER", "DELETE_PARTITIONS")
"""What would leave little to be damaged, or the first user with another name, or a topic without partitions:
messages that are sent there by a key end Iggy's server.
"""

MALFORMED = Family(
    "malformed",
    {
        **{name: weight for name, weight in {**CHANGES, **REQUESTS}.items() if name not in NEVER},
        "SEND_MESSAGES": 8,
        "CREATE_USER": 4,
        "CREATE_TOPIC": 3,
        "POLL_MESSAGES": 4,
    },
    {
        **WORDS,
        **READ,
        **OPTIONS,
        "batch": BATCHES,
        "partitioning": PARTITIONINGS,
        "stream": Pool(["a", "b"], ["unknown"]),
        "topic": Pool(["t", "u"], ["unknown"]),
        "group": Pool(["g"], ["unknown"]),
        "user": Pool(["ann", "bob"]),
        "DELETE_USER.user": Pool(["bob"]),
        "client": Pool([7]),
        "CREATE_TOKEN.expiry": Pool([0, 3_600_000_000]),
        "CREATE_PARTITIONS.count": Pool([1], [0, 1001]),
        "DELETE_SEGMENTS.count": Pool([1], [0]),
        "strategy": Pool([(1, 0), (1, 1), (3, 0), (4, 0), (5, 0), (2, 1)]),
        "permissions": Pool([None, Rights("1" * 10), Rights("0" * 10, ((7, "101010", ((7, "0110"),)),))]),
    },
    beginnings=(
        (
            login(),
            stream("a"),
            topic("a", "t", 2),
            topic("a", "u", 1),
            group("a", "t", "g"),
            sent("a", "t", 0, b"0", b"1"),
            user("ann", Rights()),
        ),
    ),
    damage_chance=0.6,
    has_wrong_bytes=True,
)
