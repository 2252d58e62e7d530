"""Names that clients invent, at every door (S14): none leaves the directory, no two are one.

The slice takes a list of nasty ones through the doors of a node, and looks at the paths of its disk. The dice
(a million names with ``make abuse N=100``) are held against the functions that make names of them.
"""

import asyncio
import json
import os
import re
import time
from random import Random
from typing import Final

from tests.abuse.amount import amount, seeded
from tests.abuse.city import City, IggyDoor, KafkaDoor, RustLogDoor
from tests.protocols.iggy.raw_client import name, new_topic, text
from trivium.core.faults import Refused
from trivium.core.streams.names import is_name, kafka_name, spell_stream, spell_topic
from trivium.core.topic_names import check_topic_name
from trivium.log import names
from trivium.messages.api import ApiKey
from trivium.messages.errors import ErrorCode
from trivium.protocols.iggy.code import Code
from trivium.wire.errors import EncodeError

SECONDS_MAX: Final = 30

NASTY: Final = [
    "..",
    ".",
    "",
    "/",
    "../../etc/passwd",
    "/etc/passwd",
    "a/b",
    "a\\b",
    "C:\\x",
    "a\0b",
    "\0",
    "a\nb",
    "\x1b[2J\x1b]0;owned\x07",
    "<script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
    "+1+1",
    "@SUM(A1)",
    "${jndi:ldap://x}",
    "%2e%2e%2f",
    "a b",
    "orders-0",
    "a-0",
    "a-0.0123456789abcdef0123456789abcdef-delete",
    "\u0430",  # Cyrillic, which looks like the Latin letter
    "Å",
    "Å",  # the same again, in another composition
    "\u202eabc",
    "\ufeffa",
    "ﬁ",
    "x" * 249,
    "x" * 250,
    "x" * 255,
    "é" * 125,
    "__cluster_metadata",
    "__consumer_offsets",
    "__trivium",
    "meta.properties",
    "cleaner-offset-checkpoint",
    "-_2e-_2e",
    "con",
    "~",
    "*",
]
KAFKA_LEGAL: Final = re.compile(r"(?!\.{1,2}\Z)[a-zA-Z0-9._-]{1,249}")


def paths(city: City) -> set[str]:
    """Everything that lies on the disk of the node."""
    found: set[str] = set()
    left = [""]
    while left:
        path = left.pop()
        for each in city.files.list(path or "/"):
            assert each not in ("", ".", ".."), path
            found.add(f"{path}/{each}")
            if city.files.is_directory(f"{path}/{each}"):
                left.append(f"{path}/{each}")
    return found


def directories(city: City) -> set[str]:
    found = (f"/memory/{each}" for each in city.files.list("/memory"))
    return {path for path in found if city.files.is_directory(path)}


def made_since(before: set[str], count: int, city: City) -> set[str]:
    """New directories. A topic is told to be there when the metadata log says so; its directories follow, in
    the node's own time: its loop runs only while it is asked for something.
    """
    deadline = time.monotonic() + SECONDS_MAX
    while len(made := directories(city) - before) < count and time.monotonic() < deadline:
        city.run(asyncio.sleep(0.01))
    return made


def test_nasty_topic_names_at_kafkas_door_are_refused_or_stay_inside(city: City) -> None:
    door = KafkaDoor(city, "root")
    before = directories(city)
    made = 0
    for nasty in NASTY:
        topics = [{"name": nasty, "num_partitions": 1, "replication_factor": 1}]
        answered = door.say(ApiKey.CREATE_TOPICS, 7, {"topics": topics, "timeout_ms": 60_000})
        if answered.errors:
            codes = {code for _, code in answered.errors}
            assert codes <= {
                ErrorCode.INVALID_TOPIC_EXCEPTION,
                ErrorCode.INVALID_REQUEST,
                ErrorCode.TOPIC_ALREADY_EXISTS,
            }, nasty
        else:
            assert KAFKA_LEGAL.fullmatch(nasty), nasty
            made += 1
    assert len(made_since(before, made, city)) == made > 0
    assert {path.split("/")[1] for path in paths(city)} == {"memory"}


