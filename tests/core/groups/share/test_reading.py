"""Reading in share groups: sessions, locks, acknowledgements, long polls (KIP-932, KIP-1206, KIP-1222)."""

from collections.abc import Sequence

import pytest

from tests.core.batches import batch
from tests.core.fakes import NOW_MS
from tests.core.groups.share.sharing import LOCK_MS, Mark, Sharing, offsets
from tests.core.rights import Denying
from trivium.core.access import Operation, Resource
from trivium.core.commands.share_groups_reading import (
    Acknowledged,
    AcknowledgedPart,
    Acknowledgement,
    ShareAcknowledge,
    ShareFetch,
)
from trivium.core.faults import Fault
from trivium.records.control import EndTxnMarker, build_end_txn

ACCEPT, RELEASE, REJECT, RENEW = (
    Acknowledgement.ACCEPT,
    Acknowledgement.RELEASE,
    Acknowledgement.REJECT,
    Acknowledgement.RENEW,
)


@pytest.fixture
def sharing() -> Sharing:
    """A group with one member, that has read nothing yet."""
    sharing = Sharing()
    sharing.beat()
    return sharing


# -- records ---------------------------------------------------------------------------------------


def test_two_members_never_have_the_same_record(sharing: Sharing) -> None:
    sharing.write(5)
    sharing.write(5)
    assert offsets(sharing.fetch("m", max_records=3)) == [(offset, 1) for offset in range(5)]
    assert offsets(sharing.fetch("n", max_records=3)) == [(offset, 1) for offset in range(5, 10)]
    assert offsets(sharing.fetch("m", 1)) == []


def test_answer_has_the_batches_of_what_was_acquired_and_no_others(sharing: Sharing) -> None:
    for _ in range(3):
        sharing.write(2)
    [part] = sharing.fetch("m", max_records=2, is_strict=True).parts
    assert sum(map(len, part.runs)) == len(batch(b"v", b"v"))
    sharing.acknowledge("m", 1, (0, 0, RELEASE))
    [part] = sharing.fetch("n").parts
    assert sum(map(len, part.runs)) == 3 * len(batch(b"v", b"v"))


def test_record_that_is_released_is_given_out_again_until_its_last_delivery(sharing: Sharing) -> None:
    sharing.write(1)
    sharing.fetch("m", max_records=0)
    for count in range(1, 6):
        assert offsets(sharing.fetch("m", 2 * count - 1)) == [(0, count)]
        assert sharing.acknowledge("m", 2 * count, (0, 0, RELEASE)).parts[0].fault is None
    assert offsets(sharing.fetch("m", 11)) == []
    assert sharing.start_and_lag() == (1, 0)


def test_record_that_nobody_speaks_of_comes_back_when_its_lock_is_over(sharing: Sharing) -> None:
    sharing.write(2)
    sharing.fetch("m")
    sharing.world.clock.jump(10 * LOCK_MS)
    sharing.pass_time(LOCK_MS - 1)
    assert offsets(sharing.fetch("n")) == []
    sharing.pass_time(1)
    assert offsets(sharing.fetch("n", 1)) == [(0, 2), (1, 2)]
    assert sharing.acknowledge("m", 1, (0, 1, ACCEPT)).parts[0].fault is Fault.INVALID_RECORD_STATE
    assert sharing.acknowledge("n", 2, (0, 1, ACCEPT)).parts[0].fault is None


def test_lock_that_is_renewed_lasts_longer(sharing: Sharing) -> None:
    sharing.write(2)
    sharing.fetch("m")
    sharing.pass_time(LOCK_MS - 1)
    assert sharing.acknowledge("m", 1, (0, 0, RENEW), renews=True).parts[0].fault is None
    sharing.pass_time(LOCK_MS - 1)
    assert offsets(sharing.fetch("n")) == [(1, 2)]
    assert sharing.acknowledge("m", 2, (0, 0, ACCEPT)).parts[0].fault is None


def test_renewal_where_nobody_may_renew_is_refused(sharing: Sharing) -> None:
    sharing.write(1)
    sharing.fetch("m")
    assert sharing.acknowledge("m", 1, (0, 0, RENEW)).parts[0].fault is Fault.INVALID_REQUEST
    sharing.configure("g", "share.renew.acknowledge.enable", "false")
    refused = sharing.acknowledge("m", 2, (0, 0, RENEW), renews=True)
    assert refused.parts[0].fault is Fault.INVALID_REQUEST


