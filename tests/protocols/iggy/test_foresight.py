"""What is made ready for a poll is what it would have read, or is not used (002.8, 002.17; R9, S7, S11)."""

import struct
import threading
from typing import Any

import pytest

from tests.core.inhabited import InhabitedWorld
from tests.protocols.iggy.conversing import Conversing
from tests.protocols.iggy.raw_client import (
    LAST,
    NEXT,
    OFFSET,
    RawClient,
    consumer,
    long_text,
    message,
    name,
    poll,
    request,
    send,
    text,
    to_partition,
)
from trivium.core.caller import Caller
from trivium.core.commands import streams
from trivium.core.commands.command import Command, Engine, Reply
from trivium.core.commands.records import Fetch
from trivium.core.commands.stream_groups import BeginPoll, Consumer
from trivium.core.commands.topics import DeleteRecords, DeleteRecordsPart
from trivium.core.commands.users import CreateUser, UpdatePermissions
from trivium.core.users.permissions import GlobalPermissions, Permissions
from trivium.protocols.iggy.code import Code
from trivium.protocols.iggy.commands import polling
from trivium.protocols.iggy.foresight import STRETCH_BYTES_MAX, Foresight, Ready, Stretch
from trivium.records.iggy import PolledMessages

MAY_POLL = Permissions(GlobalPermissions(poll_messages=True, send_messages=True))
COUNT = 10
SECONDS_MAX = 60


class Watched:
    """The engine, and how often the log was read."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.reads = 0
        self.late: list[Any] | None = None

    def execute(self, command: Command[Any], caller: Caller, reply: Reply[Any]) -> None:
        self.reads += isinstance(command, Fetch)
        if self.late is not None and isinstance(command, Fetch):
            self.late.append(lambda: self._engine.execute(command, caller, reply))
        else:
            self._engine.execute(command, caller, reply)


class Reader:
    """Ann polls ``t``, ten messages at a time; the log has a hundred."""

    def __init__(self) -> None:
        self.world = InhabitedWorld()
        self.root = self.world.found()
        self.world.ask(streams.CreateStreamTopic("default", "t", 1), self.root)
        self.world.ask(CreateUser("ann", "secret", permissions=MAY_POLL), self.root)
        self.talk = Conversing(self.world)
        self.session = self.talk.session
        self.session.client.caller = self.world.log_in("ann", "secret")
        self.watched = Watched(self.session.protocol.engine)
        self.session.protocol.engine = self.watched
        self.write(0, 100)

    def write(self, first: int, end: int) -> None:
        messages = [message(b"<message %d>" % number) for number in range(first, end)]
        frame = request(Code.SEND_MESSAGES, send("default", "t", to_partition(0), *messages))
        assert self.talk.statuses(frame) == [0]

    def poll(self, offset: int, count: int = COUNT, kind: int = OFFSET, *, commits: bool = False) -> bytes:
        """The answer, status first."""
        body = poll(consumer(), "default", "t", 0, (kind, offset), count, commits)
        return self.talk.answer(request(Code.POLL_MESSAGES, body))

    def poll_twice(self) -> None:
        for offset in (0, COUNT):
            self.poll(offset)

    def reads_of(self, offset: int, **words: Any) -> tuple[bytes, int]:
        """The answer to a poll, and how often the log was read for it."""
        before = self.watched.reads
        return self.poll(offset, **words), self.watched.reads - before


@pytest.fixture
def reader() -> Reader:
    return Reader()


def test_poll_that_goes_on_is_answered_with_what_was_made_ready(reader: Reader) -> None:
    """Byte for byte what the log gives."""
    reader.poll_twice()
    assert reader.session.has_foresight
    reader.session.prepare()
    answer, reads = reader.reads_of(2 * COUNT)
    assert reads == 0
    assert answer == Reader().poll(2 * COUNT)
    assert b"<message 29>" in answer


def test_reader_that_goes_on_is_always_a_stretch_ahead_and_reads_everything_once(reader: Reader) -> None:
    answers = b""
    for offset in range(0, 100, COUNT):
        answers += reader.poll(offset)
        if reader.session.has_foresight:
            reader.session.prepare()
    assert [answers.count(b"<message %d>" % number) for number in range(10, 100)] == [1] * 90
    assert reader.watched.reads == 100 // COUNT


def test_consumer_that_stores_its_offset_is_foreseen_too(reader: Reader) -> None:
    for _ in range(2):
        reader.poll(0, kind=NEXT, commits=True)
    reader.session.prepare()
    answer, reads = reader.reads_of(0, kind=NEXT, commits=True)
    assert reads == 0
    assert b"<message 20>" in answer
    assert b"<message 30>" in reader.poll(0, kind=NEXT)


@pytest.mark.parametrize("offsets", [(0,), (0, 20), (0, 0), (50, 0), (80, 90), (85, 95)])
def test_nothing_is_foreseen_without_two_stretches_side_by_side_and_a_third_behind_them(
    reader: Reader, offsets: tuple[int, ...]
) -> None:
    for offset in offsets:
        reader.poll(offset)
    assert not reader.session.has_foresight


@pytest.mark.parametrize(
    ("offset", "words"), [(21, {}), (20, {"count": 5}), (20, {"count": 11}), (0, {"kind": LAST})]
)
def test_poll_of_anything_else_reads_the_log(reader: Reader, offset: int, words: dict[str, Any]) -> None:
    reader.poll_twice()
    reader.session.prepare()
    answer, reads = reader.reads_of(offset, **words)
    assert reads == 1
    assert answer == Reader().poll(offset, **words)
    # What was ready has been let go.
    assert reader.session.protocol.ready.size_bytes == 0


def test_rights_are_asked_for_each_poll_whatever_is_ready(reader: Reader) -> None:
    """S7, S11."""
    reader.poll_twice()
    reader.session.prepare()
    assert reader.session.protocol.ready.size_bytes
    reader.world.ask(UpdatePermissions("ann", Permissions(GlobalPermissions())), reader.root)
    assert struct.unpack_from("<I", reader.poll(2 * COUNT)) == (41,)


def test_records_that_were_deleted_are_not_answered(reader: Reader) -> None:
    reader.poll_twice()
    reader.session.prepare()
    reader.world.ask(DeleteRecords([DeleteRecordsPart("t", 0, 25)]), reader.root)
    answer = reader.poll(2 * COUNT)
    assert b"<message 24>" not in answer
    assert b"<message 25>" in answer


@pytest.mark.parametrize("change", ["purge", "topic", "partition"])
def test_topic_made_anew_is_read_anew(reader: Reader, change: str) -> None:
    """The same name, partition and offsets: and other records."""
    reader.poll_twice()
    reader.session.prepare()
    if change == "purge":
        assert reader.world.ask(streams.PurgeStreamTopic("default", "t"), reader.root) is None
    elif change == "topic":
        reader.world.ask(streams.DeleteStreamTopic("default", "t"), reader.root)
        reader.world.ask(streams.CreateStreamTopic("default", "t", 1), reader.root)
    else:
        reader.world.ask(streams.DropPartitions("default", "t", 1), reader.root)
        reader.world.ask(streams.AddPartitions("default", "t", 1), reader.root)
    reader.write(1_000, 1_100)
    answer, reads = reader.reads_of(2 * COUNT)
    assert reads == 1
    assert b"<message 1020>" in answer
    assert b"<message 20>" not in answer


def test_who_is_counted_is_not_worked_for_ahead(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody has asked for can be charged to nobody."""
    reader.poll_twice()
    monkeypatch.setattr(type(reader.session), "is_budgeted", property(lambda _: True))
    before = reader.watched.reads
    reader.session.prepare()
    assert reader.watched.reads == before


