"""``python -m trivium.testing.world``: one history shown, many counted, a broken one with the way to it."""

import pytest
from click.testing import CliRunner

from tests.simulation.planted_bugs import takes_any_sequence
from trivium.testing.world.__main__ import main
from trivium.testing.world.histories import history
from trivium.testing.world.profiles import PROFILES


def test_history_is_shown_operation_by_operation() -> None:
    shown = CliRunner().invoke(main, ["--profile", "transactions", "--seed", "3", "--operations", "20", "-v"])
    assert shown.exit_code == 0, shown.output
    lines = shown.output.splitlines()
    assert len(lines) == len(history("transactions", 3, 20).operations) + 1
    assert all('"process"' in line for line in lines[:-1])
    assert lines[-1].startswith("transactions, seed 3: ")


def test_histories_are_counted_in_several_processes() -> None:
    arguments = ["--profile", "idempotence", "--histories", "30", "--operations", "10", "--processes", "2"]
    counted = CliRunner().invoke(main, arguments)
    assert counted.exit_code == 0, counted.output
    assert "idempotence: 30 histories from seed 0 on" in counted.output
    assert "0 broken" in counted.output


def test_every_profile_is_played_unless_one_is_named() -> None:
    played = CliRunner().invoke(main, ["--operations", "5"])
    assert [line.split(",")[0] for line in played.output.splitlines()] == list(PROFILES)


def test_broken_history_ends_with_status_1_and_the_command_that_shows_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    takes_any_sequence(monkeypatch)
    seed = next(seed for seed in range(200) if history("idempotence", seed, 60).wrong)
    broken = CliRunner().invoke(main, ["--profile", "idempotence", "--seed", str(seed), "--operations", "60"])
    assert broken.exit_code == 1
    again = f"python -m trivium.testing.world --profile idempotence --seed {seed} --operations 60 -v"
    assert f"again: {again}" in broken.output