def test_acknowledgements_of_a_request_count_together_or_not_at_all(sharing: Sharing) -> None:
    sharing.write(4)
    sharing.fetch("m")
    refused = sharing.acknowledge("m", 1, (0, 1, ACCEPT), (9, 9, ACCEPT))
    assert refused.parts[0].fault is Fault.INVALID_REQUEST
    assert sharing.start_and_lag() == (0, 4)
    assert sharing.acknowledge("m", 2, (0, 1, ACCEPT), (3, 3, REJECT)).parts[0].fault is None
    assert sharing.start_and_lag() == (2, 1)


@pytest.mark.parametrize(
    ("first", "last", "kinds"), [(1, 0, [1]), (0, 1, []), (0, 2, [1, 1]), (0, 1, [1, 5]), (0, 1, [-1])]
)
def test_acknowledgement_that_makes_no_sense_is_refused(
    sharing: Sharing, first: int, last: int, kinds: list[int]
) -> None:
    sharing.write(3)
    sharing.fetch("m")
    command = ShareAcknowledge("g", "m", 1, [AcknowledgedPart(sharing.part(), [(first, last, kinds)])])  # type: ignore[list-item]
    answer = sharing.world.execute(command, sharing.of("m"))
    assert answer.parts[0].fault is Fault.INVALID_REQUEST
    assert sharing.start_and_lag() == (0, 3)


@pytest.mark.parametrize("marks", [((0, 2, REJECT), (0, 2, ACCEPT)), ((3, 3, ACCEPT), (0, 1, ACCEPT))])
def test_acknowledgements_that_go_back_are_refused(sharing: Sharing, marks: Sequence[Mark]) -> None:
    sharing.write(4)
    sharing.fetch("m")
    assert sharing.acknowledge("m", 1, *marks).parts[0].fault is Fault.INVALID_REQUEST
    assert sharing.start_and_lag() == (0, 4)


def test_kinds_for_each_record_count_for_each(sharing: Sharing) -> None:
    sharing.write(4)
    sharing.fetch("m")
    part = AcknowledgedPart(sharing.part(), [(0, 3, [1, 2, 2, 3])])  # type: ignore[list-item]
    sharing.world.execute(ShareAcknowledge("g", "m", 1, [part]), sharing.of("m"))
    assert offsets(sharing.fetch("m", 2)) == [(1, 2), (2, 2)]


def test_so_many_records_may_be_on_their_way_and_no_more() -> None:
    sharing = Sharing({"group.share.partition.max.record.locks": "100"})
    sharing.beat()
    for _ in range(3):
        sharing.write(60)
    assert len(offsets(sharing.fetch("m", max_records=60))) == 60
    assert len(offsets(sharing.fetch("m", 1, max_records=60))) == 60
    assert offsets(sharing.fetch("m", 2)) == []
    sharing.acknowledge("m", 3, (0, 59, ACCEPT))
    assert len(offsets(sharing.fetch("m", 4))) == 60


# -- where a group begins --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reset", "expected"),
    [
        ("latest", []),
        ("earliest", [0, 1, 2, 3]),
        ("by_duration:PT1H", [2, 3]),
        ("by_duration:P1D", [0, 1, 2, 3]),
    ],
)
def test_group_begins_where_its_setting_says(reset: str, expected: list[int]) -> None:
    sharing = Sharing()
    sharing.configure("g", "share.auto.offset.reset", reset)
    sharing.write(0, data=batch(b"old", b"old", timestamp=NOW_MS - 2 * 3_600_000))
    sharing.write(0, data=batch(b"new", b"new", timestamp=NOW_MS - 1_000_000))
    sharing.beat()
    assert [offset for offset, _ in offsets(sharing.fetch())] == expected
    sharing.write(1)
    assert offsets(sharing.fetch("m", 1)) == [(4, 1)]


def test_group_that_began_at_the_end_misses_nothing_over_a_restart() -> None:
    """The first reader decides where a group begins, once and for good."""
    sharing = Sharing()
    sharing.configure("g", "share.auto.offset.reset", "latest")
    sharing.write(3)
    sharing.beat()
    assert offsets(sharing.fetch()) == []
    sharing.write(2)
    sharing.restart()
    assert offsets(sharing.fetch()) == [(3, 1), (4, 1)]


def test_records_that_were_deleted_are_passed_over(sharing: Sharing) -> None:
    for _ in range(3):
        sharing.write(2)
    sharing.fetch("m", max_records=2)
    sharing.world.log("t").delete_before(4, lambda _fault: None)
    assert offsets(sharing.fetch("m", 1)) == [(4, 1), (5, 1)]
    assert sharing.acknowledge("m", 2, (0, 1, ACCEPT)).parts[0].fault is None
    assert sharing.start_and_lag()[0] == 4