def test_read_that_the_disk_is_late_with_is_no_answer_to_a_poll_that_came_first(reader: Reader) -> None:
    """R9."""
    reader.poll_twice()
    reader.watched.late = []
    reader.session.prepare()
    late, reader.watched.late = reader.watched.late, None
    assert b"<message 20>" in reader.poll(2 * COUNT)
    for finish in late:
        finish()
    assert reader.session.protocol.ready.size_bytes == 0
    assert b"<message 30>" in reader.poll(3 * COUNT)


def test_read_that_ends_while_a_poll_waits_for_its_own_is_no_answer_to_the_next_one(reader: Reader) -> None:
    """R9: both wait for the disk, and what was foreseen comes first. The next poll wants other messages."""
    reader.poll_twice()
    log = reader.world.storage.log("t", 0)
    log.far = {2 * COUNT}
    reader.session.prepare()
    log.far = {2 * COUNT}
    assert reader.poll(2 * COUNT) == b""
    foreseen, polled = log.summoned
    foreseen()
    polled()
    assert b"<message 20>" in b"".join(map(bytes, reader.session.data_to_send()))
    assert b"<message 30>" in reader.poll(3 * COUNT)


def test_nothing_is_foreseen_where_compaction_takes_records(reader: Reader) -> None:
    partition = reader.world.cluster.partition("t", 0)
    partition.rules = partition.rules._replace(compacted=True)
    reader.poll_twice()
    assert not reader.session.has_foresight
    assert reader.reads_of(2 * COUNT)[1] == 1


