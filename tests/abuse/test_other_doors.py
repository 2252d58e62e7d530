"""The doors of Iggy and RustLog, where access control lists count: every request against no rights and
against a deny (S10), missing against forbidden (S11), and the same answer to the same person at every door.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest

from tests.abuse.city import City, IggyDoor, KafkaDoor, Right, RustLogDoor, everything_of
from tests.abuse.test_kafka_rights import changes
from tests.core.batches import batch
from tests.protocols.iggy.raw_client import consumer, message, name, new_topic, poll, send, to_partition
from tests.protocols.iggy.test_rights import ANYBODY, ROWS, UNAUTHORIZED
from trivium.core.acls.entry import Operation, PatternType, Permission, ResourceType
from trivium.core.commands.acls import CreateAcls
from trivium.messages.api import ApiKey
from trivium.messages.errors import ErrorCode
from trivium.protocols.iggy.code import Code
from trivium.protocols.iggy.commands import HANDLERS, OPEN_TO_ALL
from trivium.protocols.rustlog.requests import CARRY_OUT

EVERYTHING: Final = [everything_of(kind) for kind in ResourceType]
GATED: Final = [code for code in ROWS if ROWS[code][0] != ANYBODY]


class Doors:
    def __init__(self, city: City) -> None:
        self.kafka = KafkaDoor(city, "ann")
        self.iggy = IggyDoor(city, "ann")
        self.rustlog = RustLogDoor(city, "ann")

    def rustlog_says(self, kind: str, **fields: Any) -> Any:
        return json.loads(self.rustlog.say(json.dumps({kind: fields}).encode()))


@pytest.fixture(scope="module")
def doors(city: City) -> Doors:
    return Doors(city)


# -- Iggy ----------------------------------------------------------------------------------------


def test_every_command_of_iggys_has_its_row() -> None:
    assert ROWS.keys() == {Code(code) for code in HANDLERS if code not in OPEN_TO_ALL}


@pytest.mark.parametrize("code", GATED, ids=lambda code: code.name)
def test_iggy_command_is_refused_without_a_list_and_against_a_deny(
    city: City, doors: Doors, code: Code
) -> None:
    before = city.state()
    for allowed, denied in (((), ()), (EVERYTHING, EVERYTHING)):
        city.allow(*allowed, deny=denied)
        assert doors.iggy.status(code, ROWS[code][1]) == UNAUTHORIZED, allowed
    city.allow()
    assert changes(before, city.state()) == []


@pytest.mark.parametrize("code", GATED, ids=lambda code: code.name)
def test_iggy_command_tells_nobody_without_rights_what_there_is(city: City, doors: Doors, code: Code) -> None:
    body = ROWS[code][1]
    for there, missing in (("a", "z"), ("t", "y"), ("g", "x"), ("bob", "nob"), ("iggy", "nogg")):
        body = body.replace(name(there), name(missing))
    city.allow()
    assert doors.iggy.status(code, body) == UNAUTHORIZED


# -- RustLog -------------------------------------------------------------------------------------

TOPIC: Final = {"topic": "orders", "partition": 0}
RUSTLOG_ROWS: Final[Mapping[str, tuple[dict[str, Any], tuple[Right, ...]]]] = {
    "Produce": ({**TOPIC, "records": [[1]]}, (Right(Operation.WRITE, ResourceType.TOPIC, "orders"),)),
    "Fetch": (
        {**TOPIC, "offset": 0, "max_bytes": 100},
        (Right(Operation.READ, ResourceType.TOPIC, "orders"),),
    ),
    "Fetch for a group": (
        {**TOPIC, "offset": 0, "max_bytes": 100, "group_id": "buyers"},
        (
            Right(Operation.DESCRIBE, ResourceType.GROUP, "buyers"),
            Right(Operation.READ, ResourceType.TOPIC, "orders"),
        ),
    ),
    "OffsetCommit": (
        {**TOPIC, "group_id": "buyers", "offset": 1},
        (
            Right(Operation.READ, ResourceType.GROUP, "buyers"),
            Right(Operation.READ, ResourceType.TOPIC, "orders"),
        ),
    ),
    "OffsetFetch": (
        {**TOPIC, "group_id": "buyers"},
        (
            Right(Operation.DESCRIBE, ResourceType.GROUP, "buyers"),
            Right(Operation.DESCRIBE, ResourceType.TOPIC, "orders"),
        ),
    ),
    "CreateTopic": (
        {"topic": "news", "partitions": 1},
        (Right(Operation.CREATE, ResourceType.TOPIC, "news"),),
    ),
    "ListTopics": ({}, (Right(Operation.DESCRIBE, ResourceType.TOPIC, "orders"),)),
    "DescribeTopic": (
        {"topic": "orders"},
        (Right(Operation.DESCRIBE, ResourceType.TOPIC, "orders"),),
    ),
    "DescribePartition": (TOPIC, (Right(Operation.DESCRIBE, ResourceType.TOPIC, "orders"),)),
}
RUSTLOG_FREE: Final = {
    "Ping": "it says nothing",
    "Login": "it is the login",
    "Metrics": "the counters of this door, without a name in them",
}


def is_refused(kind: str, answer: Any) -> bool:
    """Whether a RustLog client has been told no, or shown nothing."""
    if kind == "ListTopics":
        return "orders" not in json.dumps(answer)
    if kind == "OffsetCommit":
        return answer.get("OffsetCommit", {"success": False})["success"] is False
    return list(answer) == ["Error"]


def test_every_request_of_rustlogs_has_its_row() -> None:
    named = {word.partition(" ")[0] for word in RUSTLOG_ROWS}
    assert named | RUSTLOG_FREE.keys() == {word for word, _ in CARRY_OUT.values()}


@pytest.mark.parametrize("word", RUSTLOG_ROWS)
def test_rustlog_request_without_its_right_is_refused_and_changes_nothing(
    city: City, doors: Doors, word: str
) -> None:
    fields, needs = RUSTLOG_ROWS[word]
    kind = word.partition(" ")[0]
    city.allow()
    before = city.state()
    assert is_refused(kind, doors.rustlog_says(kind, **fields))
    for need in needs:
        also = [Right(Operation.CREATE, ResourceType.CLUSTER)] if kind == "CreateTopic" else []
        city.allow(*EVERYTHING, deny=[need, *also])
        assert is_refused(kind, doors.rustlog_says(kind, **fields)), need
    city.allow()
    assert changes(before, city.state()) == []


@pytest.mark.parametrize("word", [word for word in RUSTLOG_ROWS if word not in ("CreateTopic", "ListTopics")])
def test_rustlog_request_about_what_is_missing_and_what_is_forbidden_is_one_answer(
    city: City, doors: Doors, word: str
) -> None:
    fields, _ = RUSTLOG_ROWS[word]
    kind = word.partition(" ")[0]
    city.allow()
    forbidden = json.dumps(doors.rustlog_says(kind, **fields))
    missing = {"topic": "ordres"} | ({"group_id": "byuers"} if "group_id" in fields else {})
    absent = json.dumps(doors.rustlog_says(kind, **(fields | missing)))
    assert forbidden.replace("orders", "ordres").replace("buyers", "byuers") == absent


# -- the same at every door ------------------------------------------------------------------------


def _write(doors: Doors) -> tuple[bool, bool, bool]:
    data = [{"name": "a.t", "partition_data": [{"index": 0, "records": batch(b"x")}]}]
    answered = doors.kafka.say(ApiKey.PRODUCE, 8, {"acks": -1, "timeout_ms": 60_000, "topic_data": data})
    return (
        not answered.errors,
        doors.iggy.status(Code.SEND_MESSAGES, send("a", "t", to_partition(0), message(b"x"))) == 0,
        "Produce" in doors.rustlog_says("Produce", topic="a.t", partition=0, records=[[1]]),
    )


def _read(doors: Doors) -> tuple[bool, bool, bool]:
    partitions = [{"partition": 0, "fetch_offset": 0, "partition_max_bytes": 100}]
    topics = [{"topic": "a.t", "partitions": partitions}]
    answered = doors.kafka.say(ApiKey.FETCH, 4, {"max_bytes": 100, "topics": topics})
    return (
        not answered.errors,
        doors.iggy.status(Code.POLL_MESSAGES, poll(consumer(1), "a", "t")) == 0,
        "Fetch" in doors.rustlog_says("Fetch", topic="a.t", partition=0, offset=0, max_bytes=100),
    )


def _create(doors: Doors) -> tuple[bool, bool, bool]:
    topics = [{"name": "a.kafka", "num_partitions": 1, "replication_factor": 1}]
    answered = doors.kafka.say(ApiKey.CREATE_TOPICS, 4, {"topics": topics, "timeout_ms": 60_000})
    exists = {("topics.error_code", ErrorCode.TOPIC_ALREADY_EXISTS.value)}
    iggy = doors.iggy.status(Code.CREATE_TOPIC, new_topic("a", "iggy"))
    rustlog = doors.rustlog_says("CreateTopic", topic="a.rustlog", partitions=1)
    return (
        answered.errors <= exists,
        iggy != UNAUTHORIZED,
        "CreateTopic" in rustlog or "exists" in json.dumps(rustlog),
    )


ACTS: Final[Mapping[str, Callable[[Doors], tuple[bool, bool, bool]]]] = {
    "write": _write,
    "read": _read,
    "create": _create,
}
OPERATIONS: Final = (
    Operation.ALL,
    Operation.READ,
    Operation.WRITE,
    Operation.CREATE,
    Operation.DELETE,
    Operation.ALTER,
    Operation.DESCRIBE,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
)


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize(
    "pattern", [("*", PatternType.LITERAL), ("a.", PatternType.PREFIXED), ("b", PatternType.PREFIXED)]
)
def test_every_door_says_the_same_to_the_same_person(
    city: City, doors: Doors, act: str, pattern: tuple[str, PatternType]
) -> None:
    """Each right by itself, given and then denied again by a list of all."""
    met = set()
    for operation in OPERATIONS:
        city.allow()
        entry = Right(operation, ResourceType.TOPIC).entry(Permission.ALLOW)
        entry = entry._replace(resource_name=pattern[0], pattern_type=pattern[1])
        city.execute(CreateAcls([entry]))
        answers = ACTS[act](doors)
        assert len(set(answers)) == 1, (operation, answers)
        met.add(answers[0])
        denial = Right(Operation.ALL, ResourceType.TOPIC, "*").entry(Permission.DENY)
        city.execute(CreateAcls([denial]))
        assert not any(ACTS[act](doors)), operation
    assert met == ({False} if pattern[0] == "b" else {False, True})


def test_names_of_rustlog_rows_are_those_of_the_city(city: City, doors: Doors) -> None:
    """With every right they are carried out: the refusals above are no mistakes of the test."""
    city.allow(*EVERYTHING)
    assert [
        word
        for word, (fields, _) in RUSTLOG_ROWS.items()
        if is_refused(word.partition(" ")[0], doors.rustlog_says(word.partition(" ")[0], **fields))
    ] == []


def test_iggy_commands_are_not_refused_to_who_has_every_right_by_lists(city: City, doors: Doors) -> None:
    city.allow(*EVERYTHING)
    last = (Code.DELETE_TOPIC, Code.DELETE_STREAM)
    order = [*(code for code in GATED if code not in last), *last]
    assert [code for code in order if doors.iggy.status(code, ROWS[code][1]) == UNAUTHORIZED] == []