# -- transactions ----------------------------------------------------------------------------------


def _transaction(sharing: Sharing, producer_id: int, *, committed: bool) -> None:
    sharing.write(
        0,
        data=batch(
            b"x", b"x", producer_id=producer_id, producer_epoch=0, base_sequence=0, transactional=True
        ),
    )
    marker = EndTxnMarker(committed, 0)
    sharing.write(0, data=build_end_txn(marker, producer_id=producer_id, producer_epoch=0, timestamp=NOW_MS))


def test_markers_are_given_to_nobody(sharing: Sharing) -> None:
    _transaction(sharing, 7, committed=True)
    _transaction(sharing, 8, committed=False)
    sharing.write(1)
    assert [offset for offset, _ in offsets(sharing.fetch())] == [0, 1, 3, 4, 6]
    sharing.acknowledge("m", 1, (0, 1, ACCEPT), (3, 4, ACCEPT), (6, 6, ACCEPT))
    assert offsets(sharing.fetch("m", 2)) == []
    assert sharing.start_and_lag() == (7, 0)


def test_marker_between_records_that_are_done_with_hides_nothing_behind_it(sharing: Sharing) -> None:
    for producer_id in (7, 8):
        _transaction(sharing, producer_id, committed=True)
    sharing.fetch("m")
    sharing.acknowledge("m", 1, (0, 1, ACCEPT), (3, 4, ACCEPT))
    sharing.write(1)
    assert offsets(sharing.fetch("m", 2)) == [(6, 1)]


def test_group_that_reads_committed_sees_neither_aborted_nor_open_transactions(sharing: Sharing) -> None:
    sharing.configure("g", "share.isolation.level", "read_committed")
    _transaction(sharing, 7, committed=False)
    _transaction(sharing, 7, committed=True)
    sharing.write(1)
    sharing.write(
        0, data=batch(b"open", producer_id=9, producer_epoch=0, base_sequence=0, transactional=True)
    )
    sharing.write(1)
    assert [offset for offset, _ in offsets(sharing.fetch())] == [3, 4, 6]


# -- sessions --------------------------------------------------------------------------------------


def test_requests_of_a_session_come_one_after_the_other(sharing: Sharing) -> None:
    assert sharing.fetch("m", 1).fault is Fault.SHARE_SESSION_NOT_FOUND
    assert sharing.acknowledge("m", 0).fault is Fault.INVALID_SHARE_SESSION_EPOCH
    sharing.fetch("m")
    assert sharing.fetch("m", 2).fault is Fault.INVALID_SHARE_SESSION_EPOCH
    assert sharing.acknowledge("m", 2).fault is Fault.INVALID_SHARE_SESSION_EPOCH
    assert sharing.acknowledge("m", 1).fault is None
    assert sharing.fetch("m", 2).fault is None


def test_session_that_is_new_has_nothing_to_acknowledge(sharing: Sharing) -> None:
    sharing.write(1)
    sharing.fetch("m")
    assert sharing.fetch("m", 0, (0, 0, ACCEPT)).fault is Fault.INVALID_REQUEST


def test_session_that_is_new_forgets_nothing(sharing: Sharing) -> None:
    sharing.write(1)
    assert offsets(sharing.fetch("m", forgotten=(0,))) == [(0, 1)]


@pytest.mark.parametrize("how", ["fetch", "acknowledge", "hang up"])
def test_session_that_ends_leaves_its_records_to_others(sharing: Sharing, how: str) -> None:
    sharing.write(3)
    sharing.fetch("m")
    if how == "fetch":
        assert sharing.fetch("m", -1, (0, 0, ACCEPT)).parts[0].acknowledge_fault is None
    elif how == "acknowledge":
        assert sharing.acknowledge("m", -1, (0, 0, ACCEPT)).parts[0].fault is None
    else:
        sharing.acknowledge("m", 1, (0, 0, ACCEPT))
        sharing.of("m").presence.leave()
    assert offsets(sharing.fetch("n")) == [(1, 2), (2, 2)]
    assert sharing.fetch("m", 1).fault is Fault.SHARE_SESSION_NOT_FOUND


def test_partition_that_is_forgotten_is_read_no_more(sharing: Sharing) -> None:
    sharing.fetch("m", partitions=(0, 1))
    sharing.write(1, 0)
    sharing.write(1, 1)
    answer = sharing.fetch("m", 1, partitions=(), forgotten=(0,))
    assert offsets(answer, 0) == []
    assert offsets(answer, 1) == [(0, 1)]


