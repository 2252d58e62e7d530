"""A data directory that real Kafka wrote, unpacked, beside what Kafka's clients saw in it."""

import json
import os
import shutil
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from trivium.cli.inspect_metadata import load_metadata, settings_from
from trivium.core.metadata import MetadataImage
from trivium.log.directory import LogDirectory
from trivium.log.files import Files, RealFiles
from trivium.log.overlay import OverlayFiles
from trivium.log.partition_log import PartitionLog

NOW = 1_794_800_000_000
"""Some hours after the recordings were made: nothing in them has expired."""

NODE_ID = 1

ARCHIVES = Path(__file__).parent / "kafka-directories"
WHOLE = Path(__file__).parents[3] / "shared" / "golden" / "kafka-4.3.1"
"""The recordings in full, where somebody has put them beside the repository."""


@dataclass(frozen=True)
class Recording:
    data: Path
    manifest: dict[str, Any]

    def metadata(self) -> MetadataImage:
        image = load_metadata(RealFiles(), str(self.data), NOW)
        assert image is not None
        return image

    def open(self, files: Files | None = None) -> LogDirectory:
        """Open the directory as a broker would; without ``files`` nothing is changed by it."""
        return LogDirectory.open(
            files or OverlayFiles(RealFiles()),
            str(self.data),
            node_id=NODE_ID,
            cluster_id=self.manifest["cluster_id"],
            new_id=lambda: UUID(int=1),
            settings_for=settings_from(self.metadata(), NODE_ID),
            now_ms=NOW,
        )

    def partitions(self) -> Iterator[tuple[tuple[str, int], dict[str, Any]]]:
        """Topic, partition, and what clients saw of it."""
        for topic, facts in self.manifest["topics"].items():
            for number, seen in facts["partitions"].items():
                yield (topic, int(number)), seen

    def logs(self, directory: LogDirectory) -> Iterator[tuple[PartitionLog, dict[str, Any]]]:
        """Each log with what clients saw in it."""
        for key, seen in self.partitions():
            yield directory.logs[key], seen


def unpack(name: str, to: Path) -> Recording:
    """A recording by its name, in a directory that tests may write to."""
    where, _, kind = name.rpartition("-")
    if where == "whole":
        shutil.copytree(WHOLE / kind / "data", to / "data")
        shutil.copy(WHOLE / kind / "manifest.json", to)
        for path in (to, *to.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
    else:
        with tarfile.open(ARCHIVES / f"{kind}.tar.xz") as archive:
            archive.extractall(to, filter="data")
    manifest = json.loads((to / "manifest.json").read_text())
    for index, size_bytes in manifest["preallocated"].items():
        os.truncate(to / "data" / index, size_bytes)
    return Recording(to / "data", manifest)


def names(*kinds: str) -> list[str]:
    """What ``unpack`` takes: the recordings of these kinds, and where they are at hand the whole ones."""
    return [*kinds, *(f"whole-{kind}" for kind in kinds if WHOLE.is_dir())]


def contents(path: Path) -> dict[str, bytes]:
    """Every file below a directory, byte for byte."""
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}
