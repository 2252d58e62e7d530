"""A mistake of ours while an answer is made: its client is not left waiting, the others do not notice, and
the log says where.

What is broken here on purpose is the last step of an answer, of one request only, or what the core does
before it. An answer that fails at once and one that fails later, set off by somebody else or by another
thread, take different ways.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.contract.rustlog_door import RustLogClient
from tests.protocols.iggy.raw_client import RawClient, long_text, request, text
from tests.server.wire import FETCH_VERSION, PRODUCE_VERSION, Peer, create_topic, fetch, framed, produce
from trivium.core.fetch import Fetching
from trivium.core.produce import _WaitingAcks
from trivium.core.timers import Timer
from trivium.core.users.attempts import Attempts
from trivium.messages.api import ApiKey
from trivium.messages.api.api_versions import ApiVersionsRequest
from trivium.protocols.iggy.code import Code
from trivium.protocols.iggy.session import IggySession
from trivium.protocols.kafka.session import _Answer
from trivium.protocols.rustlog import json_dialect
from trivium.protocols.rustlog.messages import PingResponse, ProduceResponse
from trivium.server.committer import Committer
from trivium.server.event_log import TextLines, events
from trivium.server.passwords import ArgonPasswords
from trivium.testing import Broker

WAIT_MS = 600_000
"""Longer than any test may take: who is told something was told because of what happened."""


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Iterator[Broker]:
    monkeypatch.setattr(events, "_told", {})  # what another test has caused is no news to this one
    caplog.set_level(logging.ERROR, logger="trivium")
    with Broker(
        settings={"durability": "fsync"}, listen_iggy="127.0.0.1:0", listen_rustlog="127.0.0.1:0"
    ) as started:
        yield started


def break_when(
    monkeypatch: pytest.MonkeyPatch, owner: object, name: str, is_meant: Callable[..., bool]
) -> None:
    whole = getattr(owner, name)

    def broken(*arguments: Any) -> Any:
        if is_meant(*arguments):
            raise RuntimeError("a bolt is loose")
        return whole(*arguments)

    monkeypatch.setattr(owner, name, broken)


def the_failure(caplog: pytest.LogCaptureFixture) -> logging.LogRecord:
    """The one line that was written, if it shows where the mistake is."""
    (record,) = [record for record in caplog.records if record.levelno >= logging.ERROR]
    head, *where = TextLines().format(record).splitlines()
    assert record.getMessage() == "request failed"
    assert 'error="RuntimeError: a bolt is loose"' in head
    assert any("in broken" in line for line in where)
    assert all(line.startswith("    ") for line in where)
    return record


def asked_for(record: logging.LogRecord) -> str:
    name: str = record.__dict__["fields"]["request"]
    return name


# -- Kafka -------------------------------------------------------------------------------------------


def test_kafka_answer_that_fails_later_ends_that_connection_and_not_the_one_that_set_it_off(
    broker: Broker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    break_when(monkeypatch, _Answer, "give", lambda turn, _answer: turn._api.key == ApiKey.FETCH)
    create_topic(broker.bootstrap, "t")
    with Peer(broker.bootstrap) as waiting, Peer(broker.bootstrap) as other:
        # Sent as one, begun as one: with the first answer the second request waits.
        asked = fetch("t", max_wait_ms=WAIT_MS)
        waiting.socket.sendall(framed(ApiVersionsRequest(), 0, 1) + framed(asked, FETCH_VERSION, 2))
        assert waiting.frame()
        other.ask(produce("t", b"x"), PRODUCE_VERSION)
        assert other.answer(ApiKey.PRODUCE, PRODUCE_VERSION)
        assert waiting.is_closed()
        assert other.is_served()
    assert asked_for(the_failure(caplog)) == f"Fetch v{FETCH_VERSION}"


def test_kafka_answer_that_fails_at_once_ends_the_connection_after_the_answers_before_it(
    broker: Broker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    break_when(monkeypatch, _Answer, "give", lambda turn, _answer: turn._api.key == ApiKey.FETCH)
    create_topic(broker.bootstrap, "t")
    with Peer(broker.bootstrap) as peer:
        peer.ask(produce("t", b"x"), PRODUCE_VERSION)
        peer.ask(fetch("t"), FETCH_VERSION)
        assert peer.answer(ApiKey.PRODUCE, PRODUCE_VERSION)
        assert peer.is_closed()
    assert asked_for(the_failure(caplog)) == f"Fetch v{FETCH_VERSION}"


# -- Iggy --------------------------------------------------------------------------------------------


def test_iggy_answer_that_fails_later_ends_the_connection(
    broker: Broker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A password is judged by another thread, unless it is known to be right."""
    break_when(
        monkeypatch, IggySession, "_give", lambda session, *_: session._turns[0].code == Code.LOGIN_USER
    )
    with RawClient(broker.address("iggy")) as client:
        credentials = text("iggy") + text("wrong") + long_text("") + long_text("")
        client.send_raw(request(Code.LOGIN_USER, credentials))
        assert client.is_closed()
    assert asked_for(the_failure(caplog)) == "LOGIN_USER"


