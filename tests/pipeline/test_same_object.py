"""A definition in TOML and the equal one in Python are equal."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.pipeline import Pipeline, delta, iceberg, parquet, to_topic
from trivium.pipeline.building import FLOW_KEYS, SOURCE_KEYS
from trivium.pipeline.template import template
from trivium.pipeline.toml_file import read_toml

names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
texts = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=12
).filter(str.strip)
times = st.sampled_from(["10 seconds", "1 hour 30 minutes", "2 days"])


def some(**strategies: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=strategies)


topic_sources = st.one_of(
    some(topic=texts), some(topics=st.lists(texts, min_size=1, unique=True)), some(pattern=st.just("a-.*"))
).flatmap(
    lambda where: some(
        start=st.sampled_from(["earliest", "latest", "2025-06-15T10:30", "2025-06-15T10:30:00+02:00"]),
        watermark=times.map(lambda time: f"at {time}"),
        new_columns=st.sampled_from(["report", "add", "fail"]),
        malformed=st.sampled_from(["quarantine", "drop", "fail"]),
        schema=st.sampled_from(["id BIGINT", "a ARRAY<STRING>, `b c` STRUCT<d: INT>"]),
        format=st.sampled_from(["json", "csv"]),
    ).map(lambda rest: {**where, **rest})
)
table_sources = st.fixed_dictionaries(
    {"format": st.sampled_from(["delta", "iceberg", "parquet"]), "path": texts}
)
columns = st.lists(texts, min_size=1, max_size=3, unique=True)
table_options = some(partition_by=columns) | st.fixed_dictionaries(
    {"mode": st.just("upsert"), "key": columns}
)
sinks = st.one_of(
    st.tuples(
        st.just(to_topic), texts, some(key=texts, format=st.sampled_from(["json", "csv", "text", "raw"]))
    ),
    st.tuples(st.just(parquet), texts, some(partition_by=columns)),
    st.tuples(st.sampled_from([delta, iceberg]), texts, table_options),
)
expectations = st.dictionaries(
    names,
    texts
    | st.fixed_dictionaries({"where": texts}, optional={"otherwise": st.sampled_from(["drop", "fail"])}),
    max_size=3,
)
flows = st.fixed_dictionaries(
    {"sql": texts, "sink": sinks},
    optional={
        "expect": expectations,
        "quarantine": sinks,
        "deduplicate": columns,
        "trigger": times | st.sampled_from(["continuous", "available-now"]),
    },
)


@settings(deadline=None)
@given(
    some(bootstrap=texts, state=texts),
    st.dictionaries(names, topic_sources | table_sources, max_size=3),
    st.dictionaries(names, flows, max_size=3),
)
def test_toml_and_python_build_the_same(
    options: dict[str, Any], sources: dict[str, dict[str, Any]], written: dict[str, dict[str, Any]]
) -> None:
    in_python = Pipeline("shop", **options)
    document: dict[str, Any] = {"pipeline": {"name": "shop", **options}, "source": sources, "flow": {}}
    for name, source in sources.items():
        in_python.source(name, **source)
    for name, flow in written.items():
        sql = flow["sql"]
        rest = {key: value for key, value in flow.items() if key != "sql"}
        made = {key: _made(value) if key in ("sink", "quarantine") else value for key, value in rest.items()}
        in_python.sql(name, sql, **made)
        tables = {
            key: _table(value) if key in ("sink", "quarantine") else value for key, value in rest.items()
        }
        document["flow"][name] = {"sql": sql, **tables}
    assert read_toml(Path("shop.toml"), _toml(document)) == in_python.definition()


def test_every_key_is_tried() -> None:
    """The property above is worth as much as the keys that it knows."""
    tried = {
        "topic",
        "topics",
        "pattern",
        "start",
        "watermark",
        "new_columns",
        "malformed",
        "schema",
        "format",
        "path",
    }
    assert set(SOURCE_KEYS) - tried == {
        "schema_file",
        "schema_id",
        "expired",
        "message",
        "delimiter",
        "table",
        "catalog",
    }
    assert set(FLOW_KEYS) == {"sink", "expect", "quarantine", "deduplicate", "trigger"}


def test_templates_say_the_same_but_for_the_function(tmp_path: Path) -> None:
    from trivium.pipeline import load

    (tmp_path / "shop.toml").write_text(template("shop", is_python=False))
    (tmp_path / "shop.py").write_text(template("shop", is_python=True))
    toml, python = load(tmp_path / "shop.toml"), load(tmp_path / "shop.py")
    assert toml.sources == python.sources
    assert [(flow.name, flow.sink, flow.expectations, flow.trigger) for flow in toml.flows] == [
        (flow.name, flow.sink, flow.expectations, flow.trigger) for flow in python.flows
    ]


def _made(sink: tuple[Any, str, dict[str, Any]]) -> Any:
    make, where, options = sink
    return make(where, **options)


def _table(sink: tuple[Any, str, dict[str, Any]]) -> dict[str, Any]:
    make, where, options = sink
    return (
        {"topic": where, **options}
        if make is to_topic
        else {"format": make.__name__, "path": where, **options}
    )


def _toml(value: Any, is_top: bool = True) -> str:
    """TOML for tables of tables; JSON's strings and lists are TOML's."""
    if is_top:
        return "\n".join(f"{key} = {_toml(each, False)}" for key, each in value.items())
    if isinstance(value, dict):
        return (
            "{" + ", ".join(f"{json.dumps(key)} = {_toml(each, False)}" for key, each in value.items()) + "}"
        )
    return json.dumps(value, ensure_ascii=False)