@pytest.mark.parametrize("code", [Code.LOGOUT_USER, Code.LOGIN_USER])
def test_who_comes_after_another_on_a_connection_asks_for_nothing_of_theirs(
    reader: Reader, code: Code
) -> None:
    """S11, S15: no line of the audit names somebody for what nobody has asked."""
    reader.poll_twice()
    reader.world.ask(CreateUser("bob", "secret"), reader.root)
    credentials = (
        text("bob") + text("secret") + long_text("0.10.0") + long_text("") if code is Code.LOGIN_USER else b""
    )
    assert reader.talk.statuses(request(code, credentials)) == [0]
    before = reader.watched.reads
    reader.session.prepare()
    assert reader.watched.reads == before


def test_client_that_has_gone_leaves_nothing_ready(reader: Reader) -> None:
    reader.poll_twice()
    reader.session.prepare()
    reader.session.close()
    assert reader.session.protocol.ready.size_bytes == 0


def test_request_in_between_changes_nothing(reader: Reader) -> None:
    reader.poll_twice()
    reader.session.prepare()
    assert reader.talk.statuses(request(Code.PING)) == [0]
    assert reader.talk.statuses(request(Code.GET_TOPIC, name("default") + name("t"))) != []
    assert reader.reads_of(2 * COUNT)[1] == 0


def test_broker_that_is_idle_makes_the_next_stretch_ready(
    client: RawClient, stream: str, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through a socket: nobody asks for it but the connection."""
    is_ready = threading.Event()
    put = Ready.put

    def seen(ready: Ready, whose: Foresight, of: Stretch, found: PolledMessages) -> None:
        put(ready, whose, of, found)
        is_ready.set()

    monkeypatch.setattr(Ready, "put", seen)
    sent = [message(b"%d" % number) for number in range(4 * COUNT)]
    client.get(Code.SEND_MESSAGES, send(stream, topic, to_partition(0), *sent))
    for number in range(4):
        body = poll(consumer(), stream, topic, 0, (OFFSET, number * COUNT), COUNT)
        found = client.get(Code.POLL_MESSAGES, body)
        assert [int(each["payload"]) for each in found["messages"]] == list(
            range(number * COUNT, (number + 1) * COUNT)
        )
        if number == 1:
            assert is_ready.wait(SECONDS_MAX)


# -- bounds ------------------------------------------------------------------------------------------


def stretch(offset: int) -> Stretch:
    return Stretch("t", 0, 1, offset, 1, 64, bytes(16))


def messages(offset: int, size_bytes: int) -> PolledMessages:
    return PolledMessages(bytearray(size_bytes), 1, offset, offset + 1)


def expecting(ready: Ready) -> Foresight:
    foresight = Foresight(ready)
    foresight.has_read(stretch(0), [messages(0, 1)], 100)
    foresight.has_read(stretch(1), [messages(1, 1)], 100)
    return foresight


def test_all_that_is_ready_stays_within_its_limit_and_the_oldest_goes() -> None:
    ready = Ready(bytes_max=250)
    readers = [expecting(ready) for _ in range(3)]
    for each in readers:
        each.put(stretch(2), messages(2, 100))
        assert ready.size_bytes <= 250
    assert [each.take(stretch(2), 100) is not None for each in readers] == [False, True, True]
    assert ready.size_bytes == 0


def test_stretch_that_takes_long_to_make_is_not_foreseen() -> None:
    foresight = expecting(Ready())
    assert foresight.wanted == stretch(2)
    foresight.has_read(stretch(2), [messages(2, STRETCH_BYTES_MAX + 1)], 100)
    assert foresight.wanted is None


def test_stretch_that_turns_out_to_be_large_is_not_kept(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read before says little: compressed records may become a thousand times as large."""
    monkeypatch.setattr(polling, "STRETCH_BYTES_MAX", 200)
    reader.poll_twice()
    reader.session.prepare()
    assert reader.session.protocol.ready.size_bytes == 0
    assert b"<message 29>" in reader.poll(2 * COUNT)


def test_stretch_that_reaches_into_what_is_not_decided_is_not_taken() -> None:
    """Only committed records are seen, whatever was believed before."""
    foresight = expecting(Ready())
    foresight.put(stretch(2), messages(2, 100))
    assert foresight.take(stretch(2), 2) is None


def test_begin_poll_tells_lives_of_a_partition_apart() -> None:
    reader = Reader()
    ask = BeginPoll("default", "t", Consumer(0))
    first = reader.world.ask(ask, reader.root).life
    reader.world.ask(streams.PurgeStreamTopic("default", "t"), reader.root)
    assert reader.world.ask(ask, reader.root).life != first
