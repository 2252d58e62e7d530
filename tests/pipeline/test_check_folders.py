"""Where tables and state lie: whether they can be written there, and that none lies inside another."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from tests.pipeline.definitions import ORDERS, defined, said

from trivium.pipeline.checking import check, folder_findings
from trivium.pipeline.definition import Definition


def pipeline(state: str | Path, *paths: str | Path, more: str = "") -> Definition:
    flows = "".join(
        f"\n[flow.f{number}]\nsql = 'SELECT id FROM orders'\nsink = {{ format = 'delta', path = '{path}' }}"
        for number, path in enumerate(paths)
    )
    return defined(ORDERS.replace('name = "shop"', f'name = "shop"\nstate = "{state}"') + flows + more)


def sentences(definition: Definition) -> list[str]:
    return [f"{each.where}: {each.sentence}" for each in folder_findings(definition)]


def test_folders_that_can_be_made_are_not_made(tmp_path: Path) -> None:
    assert sentences(pipeline(tmp_path / "a" / "state", tmp_path / "lake" / "orders")) == []
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "lake" / "orders" / "_delta_log").mkdir(parents=True)
    assert sentences(pipeline(tmp_path / "state", f"file://{tmp_path}/lake/orders")) == []


def test_file_in_the_way_is_named(tmp_path: Path) -> None:
    file = tmp_path / "lake"
    file.touch()
    assert sentences(pipeline(tmp_path / "state", file / "orders", f"file:{file}")) == [
        f"flow.f0.sink: The table in {file}/orders cannot be written: {file} is no folder."
    ]
    assert sentences(pipeline(file / "state", tmp_path / "orders")) == [
        f"pipeline.state: The state in {file}/state cannot be written: {file} is no folder."
    ]


def test_link_that_leads_nowhere_is_named(tmp_path: Path) -> None:
    link = tmp_path / "lake"
    link.symlink_to(tmp_path / "gone")
    assert sentences(pipeline(tmp_path / "state", link / "orders")) == [
        f"flow.f0.sink: The table in {link}/orders cannot be written: {link} is no folder."
    ]


def test_name_that_no_path_can_have_is_one_sentence(tmp_path: Path) -> None:
    found = sentences(pipeline(tmp_path / "state", tmp_path / "new" / ("x" * 300)))
    assert [each.rpartition(": ")[2] for each in found] == ["File name too long."] * 2
    (zero,) = sentences(replace(pipeline("state", tmp_path / "orders"), state="a\0b"))
    assert zero == "pipeline.state: The state in a\0b cannot be written: no path can have such a character."


@pytest.mark.parametrize("folder", ["", "lake", "lake/orders", "lake/orders/_delta_log"])
def test_folder_that_this_user_may_not_write_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    """Who runs the tests may be allowed everything, so the answer is the test's."""
    (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    closed = str(tmp_path / folder)
    monkeypatch.setattr(os, "access", lambda path, _mode: path != closed)
    assert sentences(pipeline("/var/tmp/state", tmp_path / "lake" / "orders")) == [
        f"flow.f0.sink: The table in {tmp_path}/lake/orders cannot be written: this user may not write into "
        f"{closed}."
    ]


@pytest.mark.parametrize("state", ["", "state"])
def test_folder_inside_that_is_none_of_ours_may_be_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    """As on a disk that is mounted there, or beside another user's pipeline."""
    (tmp_path / "lost+found").mkdir()
    monkeypatch.setattr(os, "access", lambda path, _mode: not path.endswith("lost+found"))
    assert sentences(pipeline(tmp_path / state, tmp_path)) == []


def test_disk_that_does_not_say_its_size_is_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    silent = os.statvfs_result((4096, 4096, 0, 0, 0, 0, 0, 0, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _path: silent)
    assert sentences(pipeline(tmp_path, tmp_path / "orders")) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_without_rights_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert "this user may not write into" in sentences(pipeline(tmp_path / "state", "orders"))[0]


def test_disk_without_space_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = os.statvfs_result((4096, 4096, 100, 0, 0, 100, 100, 100, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _path: full)
    assert sentences(pipeline(tmp_path, tmp_path / "orders"))[0] == (
        f"pipeline.state: The state in {tmp_path} cannot be written: no space is left where {tmp_path} is."
    )


def test_places_of_other_systems_are_believed() -> None:
    assert sentences(pipeline("s3://bucket/state", "hdfs://host/lake/orders")) == []


@pytest.mark.parametrize(
    ("state", "first", "second", "inner"),
    [
        ("state", "lake", "lake/orders", "lake/orders, the sink of f1, lies below lake, the sink of f0."),
        ("state", "./lake//a/../orders/new/", "lake/orders", "./lake//a/../orders/new/, the sink of f0"),
        ("state", "s3://b/lake", "s3://b/lake/x/y", "s3://b/lake/x/y, the sink of f1, lies below"),
        ("lake/state", "lake", "other", "lake/state, the pipeline's state, lies below lake, the sink of f0."),
        (".trivium", ".", "/elsewhere", ".trivium, the pipeline's state, lies below ., the sink of f0."),
    ],
)
def test_table_inside_another_is_an_error(state: str, first: str, second: str, inner: str) -> None:
    found = said(pipeline(state, first, second))
    assert len(found) == 1
    assert found[0].startswith(inner)
    assert found[0].endswith("choose folders beside each other.")


def test_table_inside_one_that_is_read_is_an_error() -> None:
    names = "\n[source.names]\nformat = 'delta'\npath = 'lake'\n"
    assert (
        "lake/orders, the sink of f0, lies below lake, the table of names."
        in said(pipeline("state", "lake/orders", more=names))[0]
    )


def test_tables_that_are_only_read_may_lie_as_they_like() -> None:
    lake = "\n[source.names]\nformat = 'delta'\npath = 'lake'\n"
    below = "[source.more]\nformat = 'delta'\npath = 'lake/more'\n"
    assert not [each for each in said(pipeline("state", "orders", more=lake + below)) if "below" in each]


def test_tables_beside_each_other_are_none(tmp_path: Path) -> None:
    beside = pipeline(".trivium/shop", "lake/orders", "lake/orders2", ".trivium/lake")
    assert not [each for each in check(beside) if "below" in each.sentence]


def test_one_place_written_in_two_ways_is_one_place() -> None:
    assert "is also the sink of f0" in said(pipeline("state", "lake/orders", "./lake/../lake/orders/"))[0]
