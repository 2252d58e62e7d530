"""Who reads whom, who writes where, and the names of all."""

import pytest
from tests.pipeline.definitions import ORDERS, defined, flow, said, warned

from trivium.pipeline import Pipeline, delta, to_topic
from trivium.pipeline.checking import check
from trivium.pipeline.checking.graph import graph_of


def flows(**sqls: str) -> str:
    return ORDERS + "\n".join(
        f"[flow.{name}]\nsql = '{sql}'\nsink = {{ topic = 'to_{name}' }}" for name, sql in sqls.items()
    )


def test_unknown_input_is_an_error() -> None:
    assert said(flow("SELECT id FROM ordrs"))[0] == "There is no source or flow ordrs. Did you mean 'orders'?"
    assert said(flow("SELECT id FROM lake.orders"))[0].startswith("There is no source or flow lake.orders.")


def test_unknown_argument_of_a_function_is_an_error() -> None:
    p = Pipeline("shop")
    p.source("orders", schema="id BIGINT")

    @p.flow(sink=to_topic("out"))
    def clean(ordrs: object) -> object:
        return ordrs

    findings = check(p.definition())
    assert findings[0].sentence == "There is no source or flow ordrs."
    assert findings[0].where == "flow.clean"
    assert findings[0].line is not None


def test_flow_that_reads_itself_is_an_error() -> None:
    assert said(defined(flows(a="SELECT * FROM a")))[0].startswith("The flow reads itself.")
    circle = said(defined(flows(a="SELECT * FROM b", b="SELECT * FROM c", c="SELECT * FROM a")))
    assert circle[0].startswith("The flow reads itself through b, c.")
    assert len(circle) == 3


def test_order_of_flows_is_theirs_not_the_files() -> None:
    graph = graph_of(
        defined(
            flows(last="SELECT * FROM Middle", middle="SELECT * FROM first", first="SELECT * FROM orders")
        )
    )
    assert [each.name for each in graph.order] == ["first", "middle", "last"]
    assert graph.inputs["last"] == ("middle",)
    assert graph.upstream(graph.order[-1]) == {"middle", "first", "orders"}


def test_what_nobody_reads_is_a_warning() -> None:
    shop = defined(
        flows(a="SELECT id FROM orders") + "\n[source.other]\nformat='raw'\n[flow.v]\nsql='SELECT id FROM a'"
    )
    assert warned(shop) == [
        "No flow reads other. Remove it, or read it.",
        "v has no sink and no reader. Give it a sink.",
    ]


def test_pipeline_without_a_flow_is_an_error() -> None:
    assert said(defined("[pipeline]\nname = 'shop'")) == [
        "The pipeline has no flow, and so nothing to do. Add one with a query and a sink."
    ]


def test_names_that_differ_in_nothing_but_case_collide() -> None:
    (found,) = [each for each in said(defined(flows(Orders="SELECT id FROM orders"))) if "taken" in each]
    assert found.startswith("The name Orders is taken by source orders.")


def test_flows_in_python_of_one_name_collide() -> None:
    p = Pipeline("shop")
    p.source("orders", schema="id BIGINT")
    p.sql("a", "SELECT id FROM orders", sink=to_topic("x"))
    p.sql("a", "SELECT id FROM orders", sink=to_topic("y"))
    assert any(each.sentence == "The name a is taken by flow a." for each in check(p.definition()))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (to_topic("x"), to_topic("x", key="id")),
        (delta("lake/x"), delta("./lake/x/")),
        (delta("lake/x"), {"format": "parquet", "path": "file://lake/x"}),
        (to_topic("x"), to_topic("x__quarantine")),
    ],
)
def test_two_flows_cannot_write_to_one_place(first: object, second: object) -> None:
    p = Pipeline("shop")
    p.source("orders", schema="id BIGINT")
    p.sql("a", "SELECT id FROM orders", sink=first)  # type: ignore[arg-type]
    p.sql("b", "SELECT id FROM orders", sink=second)  # type: ignore[arg-type]
    (found,) = check(p.definition())
    assert "is also the" in found.sentence
    assert found.where == "flow.b.sink"


def test_flow_that_feeds_itself_is_an_error() -> None:
    (found,) = said(flow("SELECT id FROM orders", sink='{ topic = "orders" }'))
    assert found.startswith("The flow writes to orders, which it reads: it would never end.")


@pytest.mark.parametrize(
    ("sink", "sentence"),
    [
        ('{ topic = "o", key = "idd" }', "'key' names idd, which the flow does not give. Did you mean 'id'?"),
        ('{ topic = "o", key = "tags" }', "The key tags is ARRAY<STRING>."),
        (
            '{ topic = "o", format = "text", key = "id" }',
            "text takes one column beside the key, and the flow has tags, day.",
        ),
        ('{ topic = "o", format = "csv" }', "tags is ARRAY<STRING>, which csv cannot hold."),
        (
            '{ format = "delta", path = "x", partition_by = ["dy"] }',
            "'partition_by' names dy, which the flow does not give.",
        ),
        (
            '{ format = "delta", path = "x", partition_by = ["tags"] }',
            "tags is ARRAY<STRING>; 'partition_by' needs simple",
        ),
        ('{ format = "delta", path = "x", partition_by = ["_offset"] }', "'partition_by' names _offset"),
        ('{ format = "delta", path = "x", mode = "upsert", key = ["idd"] }', "'key' names idd"),
        ('{ format = "parquet", path = "x", partition_by = ["id", "tags", "day"] }', "tags is ARRAY<STRING>"),
    ],
)
def test_sink_names_columns_that_the_flow_gives(sink: str, sentence: str) -> None:
    found = said(flow("SELECT id, tags, date(at) AS day FROM orders", sink=sink))
    assert found[0].startswith(sentence)


def test_sink_gets_metadata_only_where_it_is_selected() -> None:
    by_offset = '{ format = "delta", path = "x", partition_by = ["_partition"] }'
    assert said(flow("SELECT *, _partition FROM orders", sink=by_offset)) == []
    assert said(flow("SELECT id, _partition FROM orders", sink=by_offset)) == []
    assert said(flow("SELECT * FROM orders", sink=by_offset))[0].startswith("'partition_by' names _partition")


def test_column_that_comes_twice_is_an_error() -> None:
    assert said(flow("SELECT id, customer AS ID FROM orders")) == [
        "The flow gives two columns id. Rename one of them with AS."
    ]


def test_findings_have_lines_and_errors_come_first() -> None:
    shop = defined(
        ORDERS.strip()
        + "\n[source.idle]\nformat = 'raw'\n[flow.f]\nsql = 'SELECT x FROM orders'\nsink = { topic = 'o' }"
    )
    assert [(str(each.severity), each.line, each.where) for each in check(shop)] == [
        ("error", 10, "flow.f.sql"),
        ("warning", 7, "source.idle"),
    ]
