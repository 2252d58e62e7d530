"""What the README tells people to copy works as it stands."""

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def test_example_prints_every_record_that_its_runs_have_appended(tmp_path: Path) -> None:
    """Each run appends one; the second has two batches to read."""
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    for runs in (1, 2):
        command = [sys.executable, "-c", example]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout.splitlines() == [f"{offset} b'key' b'value'" for offset in range(runs)]
