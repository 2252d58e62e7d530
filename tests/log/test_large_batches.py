"""Finding a batch among large ones: only the wanted one is read, and damage before it is told rightly (R6).

Batches have two records each: an index entry names the last offset of a batch, which is never asked for here.
"""

from pathlib import Path

import pytest

from tests.log.log_of import NOW, TOPIC_ID, append, contents, open_directory
from trivium.log.faults import Corrupt
from trivium.log.files import RealFile, RealFiles
from trivium.log.partition_log import PartitionLog
from trivium.log.settings import LogSettings

BATCHES = 6
VALUE_BYTES = 100_000
BATCH_BYTES = 2 * VALUE_BYTES + 200
"""And a little more."""
LENGTH_AT = 8


@pytest.fixture
def log(tmp_path: Path) -> PartitionLog:
    settings = LogSettings()
    directory = open_directory(RealFiles(), str(tmp_path / "data"), settings)
    log = directory.create("large", 0, TOPIC_ID, settings, NOW)
    for number in range(BATCHES):
        append(log, bytes([number]) * VALUE_BYTES, bytes([number]) * VALUE_BYTES)
    return log


def test_read_of_one_large_batch_reads_little_more_than_it(
    log: PartitionLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_bytes: list[int] = []
    read = RealFile.read

    def counting(self: RealFile, size: int, position: int) -> bytes:
        data = read(self, size, position)
        read_bytes.append(len(data))
        return data

    monkeypatch.setattr(RealFile, "read", counting)
    (run,) = log.read(8, BATCH_BYTES).runs
    assert len(run) > 2 * VALUE_BYTES
    assert sum(read_bytes) < BATCH_BYTES + 1_000


@pytest.mark.parametrize("offset", range(2 * BATCHES))
def test_every_batch_is_found_from_its_offset_on(log: PartitionLog, offset: int) -> None:
    assert [found for found, _ in contents(log, offset)] == list(range(offset, 2 * BATCHES))


def test_length_that_leads_astray_is_damage_of_its_own_batch(log: PartitionLog) -> None:
    """The header before the wanted batch lies about its length: the records before it are still served."""
    position = 2 * (log.active.size_bytes // BATCHES)
    with Path(log.directory, "00000000000000000000.log").open("r+b") as file:
        file.seek(position + LENGTH_AT)
        (first,) = file.read(1)
        file.seek(position + LENGTH_AT)
        file.write(bytes([first ^ 1]))
    with pytest.raises(Corrupt) as raised:
        log.read(6, BATCH_BYTES)
    assert raised.value.offset == 4
    assert bytes(log.read(0, BATCH_BYTES).runs[0][:8]) == bytes(8)
