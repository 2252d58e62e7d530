"""An overlay holds a descriptor below for as long as a file is open, and no longer."""

from pathlib import Path

from trivium.log.files import RealFile, RealFiles
from trivium.log.overlay import OverlayFiles


class CountedFile(RealFile):
    """A file whose descriptor is counted while it is open."""

    __slots__ = ()

    open_paths: list[str] = []  # noqa: RUF012 - shared by all files, and that is its purpose

    def close(self) -> None:
        self.open_paths.remove(self.path)
        super().close()


class CountedFiles(RealFiles):
    def open_to_read(self, path: str) -> CountedFile:
        CountedFile.open_paths.append(path)
        below = super().open_to_read(path)
        return CountedFile(path, below._fd)


def test_overlay_file_when_closed_gives_its_descriptor_back_and_can_still_be_read(tmp_path: Path) -> None:
    """A directory of a thousand partitions has ten thousand files: looking at it must not hold them all."""
    (tmp_path / "f").write_bytes(b"below")
    overlay = OverlayFiles(CountedFiles())
    path = str(tmp_path / "f")
    for _ in range(2):
        file = overlay.open(path)
        assert file.read(10, 0) == b"below"
        assert CountedFile.open_paths == [path]
        file.close()
        assert CountedFile.open_paths == []


def test_overlay_file_when_changed_no_longer_needs_the_one_below(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"below")
    overlay = OverlayFiles(CountedFiles())
    file = overlay.open(str(tmp_path / "f"))
    file.write(b"B", 0)
    assert CountedFile.open_paths == []
    assert file.read(10, 0) == b"Below"
    assert (tmp_path / "f").read_bytes() == b"below"


def test_overlay_file_after_a_rename_still_reads_what_lies_below_its_old_name(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"below")
    overlay = OverlayFiles(CountedFiles())
    overlay.rename(str(tmp_path / "old"), str(tmp_path / "new"))
    file = overlay.open(str(tmp_path / "new"))
    assert file.read(10, 0) == b"below"
    file.close()
    assert CountedFile.open_paths == []
    assert not overlay.exists(str(tmp_path / "old"))