def test_iggy_answer_that_fails_at_once_ends_the_connection(
    broker: Broker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    break_when(monkeypatch, IggySession, "_answer", lambda _session, _payload: True)
    with RawClient(broker.address("iggy")) as client:
        client.send_raw(request(Code.PING))
        assert client.is_closed()
    assert asked_for(the_failure(caplog)) == "PING"


# -- RustLog -----------------------------------------------------------------------------------------


def test_rustlog_answer_that_fails_later_ends_the_connection(
    broker: Broker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A produce is answered when it is on the disk."""
    break_when(monkeypatch, json_dialect, "write", lambda response: isinstance(response, ProduceResponse))
    client = RustLogClient(broker.address("rustlog"))
    client.create_topic("t", 1)
    with pytest.raises(EOFError):
        client.produce("t", 0, [b"x"])
    client.wire.socket.close()
    assert asked_for(the_failure(caplog)) == "Produce"


def test_rustlog_answer_that_fails_at_once_ends_the_connection(
    broker: Broker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    break_when(monkeypatch, json_dialect, "write", lambda response: isinstance(response, PingResponse))
    client = RustLogClient(broker.address("rustlog"))
    with pytest.raises(EOFError):
        client.ping()
    client.wire.socket.close()
    assert asked_for(the_failure(caplog)) == "Ping"


# -- the core, later -----------------------------------------------------------------------------------


def wrong_login() -> bytes:
    return request(Code.LOGIN_USER, text("iggy") + text("wrong") + long_text("") + long_text(""))


def test_mistake_after_a_password_was_checked_ends_the_connection(
    broker: Broker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    break_when(monkeypatch, Attempts, "failed", lambda *_: True)
    with RawClient(broker.address("iggy")) as client:
        client.send_raw(wrong_login())
        assert client.is_closed()
    assert asked_for(the_failure(caplog)) == "LogIn"


def test_mistake_while_a_password_is_checked_ends_the_connections_of_all_who_wait_for_that(
    broker: Broker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Both claim the same, which is checked once; and the next one who claims it is not left waiting."""
    is_second_there = threading.Event()

    def check(*_: object) -> bool:
        return is_second_there.wait(60)

    break_when(monkeypatch, ArgonPasswords, "_verify", check)
    verify = ArgonPasswords.verify
    asked = []

    def counted(*arguments: Any) -> None:
        verify(*arguments)
        asked.append(1)
        if len(asked) == 2:
            is_second_there.set()

    monkeypatch.setattr(ArgonPasswords, "verify", counted)
    with RawClient(broker.address("iggy")) as one, RawClient(broker.address("iggy")) as other:
        one.send_raw(wrong_login())
        other.send_raw(wrong_login())
        assert one.is_closed()
        assert other.is_closed()
    with RawClient(broker.address("iggy")) as late:
        late.send_raw(wrong_login())
        assert late.is_closed()
    assert asked_for(the_failure(caplog)) == "LogIn"


def test_mistake_after_a_sync_ends_that_connection_and_others_of_the_round_are_answered(
    broker: Broker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Three writes of one round, the first of them for a client that gets no answer."""
    create_topic(broker.bootstrap, "t")
    begin = Committer._begin

    def begin_when_three_wait(committer: Committer) -> None:
        if len(committer._commit._waiters) >= 3:
            begin(committer)
        else:
            committer._loop.call_later(0.001, begin_when_three_wait, committer)

    monkeypatch.setattr(Committer, "_begin", begin_when_three_wait)
    told = []

    def is_first(*_: object) -> bool:
        told.append(1)
        return len(told) == 1

    break_when(monkeypatch, _WaitingAcks, "_synced", is_first)
    with Peer(broker.bootstrap) as one, Peer(broker.bootstrap) as two, Peer(broker.bootstrap) as three:
        peers = {one, two, three}
        for peer in peers:
            peer.ask(produce("t", b"x", acks=-1), PRODUCE_VERSION)
        answered = {peer for peer in peers if was_answered(peer)}
        assert len(answered) == 2
        monkeypatch.undo()
        assert all(peer.is_served() for peer in answered)
    assert asked_for(the_failure(caplog)) == "Produce"


def was_answered(peer: Peer) -> bool:
    try:
        return bool(peer.frame())
    except EOFError:
        return False


def test_mistake_when_records_arrive_ends_the_connection_of_the_reader(
    broker: Broker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Two readers wait for the same record; what happens to one is no matter of the other's."""
    create_topic(broker.bootstrap, "t")
    read = []

    def is_first_that_is_read_again(*arguments: Any) -> bool:
        if len(arguments) > 4:
            read.append(arguments)
        return len(arguments) > 4 and len(read) == 1

    break_when(monkeypatch, Fetching, "read", is_first_that_is_read_again)
    with Peer(broker.bootstrap) as one, Peer(broker.bootstrap) as two, Peer(broker.bootstrap) as writer:
        for peer in (one, two):
            asked = fetch("t", max_wait_ms=WAIT_MS)
            peer.socket.sendall(framed(ApiVersionsRequest(), 0, 1) + framed(asked, FETCH_VERSION, 2))
            assert peer.frame()
        writer.ask(produce("t", b"x"), PRODUCE_VERSION)
        assert writer.answer(ApiKey.PRODUCE, PRODUCE_VERSION)
        assert not was_answered(one)
        assert was_answered(two)
    assert asked_for(the_failure(caplog)) == "Fetch"


def test_mistake_of_one_timer_stops_no_other(
    broker: Broker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """All deadlines of a node are one timer of its loop, which is set again whatever happens."""
    create_topic(broker.bootstrap, "t")
    fired = []

    def is_first(*_: object) -> bool:
        fired.append(1)
        return len(fired) == 1

    with Peer(broker.bootstrap) as peer, Peer(broker.bootstrap) as other:
        break_when(monkeypatch, Timer, "fire", is_first)
        peer.ask(fetch("t", max_wait_ms=10), FETCH_VERSION)
        other.ask(fetch("t", max_wait_ms=200), FETCH_VERSION)
        assert other.answer(ApiKey.FETCH, FETCH_VERSION)
