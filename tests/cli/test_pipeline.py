"""``trivium pipeline``: new, check and status, as a person and a script use them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.commands import complaint, facts, misuse, output, run
from tests.client.live import fill, make_topic

from trivium.client.cluster import Cluster
from trivium.client.group_offsets import CommittedOffset, commit_offsets
from trivium.client.topology import TopicPartition

NOBODY = "127.0.0.1:1"

WRONG = """
[pipeline]
name = "shop"
[source.orders]
schema = "id BIGINT, at TIMESTAMP"
[flow.f]
sql = "SELECT idd FROM orders"
sink = { topic = "out" }
"""


@pytest.fixture
def wrong(tmp_path: Path) -> str:
    file = tmp_path / "wrong.toml"
    file.write_text(WRONG)
    return str(file)


@pytest.mark.parametrize("options", [(), ("--python",)])
def test_new_file_is_right_as_it_is(tmp_path: Path, options: tuple[str, ...]) -> None:
    file = tmp_path / ("shop.py" if options else "shop.toml")
    assert str(file) in output("pipeline", "new", "shop", "--to", str(tmp_path), *options)
    checked = facts("pipeline", "check", str(file), "--offline")
    assert (checked["pipeline"], checked["findings"]) == ("shop", [])
    assert [flow["group"] for flow in checked["flows"]] == ["shop.clean", "shop.per_minute"]
    assert "no errors, no warnings" in output("pipeline", "check", str(file), "--offline")


def test_new_never_writes_over_a_file(tmp_path: Path) -> None:
    output("pipeline", "new", "shop", "--to", str(tmp_path))
    (tmp_path / "shop.toml").write_text("mine")
    assert "is there already" in complaint("pipeline", "new", "shop", "--to", str(tmp_path))
    assert (tmp_path / "shop.toml").read_text() == "mine"


def test_new_refuses_what_is_no_name(tmp_path: Path) -> None:
    assert "is no name here" in misuse("pipeline", "new", "../shop", "--to", str(tmp_path))


def test_check_of_a_wrong_pipeline_shows_mistakes_and_fails(wrong: str) -> None:
    result = run("pipeline", "check", wrong, "--offline")
    assert result.exit_code == 1
    assert "There is no column idd in orders." in result.stdout
    assert "Did you mean 'id'?" in result.stdout
    assert f"{wrong}: 1 error, no warnings." in result.stdout
    script = run("pipeline", "check", wrong, "--offline", "--json")
    assert script.exit_code == 1
    (finding,) = json.loads(script.stdout)["findings"]
    assert finding == {
        "severity": "error",
        "line": 7,
        "where": "flow.f.sql",
        "what": "There is no column idd in orders.",
        "remedy": "Did you mean 'id'?",
    }


def test_check_of_an_unreadable_file_shows_every_mistake(tmp_path: Path) -> None:
    file = tmp_path / "shop.toml"
    file.write_text("[source.a]\nformat='x'\n[flow.f]\n")
    result = run("pipeline", "check", str(file), "--json")
    assert result.exit_code == 1
    checked = json.loads(result.stdout)
    assert (checked["pipeline"], checked["errors"]) == (None, 3)


def test_check_without_a_broker_is_a_warning(tmp_path: Path) -> None:
    output("pipeline", "new", "shop", "--to", str(tmp_path))
    checked = facts("pipeline", "check", str(tmp_path / "shop.toml"), "--broker", NOBODY)
    assert (checked["errors"], checked["warnings"]) == (0, 1)
    assert "--offline" in checked["findings"][0]["remedy"]


@pytest.mark.parametrize("table_format", ["delta", "iceberg", "parquet"])
def test_file_where_a_table_is_to_lie_is_a_mistake(tmp_path: Path, table_format: str) -> None:
    (tmp_path / "lake").touch()
    sink = f'{{ format = "{table_format}", path = "{tmp_path}/lake/orders" }}'
    file = tmp_path / "shop.toml"
    file.write_text(WRONG.replace("idd", "id").replace('{ topic = "out" }', sink))
    checked = run("pipeline", "check", str(file), "--broker", NOBODY, "--json")
    assert checked.exit_code == 1
    (error,) = (each for each in json.loads(checked.stdout)["findings"] if each["severity"] == "error")
    assert error["what"].endswith(f"/lake/orders cannot be written: {tmp_path}/lake is no folder.")
    assert "lake is no folder" in complaint("pipeline", "run", str(file))
    assert facts("pipeline", "check", str(file), "--offline")["errors"] == 0
    assert sorted(each.name for each in tmp_path.iterdir()) == ["lake", "shop.toml"]


def test_check_asks_the_broker_about_topics(tmp_path: Path, bootstrap: str, name: str) -> None:
    output("pipeline", "new", name, "--to", str(tmp_path))
    result = run("pipeline", "check", str(tmp_path / f"{name}.toml"), "--broker", bootstrap)
    assert result.exit_code == 1
    assert f"There is no topic {name}." in result.stdout


def test_check_does_not_start_spark(wrong: str) -> None:
    program = (
        "import sys\n"
        "from trivium.cli.main import main\n"
        f"main(['pipeline', 'check', {wrong!r}, '--offline'], standalone_mode=False)\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('pyspark', 'py4j')])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_status_tells_how_far_flows_are_behind(
    tmp_path: Path, bootstrap: str, cluster: Cluster, name: str
) -> None:
    output("pipeline", "new", name, "--to", str(tmp_path))
    file = str(tmp_path / f"{name}.toml")
    make_topic(cluster, name)
    fill(cluster, name, b"a", b"b", b"c")
    commit_offsets(
        cluster,
        f"{name}.clean",
        {TopicPartition(name, 0): CommittedOffset(3), TopicPartition(name, 1): CommittedOffset(0)},
    )
    status = facts("pipeline", "status", file, "--broker", bootstrap)
    clean, per_minute = status["flows"]
    assert clean == {
        "flow": "clean",
        "group": f"{name}.clean",
        "partitions": 2,
        "lag_records": 0,
        "lag_seconds": 0.0,
        "has_begun": True,
    }
    assert (per_minute["lag_records"], per_minute["has_begun"]) == (3, False)
    shown = output("pipeline", "status", file, "--partitions", "--broker", bootstrap)
    assert f"{name}.per_minute" in shown
    assert "partitions" in shown


def test_status_of_a_missing_topic_is_one_sentence(tmp_path: Path, bootstrap: str, name: str) -> None:
    output("pipeline", "new", name, "--to", str(tmp_path))
    said = complaint("pipeline", "status", str(tmp_path / f"{name}.toml"), "--broker", bootstrap)
    assert said == f"There is no topic {name}; 'trivium topic list' shows what there is."


def test_status_of_an_unreadable_file_is_one_sentence(tmp_path: Path) -> None:
    said = complaint("pipeline", "status", str(tmp_path / "shop.toml"))
    assert said.endswith("shop.toml: There is no such file. 'trivium pipeline new NAME' writes one.")


def test_status_without_sqlglot_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bootstrap: str
) -> None:
    output("pipeline", "new", "shop", "--to", str(tmp_path))
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    file = str(tmp_path / "shop.toml")
    assert "pip install 'trivium[spark]'" in complaint("pipeline", "status", file, "--broker", bootstrap)
    checked = run("pipeline", "check", file, "--offline")
    assert checked.exit_code == 1
    assert "SQL cannot be understood without sqlglot." in checked.stdout