def test_nasty_names_of_streams_and_topics_at_iggys_door_are_different_directories(city: City) -> None:
    door = IggyDoor(city, "root")
    before = directories(city)
    streams = topics = 0
    for nasty in NASTY:
        if not 0 < len(nasty.encode()) < 256:
            continue
        streams += door.status(Code.CREATE_STREAM, text(nasty)) == 0
        topics += door.status(Code.CREATE_TOPIC, new_topic("a", nasty)) == 0
        door.status(Code.CREATE_TOPIC, new_topic(nasty, "inner"))
        door.status(Code.CREATE_CONSUMER_GROUP, name("a") + name("t") + text(nasty))
    assert streams > 30
    assert topics > 30
    made = made_since(before, topics, city)
    assert len(made) >= topics, "no two names are one directory"
    assert all(KAFKA_LEGAL.fullmatch(os.path.basename(path).rpartition("-")[0]) for path in made)
    assert {path.split("/")[1] for path in paths(city)} == {"memory"}


def test_nasty_topic_names_at_rustlogs_door_are_refused_or_stay_inside(city: City) -> None:
    door = RustLogDoor(city, "root")
    before = directories(city)
    made = 0
    for nasty in NASTY:
        body = json.dumps({"CreateTopic": {"topic": f"{nasty}", "partitions": 1}}).encode()
        if b"success" in door.say(body):
            assert KAFKA_LEGAL.fullmatch(nasty), nasty
            made += 1
    assert len(made_since(before, made, city)) == made


def test_nasty_groups_transactions_and_clients_make_no_files(city: City) -> None:
    door = KafkaDoor(city, "root")
    before = directories(city)
    for nasty in NASTY:
        topics = [{"name": "orders", "partitions": [{"partition_index": 0, "committed_offset": 1}]}]
        door.say(ApiKey.OFFSET_COMMIT, 8, {"group_id": nasty, "topics": topics})
        door.say(ApiKey.INIT_PRODUCER_ID, 4, {"transactional_id": nasty, "transaction_timeout_ms": 60_000})
        entity = [{"entity_type": "client-id", "entity_name": nasty}]
        ops = [{"key": "producer_byte_rate", "value": 1e9}]
        door.say(ApiKey.ALTER_CLIENT_QUOTAS, 1, {"entries": [{"entity": entity, "ops": ops}]})
        moved = [{"path": nasty, "topics": [{"name": "orders", "partitions": [0]}]}]
        answered = door.say(ApiKey.ALTER_REPLICA_LOG_DIRS, 2, {"dirs": moved})
        assert answered.errors == {("results.partitions.error_code", ErrorCode.LOG_DIR_NOT_FOUND)}
    assert directories(city) == before


# -- by dice -------------------------------------------------------------------------------------

FRAGMENTS: Final = [
    "..",
    ".",
    "/",
    "\\",
    "\0",
    "-",
    "_",
    "-_",
    "-0",
    "2e",
    "a",
    "B",
    "é",
    "\u0430",
    "\x1b[",
    " ",
    "%",
]


def invented(dice: Random) -> str:
    if dice.random() < 0.2:
        return dice.choice(NASTY)
    return "".join(dice.choice(FRAGMENTS) for _ in range(dice.randint(1, 9)))


def is_taken(topic: str) -> bool:
    try:
        check_topic_name(topic)
    except Refused:
        return False
    return True


@seeded
def test_invented_names_stay_inside_and_apart(seed: int) -> None:
    dice = Random(seed)
    spelled: dict[str, tuple[str, str]] = {}
    for _ in range(amount(3_000, 10_000)):
        topic, stream = invented(dice), invented(dice)
        assert is_taken(topic) == bool(KAFKA_LEGAL.fullmatch(topic)), topic
        try:
            directory = names.partition_directory(topic, 7)
        except EncodeError:
            assert not is_taken(topic), topic
        else:
            assert os.path.dirname(os.path.normpath(f"/data/{directory}")) == "/data", topic
            assert names.parse_partition_directory(directory) == names.PartitionDirectory(topic, 7)
        if not is_name(topic) or not is_name(stream) or stream == "default":
            continue
        assert "." not in spell_stream(stream)
        whole = f"{spell_stream(stream)}.{spell_topic(topic)}"
        assert spelled.setdefault(whole, (stream, topic)) == (stream, topic)
        try:
            assert kafka_name(stream, topic) == whole
        except Refused:
            assert len(whole) > 249, whole
        if len(spelled) > 200_000:
            spelled.clear()