def test_partitions_take_turns_to_be_first(sharing: Sharing) -> None:
    for _ in range(4):
        for partition in (0, 1):
            sharing.write(5, partition)
    first = [sharing.fetch("m", max_records=5, partitions=(0, 1))]
    first += [sharing.fetch("m", epoch, max_records=5, partitions=()) for epoch in (1, 2, 3)]
    read = [[part.part[1] for part in answer.parts if part.acquired] for answer in first]
    assert sorted(number for [number] in read) == [0, 0, 1, 1]


def test_there_are_so_many_sessions_and_no_more() -> None:
    sharing = Sharing({"group.share.max.share.sessions": "1"})
    sharing.beat()
    assert sharing.fetch("m").fault is None
    assert sharing.fetch("n").fault is Fault.SHARE_SESSION_LIMIT_REACHED
    assert sharing.fetch("m").fault is None
    sharing.of("m").presence.leave()
    assert sharing.fetch("n").fault is None


@pytest.mark.parametrize("member_id", ["", "x" * 37])
def test_member_needs_a_name_that_is_one(sharing: Sharing, member_id: str) -> None:
    assert sharing.fetch(member_id).fault is Fault.INVALID_REQUEST
    assert sharing.acknowledge(member_id, 1).fault is Fault.INVALID_REQUEST


def test_fetch_that_renews_must_not_want_records(sharing: Sharing) -> None:
    sharing.write(1)
    sharing.fetch("m")
    part = AcknowledgedPart(sharing.part(), [(0, 0, [RENEW])])  # type: ignore[list-item]
    greedy = ShareFetch("g", "m", 1, [part], max_records=1, renews=True)
    assert sharing.world.execute(greedy, sharing.of("m")).fault is Fault.INVALID_REQUEST
    modest = ShareFetch("g", "m", 1, [part], renews=True)
    assert sharing.world.execute(modest, sharing.of("m")).parts[0].acknowledge_fault is None


@pytest.mark.parametrize("said", [(0, 0), (1, 4)])
def test_acknowledgement_where_nothing_is_acquired_is_of_a_wrong_state(
    sharing: Sharing, said: tuple[int, int]
) -> None:
    """Which it is not where something is, and more is said."""
    sharing.fetch("m")
    outcome = sharing.acknowledge("m", 1, (*said, ACCEPT)).parts[0]
    assert outcome.fault is Fault.INVALID_RECORD_STATE
    sharing.write(1)
    sharing.fetch("m", 2)
    assert sharing.acknowledge("m", 3, (0, 4, ACCEPT)).parts[0].fault is Fault.INVALID_REQUEST


def test_acknowledgement_for_a_group_that_nobody_has_joined_is_for_an_unknown_partition() -> None:
    sharing = Sharing()
    sharing.fetch("m")
    assert sharing.acknowledge("m", 1, (0, 0, ACCEPT)).parts[0].fault is Fault.UNKNOWN_TOPIC


def test_acknowledgement_that_nobody_could_make_is_refused_before_its_partition_is_looked_for(
    sharing: Sharing,
) -> None:
    sharing.fetch("m")
    outcome = sharing.acknowledge("m", 1, (5, 0, ACCEPT), partition=99).parts[0]
    assert outcome.fault is Fault.INVALID_REQUEST


def test_who_says_something_of_a_partition_hears_of_all_that_the_request_names(sharing: Sharing) -> None:
    """And who says nothing hears of none."""
    sharing.write(1)
    sharing.fetch("m", partitions=(0, 1))
    said = AcknowledgedPart(sharing.part(0), [Acknowledged(0, 0, [ACCEPT])])
    silent = AcknowledgedPart(sharing.part(1))
    for epoch, parts, spoken_of in ((1, [silent], []), (2, [said, silent], [0, 1])):
        answer = sharing.world.execute(ShareAcknowledge("g", "m", epoch, parts), sharing.of("m"))
        assert [part.part[1] for part in answer.parts] == spoken_of
        assert not any(part.fault for part in answer.parts)


# -- waiting ---------------------------------------------------------------------------------------


def test_fetch_waits_for_records_and_no_longer_than_it_said(sharing: Sharing) -> None:
    waiting = sharing.submit("m", max_wait_ms=500)
    assert waiting == []
    sharing.write(2)
    assert offsets(waiting[0]) == [(0, 1), (1, 1)]
    waiting = sharing.submit("m", 1, max_wait_ms=500)
    sharing.pass_time(499)
    assert waiting == []
    sharing.pass_time(1)
    assert offsets(waiting[0]) == []


