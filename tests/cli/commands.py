"""Running ``trivium`` in a test, and what it must look like when something is wrong."""

import json
from typing import Any

from click.testing import CliRunner, Result

from trivium.cli.main import main


def run(*arguments: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(main, list(arguments), input=stdin)


def output(*arguments: str, stdin: bytes | None = None) -> str:
    """What a command that succeeds prints."""
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout


def facts(*arguments: str, stdin: bytes | None = None) -> Any:
    """The one JSON document of a command that succeeds."""
    return json.loads(output(*arguments, "--json", stdin=stdin))


def complaint(*arguments: str, stdin: bytes | None = None) -> str:
    """The one sentence that a person gets when it cannot be done."""
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit)
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr[len("Error: ") : -1]


def misuse(*arguments: str, stdin: bytes | None = None) -> str:
    """The last line of what a person gets who has written what cannot be understood."""
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 2, result.output
    return result.stderr.splitlines()[-1]
