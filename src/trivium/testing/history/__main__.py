"""``python -m trivium.testing.history FILE...``: what is wrong with a recorded history. Exit code 1 if
anything is.
"""

import sys

from trivium.testing.history.checker import OutOfOrder, check
from trivium.testing.history.lines import BadHistory, read_history


def main(paths: list[str]) -> int:
    if not paths:
        sys.stderr.write("usage: python -m trivium.testing.history FILE...\n")
        return 2
    try:
        verdict = check(read_history(*paths))
    except (BadHistory, OutOfOrder, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(f"{verdict}\n")
    return 0 if verdict.is_clean else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