def test_fetch_that_waits_gets_what_others_give_back(sharing: Sharing) -> None:
    sharing.write(2)
    sharing.fetch("m")
    waiting = sharing.submit("n", max_wait_ms=500)
    sharing.acknowledge("m", 1, (1, 1, RELEASE))
    sharing.world.turn()
    assert offsets(waiting[0]) == [(1, 2)]
    waiting = sharing.submit("n", 1, max_wait_ms=LOCK_MS * 2)
    sharing.pass_time(LOCK_MS)
    assert offsets(waiting[0]) == [(0, 2), (1, 3)]


def test_fetch_that_wants_more_leaves_everything_to_others_meanwhile(sharing: Sharing) -> None:
    sharing.write(1)
    waiting = sharing.submit("m", max_wait_ms=500, min_bytes=1000)
    assert waiting == []
    assert offsets(sharing.fetch("n")) == [(0, 1)]
    sharing.write(1)
    sharing.pass_time(500)
    assert offsets(waiting[0]) == [(1, 1)]


def test_caller_that_has_gone_acquires_nothing(sharing: Sharing) -> None:
    waiting = sharing.submit("m", max_wait_ms=500)
    sharing.of("m").presence.leave()
    sharing.write(1)
    sharing.pass_time(500)
    assert [part.acquired for part in waiting[0].parts] == [()]
    assert offsets(sharing.fetch("n")) == [(0, 1)]


def test_records_that_are_not_in_memory_are_waited_for(sharing: Sharing) -> None:
    sharing.write(1)
    log = sharing.world.log("t")
    log.far.add(0)
    waiting = sharing.submit("m", max_wait_ms=500)
    assert waiting == []
    [near] = log.summoned
    near()
    sharing.world.turn()
    assert offsets(waiting[0]) == [(0, 1)]


# -- refusals --------------------------------------------------------------------------------------


def test_partitions_that_cannot_be_read_are_answered_at_once(
    sharing: Sharing, monkeypatch: pytest.MonkeyPatch
) -> None:
    [part] = sharing.fetch("m", partitions=(7,), max_wait_ms=500).parts
    assert part.fault is Fault.UNKNOWN_TOPIC
    unknown = ShareFetch("g", "m", 0, [AcknowledgedPart((b"x" * 16, 0))], max_wait_ms=500)
    assert sharing.world.execute(unknown, sharing.of("m")).parts[0].fault is Fault.UNKNOWN_TOPIC_ID
    [part] = sharing.fetch("m", group_id="stranger", max_wait_ms=500).parts
    assert part.fault is Fault.GROUP_ID_NOT_FOUND
    sharing.fetch("m")
    monkeypatch.setattr(sharing.world.access, "allows", Denying((Operation.READ, Resource.TOPIC)).allows)
    assert sharing.fetch("m", 1).parts[0].fault is Fault.NOT_AUTHORIZED_TOPIC
    assert sharing.acknowledge("m", 2, (0, 0, ACCEPT)).parts[0].fault is Fault.NOT_AUTHORIZED_TOPIC


def test_answer_leaves_when_what_was_said_is_durable(sharing: Sharing) -> None:
    sharing.write(2)
    sharing.fetch("m")
    sharing.world.storage.holds_syncs = True
    waiting = sharing.submit("m", 1, (0, 0, ACCEPT))
    part = AcknowledgedPart(sharing.part(), [(1, 1, [ACCEPT])])  # type: ignore[list-item]
    acknowledged = sharing.world.submit(ShareAcknowledge("g", "m", 2, [part]), sharing.of("m"))
    assert (waiting, acknowledged) == ([], [])
    sharing.world.storage.sync()
    assert waiting[0].parts[0].acknowledge_fault is None
    assert acknowledged[0].parts[0].fault is None


def test_acknowledgement_that_cannot_be_written_has_not_happened(sharing: Sharing) -> None:
    sharing.write(2)
    sharing.fetch("m")
    sharing.state_log.fault = Fault.STORAGE
    assert sharing.acknowledge("m", 1, (0, 0, ACCEPT)).parts[0].fault is Fault.NOT_COORDINATOR
    sharing.state_log.fault = None
    assert sharing.acknowledge("m", 2, (0, 1, ACCEPT)).parts[0].fault is None
    assert sharing.start_and_lag() == (2, 0)


def test_lock_whose_end_cannot_be_written_ends_later(sharing: Sharing) -> None:
    sharing.write(1)
    sharing.fetch("m")
    sharing.state_log.fault = Fault.STORAGE
    sharing.pass_time(LOCK_MS)
    assert offsets(sharing.fetch("n")) == []
    sharing.state_log.fault = None
    sharing.pass_time(1000)
    assert offsets(sharing.fetch("n", 1)) == [(0, 2)]
