"""How ``kafka-directories`` were cut from the whole recordings of Kafka's directories.

    python cut_recording.py RECORDINGS/clean clean.tar.xz

A recording is ``data/``, the directory as Kafka left it, and ``manifest.json``, what Kafka's clients saw in
it. The one topic with megabytes of records loses its partitions, in both; nothing else is changed.
"""

import json
import sys
import tarfile
from io import BytesIO
from pathlib import Path

LARGE_TOPIC = "big-segments"


def cut(recording: Path, archive: Path) -> None:
    manifest = json.loads((recording / "manifest.json").read_text())
    manifest["topics"][LARGE_TOPIC]["partitions"] = {}
    manifest["preallocated"] = {
        name: size
        for name, size in manifest["preallocated"].items()
        if not name.startswith(f"{LARGE_TOPIC}-")
    }
    with tarfile.open(archive, "w:xz") as out:
        add(out, "manifest.json", json.dumps(manifest, separators=(",", ":")).encode())
        data = recording / "data"
        for path in sorted(data.rglob("*")):
            name = path.relative_to(data)
            if path.is_file() and not name.parts[0].startswith(f"{LARGE_TOPIC}-"):
                add(out, f"data/{name}", path.read_bytes())


def add(out: tarfile.TarFile, name: str, content: bytes) -> None:
    """Bytes under a name, without an owner or a time: cutting again gives the same archive."""
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    out.addfile(entry, BytesIO(content))


if __name__ == "__main__":
    cut(Path(sys.argv[1]), Path(sys.argv[2]))
