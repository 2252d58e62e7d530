"""Leader epochs: what OffsetForLeaderEpoch answers, and what truncation leaves."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.log.checkpoint import EpochStart, decode_epochs, encode_epochs
from trivium.log.epochs import LeaderEpochs
from trivium.log.files import RealFiles


def epochs(*entries: tuple[int, int]) -> LeaderEpochs:
    return LeaderEpochs(RealFiles(), "unused", [EpochStart(*entry) for entry in entries])


@pytest.mark.parametrize(
    ("assigned", "left"),
    [
        ((3, 40), [(0, 0), (2, 30), (3, 40)]),
        ((2, 50), [(0, 0), (2, 30)]),
        ((2, 30), [(0, 0), (2, 30)]),
        ((2, 20), [(0, 0), (2, 20)]),
        ((3, 30), [(0, 0), (3, 30)]),
        ((3, 10), [(0, 0), (3, 10)]),
        ((3, 0), [(3, 0)]),
        ((1, 50), [(0, 0), (1, 50)]),
        ((0, 50), [(0, 50)]),
    ],
)
def test_assign_keeps_epochs_and_beginnings_increasing(
    assigned: tuple[int, int], left: list[tuple[int, int]]
) -> None:
    cache = epochs((0, 0), (2, 30))
    cache.assign(*assigned)
    assert list(cache.entries) == left


@pytest.mark.parametrize("assigned", [(-1, 0), (0, -1)])
def test_assign_of_the_undefined_is_refused(assigned: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="no leader"):
        epochs().assign(*assigned)


@pytest.mark.parametrize(("offset", "epoch"), [(9, None), (10, 0), (29, 0), (30, 2), (10**9, 2)])
def test_epoch_for_an_offset_is_that_of_the_leader_who_wrote_it(offset: int, epoch: int | None) -> None:
    assert epochs((0, 10), (2, 30)).epoch_for(offset) == epoch


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (-1, (-1, -1)),
        (0, (0, 10)),
        (1, (1, 30)),
        (2, (1, 30)),
        (3, (3, 50)),
        (4, (3, 50)),
        (5, (5, 70)),
        (6, (-1, -1)),
    ],
)
def test_end_offset_for_an_epoch_is_where_the_next_begins(asked: int, answer: tuple[int, int]) -> None:
    assert epochs((1, 10), (3, 30), (5, 50)).end_offset_for(asked, 70) == answer


def test_end_offset_without_epochs_is_undefined() -> None:
    assert epochs().end_offset_for(0, 70) == (-1, -1)


@pytest.mark.parametrize(
    ("offset_end", "left"), [(51, [1, 3, 5]), (50, [1, 3]), (31, [1, 3]), (30, [1]), (10, []), (0, [])]
)
def test_truncate_from_end_drops_epochs_that_begin_there(offset_end: int, left: list[int]) -> None:
    cache = epochs((1, 10), (3, 30), (5, 50))
    cache.truncate_from_end(offset_end)
    assert [entry.epoch for entry in cache.entries] == left


@pytest.mark.parametrize(
    ("log_start_offset", "left"),
    [
        (5, [(1, 10), (3, 30)]),
        (10, [(1, 10), (3, 30)]),
        (15, [(1, 15), (3, 30)]),
        (30, [(3, 30)]),
        (99, [(3, 99)]),
    ],
)
def test_truncate_from_start_moves_the_first_beginning(
    log_start_offset: int, left: list[tuple[int, int]]
) -> None:
    cache = epochs((1, 10), (3, 30))
    cache.truncate_from_start(log_start_offset)
    assert list(cache.entries) == left


def test_flush_writes_what_load_reads(tmp_path: Path) -> None:
    path = str(tmp_path / "leader-epoch-checkpoint")
    cache = LeaderEpochs.load(RealFiles(), path)
    cache.flush()
    assert not (tmp_path / "leader-epoch-checkpoint").exists(), "nothing changed, nothing to write"
    cache.assign(0, 0)
    cache.assign(2, 40)
    cache.flush()
    assert (tmp_path / "leader-epoch-checkpoint").read_bytes() == b"0\n2\n0 0\n2 40\n"
    assert LeaderEpochs.load(RealFiles(), path).entries == cache.entries


changes = st.one_of(
    st.tuples(st.just("assign"), st.integers(0, 9), st.integers(0, 99)),
    st.tuples(st.just("end"), st.integers(0, 99), st.just(0)),
    st.tuples(st.just("start"), st.integers(0, 99), st.just(0)),
)


@given(st.lists(changes, max_size=20))
def test_any_changes_leave_a_checkpoint_that_reads_back(history: list[tuple[str, int, int]]) -> None:
    cache = epochs()
    for change, first, second in history:
        if change == "assign":
            cache.assign(first, second)
            assert cache.epoch_for(second) == first
        elif change == "end":
            cache.truncate_from_end(first)
        else:
            cache.truncate_from_start(first)
    assert decode_epochs(encode_epochs(cache.entries), "e") == list(cache.entries)
