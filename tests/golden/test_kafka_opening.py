"""Opening Kafka's directories: at once after a clean stop, with proof after a kill, and never for the worse.

R11 (we read Kafka), R7 (a second restart changes nothing).
"""

import shutil
from pathlib import Path

import pytest
from tests.golden.reading import as_manifest, read_uncommitted
from tests.golden.recording import Recording, contents, names

from trivium.log.directory import LogDirectory
from trivium.log.files import RealFiles

CLEAN = pytest.mark.parametrize("recording", names("clean"), indirect=True)
KILLED = pytest.mark.parametrize("recording", names("killed"), indirect=True)

KILLED_TOPICS = ("in-kill-", "txn-kill-")
"""Topics that were written between the last start and the kill. In an unfinished index of any other the
entries also tell when Kafka was restarted in between: no log file knows that."""

SEGMENT_FILES = (".log", ".index", ".timeindex", ".txnindex")


@pytest.fixture
def copy(recording: Recording, tmp_path: Path) -> Recording:
    """The same directory, to be changed."""
    shutil.copytree(recording.data, tmp_path / "data")
    return Recording(tmp_path / "data", recording.manifest)


def all_records(recording: Recording, directory: LogDirectory) -> dict[str, list[object]]:
    return {
        log.name: [as_manifest(each) for each in read_uncommitted(log)]
        for log, _ in recording.logs(directory)
    }


@CLEAN
def test_directory_after_a_clean_stop_is_opened_without_a_scan(directory: LogDirectory) -> None:
    assert directory.opening.clean
    assert directory.opening.notes == []
    for recovery in directory.opening.recoveries:
        assert (recovery.scanned_bytes, recovery.cut_bytes, recovery.notes) == (0, 0, []), recovery.name


@KILLED
def test_directory_after_a_kill_is_recovered_without_losing_a_byte(directory: LogDirectory) -> None:
    assert not directory.opening.clean
    # Kafka had written whole batches only: there is much to check and nothing to cut.
    assert sum(recovery.scanned_bytes for recovery in directory.opening.recoveries) > 0
    for recovery in directory.opening.recoveries:
        assert (recovery.cut_bytes, recovery.notes) == (0, []), recovery.name


@KILLED
def test_directory_after_a_kill_finishes_the_deletions_that_kafka_began(directory: LogDirectory) -> None:
    finished = {note for note in directory.opening.notes if note.startswith("finished deleting")}
    assert finished == {
        f"finished deleting {name}" for name in ("deleted-topic-0", "deleted-topic-1", "deleted-at-kill-0")
    }


def test_directory_opened_through_an_overlay_is_not_changed(copy: Recording) -> None:
    before = contents(copy.data)
    opened = copy.open()
    all_records(copy, opened)
    opened.close()
    assert contents(copy.data) == before


def test_directory_opened_closed_and_opened_again_has_the_same_records(copy: Recording) -> None:
    expected = {
        f"{topic}-{number}": seen["records"]
        for (topic, number), seen in copy.partitions()
        if "records" in seen
    }
    opened = copy.open(RealFiles())
    opened.close()
    after_once = contents(copy.data)
    opened = copy.open(RealFiles())
    assert opened.opening.clean
    found = all_records(copy, opened)
    opened.close()
    assert {name: found[name] for name in expected} == expected
    assert contents(copy.data) == after_once


@CLEAN
def test_segments_of_a_clean_directory_after_opening_and_closing_are_kafkas_bytes(copy: Recording) -> None:
    before = contents(copy.data)
    copy.open(RealFiles()).close()
    after = contents(copy.data)
    compared = [name for name in before if name.endswith(SEGMENT_FILES)]
    assert len(compared) > 100
    for name in compared:
        assert after[name] == before[name], name


@KILLED
def test_segments_of_a_killed_directory_after_recovery_are_kafkas_bytes(copy: Recording) -> None:
    """Recovery makes every index again from the log: it must come to what Kafka had written."""
    before = contents(copy.data)
    copy.open(RealFiles()).close()
    after = contents(copy.data)
    unfinished = copy.manifest["preallocated"]
    for name in before:
        if not name.endswith(SEGMENT_FILES) or "-delete/" in name:
            continue
        if name not in unfinished:
            assert after[name] == before[name], name
        elif name.endswith(".index") and name.startswith(KILLED_TOPICS):
            assert after[name].ljust(len(before[name]), b"\0") == before[name], name
