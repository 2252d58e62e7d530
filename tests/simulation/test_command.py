"""``python -m trivium.testing.world``: one history shown, many counted, a broken one with the way to it."""

from typing import Any

import pytest
from click.testing import CliRunner

from tests.simulation.planted_bugs import acknowledges_before_it_is_durable
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
    (row,) = _rows(counted.stdout)
    assert row["profile"] == "idempotence"
    assert row["histories"] == 30
    assert row["operations"] >= 300
    assert row["requests"] >= 300
    assert row["broken"] == row["rebalances"] == 0


def test_rebalances_are_played_until_there_were_so_many() -> None:
    """R15; ``make sim REBALANCES=100000`` plays as many as are promised."""
    counted = CliRunner().invoke(main, ["--rebalances", "60", "--operations", "10", "--processes", "1"])
    assert counted.exit_code == 0, counted.output
    rows = _rows(counted.stdout)
    assert [row["profile"] for row in rows] == ["classic_groups", "consumer_groups"]
    assert all(row["rebalances"] >= 30 and not row["broken"] for row in rows)


def test_rebalances_of_a_profile_without_groups_are_refused_in_a_sentence() -> None:
    refused = CliRunner().invoke(main, ["--rebalances", "10", "--profile", "batches"])
    assert refused.exit_code == 2
    assert "batches has no groups to rebalance" in refused.output


def _rows(table: str) -> list[dict[str, Any]]:
    names, *lines = table.splitlines()
    return [
        dict(zip(names.split(), (profile, *(float(each.replace(",", "")) for each in counts)), strict=False))
        for profile, *counts in (line.split() for line in lines)
    ]


def test_every_profile_is_played_unless_one_is_named() -> None:
    played = CliRunner().invoke(main, ["--operations", "5"])
    assert [line.split(",")[0] for line in played.output.splitlines()] == list(PROFILES)


def test_broken_history_ends_with_status_1_and_the_command_that_shows_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    acknowledges_before_it_is_durable(monkeypatch)
    seed = next(seed for seed in range(200) if history("idempotence", seed, 60).wrong)
    broken = CliRunner().invoke(main, ["--profile", "idempotence", "--seed", str(seed), "--operations", "60"])
    assert broken.exit_code == 1
    again = f"python -m trivium.testing.world --profile idempotence --seed {seed} --operations 60 -v"
    assert f"again: {again}" in broken.output
