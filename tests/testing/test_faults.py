"""Faults as tests ask for them: which requests they strike, how often, and what is said to a wrong one."""

import re

import pytest

from trivium.messages.errors import ErrorCode
from trivium.testing.faults import Delay, Disconnect, Error, Faults, When


@pytest.fixture
def faults() -> Faults:
    return Faults()


def test_fault_with_times_strikes_so_often_and_is_spent(faults: Faults) -> None:
    fault = faults.error("Produce", "NOT_LEADER_OR_FOLLOWER", times=2)
    assert [fault.strikes() for _ in range(4)] == [True, True, False, False]
    assert (fault.fired, fault.is_spent) == (2, True)


def test_fault_with_skip_lets_the_first_pass(faults: Faults) -> None:
    fault = faults.disconnect("Fetch", times=1, skip=2)
    assert [fault.strikes() for _ in range(4)] == [False, False, True, False]
    assert fault.fired == 1


def test_fault_without_times_strikes_until_it_is_cleared(faults: Faults) -> None:
    fault = faults.delay("Fetch", 0.1)
    assert all(fault.strikes() for _ in range(100))
    assert faults.active == (fault,)
    faults.clear()
    assert not faults.active


def test_faults_are_kept_in_the_order_they_were_asked_for(faults: Faults) -> None:
    first = faults.delay("Fetch", 1)
    second = faults.disconnect("fetch", when="after")
    third = faults.error("FETCH", code=1, topic="t")
    assert [fault.effect for fault in faults.active] == [
        Delay(1),
        Disconnect(When.AFTER),
        Error(ErrorCode.OFFSET_OUT_OF_RANGE),
    ]
    faults.remove(second)
    assert faults.active == (first, third)


def test_fault_of_an_unknown_api_is_refused_with_the_nearest(faults: Faults) -> None:
    with pytest.raises(
        ValueError, match=r"^Prodce is no API that this broker serves; the nearest is Produce\.$"
    ):
        faults.delay("Prodce", 1)


@pytest.mark.parametrize(
    ("protocol", "api", "sentence"),
    [
        (
            "iggy",
            "SEND",
            "SEND is no command of Iggy's that this broker serves; the nearest is SEND_MESSAGES.",
        ),
        (
            "rustlog",
            "Prodce",
            "Prodce is no request of RustLog's that this broker serves; the nearest is Produce.",
        ),
        ("kafak", "Produce", "kafak is no protocol of this broker; the nearest is kafka."),
    ],
)
def test_fault_of_another_protocol_is_asked_for_in_its_words(
    faults: Faults, protocol: str, api: str, sentence: str
) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        faults.delay(api, 1, protocol=protocol)


@pytest.mark.parametrize(
    ("protocol", "api", "code", "sentence"),
    [
        (
            "iggy",
            "PING",
            "INVALID_OFSET",
            "INVALID_OFSET is no error code of Iggy's; the nearest is INVALID_OFFSET.",
        ),
        ("iggy", "PING", 1_000_000, "Iggy has no error code 1000000."),
        ("iggy", "PING", 0, "OK is no error; to serve a request, inject nothing."),
        (
            "rustlog",
            "Ping",
            "NOT_FOUND",
            "NOT_FOUND is no error of RustLog's; the nearest is TOPIC_NOT_FOUND.",
        ),
        ("rustlog", "Ping", 1, "RustLog's errors have names, and no numbers such as 1."),
    ],
)
def test_fault_of_another_protocol_with_an_unknown_error_is_refused(
    faults: Faults, protocol: str, api: str, code: str | int, sentence: str
) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        faults.error(api, code, protocol=protocol)


def test_fault_with_an_unknown_code_is_refused_with_the_nearest(faults: Faults) -> None:
    with pytest.raises(ValueError, match=r"the nearest is NOT_LEADER_OR_FOLLOWER\.$"):
        faults.error("Produce", "not_leader")
    with pytest.raises(ValueError, match=r"^Kafka has no error code 4711\.$"):
        faults.error("Produce", 4711)
    with pytest.raises(ValueError, match="NONE is no error"):
        faults.error("Produce", "NONE")


@pytest.mark.parametrize("api", ["Heartbeat", "FindCoordinator", "ApiVersions", "InitProducerId"])
def test_fault_of_a_topic_for_requests_without_one_is_refused(faults: Faults, api: str) -> None:
    with pytest.raises(ValueError, match=f"^A {api} request names no topic; leave out topic='t'"):
        faults.delay(api, 1, topic="t")


@pytest.mark.parametrize(
    ("protocol", "api"),
    [("iggy", "PING"), ("iggy", "GET_TOPICS"), ("iggy", "PURGE_STREAM"), ("rustlog", "Ping")],
)
def test_fault_of_a_topic_is_refused_for_requests_of_others_without_one(
    faults: Faults, protocol: str, api: str
) -> None:
    with pytest.raises(ValueError, match=f"^A {api} request names no topic"):
        faults.delay(api, 1, protocol=protocol, topic="t")


@pytest.mark.parametrize(
    "api", ["Produce", "Fetch", "Metadata", "OffsetCommit", "ListOffsets", "CreateTopics"]
)
def test_fault_of_a_topic_is_taken_where_requests_name_some(faults: Faults, api: str) -> None:
    assert faults.delay(api, 1, topic="t").topic == "t"


def test_fault_with_numbers_that_cannot_be_is_refused(faults: Faults) -> None:
    with pytest.raises(ValueError, match="at least once, not 0 times"):
        faults.delay("Fetch", 1, times=0)
    with pytest.raises(ValueError, match="skip=-1"):
        faults.delay("Fetch", 1, skip=-1)
    with pytest.raises(ValueError, match="A delay of -1 seconds"):
        faults.delay("Fetch", -1)
    with pytest.raises(ValueError, match='not "during"'):
        faults.disconnect("Fetch", when="during")
    assert not faults.active
