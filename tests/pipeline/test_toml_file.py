"""Definitions in TOML: what they give, and every mistake with its place and what to do."""

import pytest
from tests.pipeline.definitions import ORDERS, defined, refused

from trivium.pipeline.expectation import Expectation, Otherwise
from trivium.pipeline.finding import Unreadable
from trivium.pipeline.record_format import FormatKind
from trivium.pipeline.sink import SinkMode, TableSink, TopicSink, ValueFormat
from trivium.pipeline.source import NewColumns, TableSource, TopicSource
from trivium.pipeline.span import Span
from trivium.pipeline.table import Table, TableFormat
from trivium.pipeline.trigger import Trigger, TriggerKind


def test_definition_holds_what_the_file_says() -> None:
    shop = defined(
        """
        [pipeline]
        name = "shop"
        bootstrap = "broker:9092"
        state = "s3://bucket/state/"
        [source.orders]
        topics = ["orders-eu", "orders-us"]
        format = "csv"
        delimiter = ";"
        schema = "id BIGINT"
        new_columns = "add"
        malformed = "drop"
        [source.customers]
        format = "iceberg"
        table = "crm.customers"
        catalog = "prod"
        [flow.clean]
        sql = "SELECT * FROM orders"
        expect.positive = "id > 0"
        expect.small = { where = "id < 9", otherwise = "fail" }
        deduplicate = "id"
        quarantine = { topic = "bad" }
        sink = { format = "delta", path = "lake/o", mode = "upsert", key = "id" }
        trigger = "available-now"
        """
    )
    orders, customers = shop.sources
    (clean,) = shop.flows
    assert isinstance(orders, TopicSource)
    assert (orders.topics, orders.format.kind, orders.format.delimiter) == (
        ("orders-eu", "orders-us"),
        FormatKind.CSV,
        ";",
    )
    assert (orders.new_columns, orders.malformed) == (NewColumns.ADD, Otherwise.DROP)
    assert customers == TableSource("customers", Table(TableFormat.ICEBERG, None, "crm.customers", "prod"))
    assert clean.expectations == (
        Expectation("positive", "id > 0"),
        Expectation("small", "id < 9", Otherwise.FAIL),
    )
    assert clean.sink == TableSink(Table(TableFormat.DELTA, "lake/o"), SinkMode.UPSERT, ("id",))
    assert clean.quarantine == TopicSink("bad")
    assert clean.trigger == Trigger(TriggerKind.AVAILABLE_NOW)
    assert shop.broker({}) == "broker:9092"
    assert shop.checkpoint_of(clean) == "s3://bucket/state/checkpoints/clean"
    assert shop.pinned_schema_of(orders) == "s3://bucket/state/schemas/orders.ddl"
    assert shop.group_of(clean) == "shop.clean"


def test_definition_without_details_has_defaults() -> None:
    shop = defined(
        ORDERS + '[flow.f]\nsql = "SELECT 1 FROM orders"\nsink = { topic = "out" }\ntrigger = "1 second"'
    )
    (orders,), (flow,) = shop.sources, shop.flows
    assert isinstance(orders, TopicSource)
    assert orders.topics == ("orders",)  # A source without a topic reads the one of its name.
    assert flow.sink == TopicSink("out", None, ValueFormat.JSON)
    assert flow.quarantine == TopicSink("out__quarantine")
    assert flow.trigger.every == Span(1_000)
    assert shop.state == ".trivium/shop"
    assert shop.broker({}) == "127.0.0.1:9092"
    assert shop.broker({"TRIVIUM_BROKER": "b:1"}) == "b:1"
    assert shop.broker({"TRIVIUM_BROKER": "b:1", "TRIVIUM_BOOTSTRAP": "a:1"}) == "a:1"


def test_quarantine_of_a_table_is_a_table_beside_it() -> None:
    shop = defined(ORDERS + '[flow.f]\nsql = "SELECT 1"\nsink = { format = "parquet", path = "lake/o/" }')
    assert shop.flows[0].quarantine == TableSink(Table(TableFormat.PARQUET, "lake/o__quarantine"))


@pytest.mark.parametrize(
    ("text", "line", "where", "sentence"),
    [
        ("[sorce.a]", 1, "sorce", "A pipeline has no 'sorce'. Did you mean 'source'?"),
        (
            "[source.a]\nformat = 'jsn'",
            2,
            "source.a.format",
            "'format' cannot be 'jsn'. Did you mean 'json'?",
        ),
        ("[source.a]\nname = 'x'", 2, "source.a.name", "A source has no 'name'."),
        ("[source.a]\ntopik = 'x'", 2, "source.a.topik", "A source has no 'topik'. Did you mean 'topic'?"),
        ("[source.a]\ntopic = 3", 2, "source.a.topic", "'topic' must be a list of texts, not a number."),
        ("[source.a]\ntopics = []", 2, "source.a.topics", "There is no topic to read."),
        ("[source.a]\ntopics = ['x', 'x']", 2, "source.a.topics", "'topics' names x twice."),
        ("[source.a]\ntopic = 'x'\npattern = 'y'", 3, "source.a.pattern", "There is 'topic' and 'pattern'."),
        ("[source.a]\npattern = '('", 2, "source.a.pattern", "'(' is no regular expression"),
        (
            "[source.a]\nformat = 'avro'",
            2,
            "source.a.format",
            "avro cannot be read without the schema (.avsc).",
        ),
        ("[source.a]\nformat='protobuf'\nschema_file='x'", 2, "source.a.format", "protobuf needs the name"),
        ("[source.a]\nformat='raw'\nschema='x INT'", 3, "source.a.schema", "raw has one column, value"),
        ("[source.a]\nschema='x INT'\nschema_file='y'", 3, "source.a.schema_file", "There is a schema and"),
        ("[source.a]\nmessage='x'", 2, "source.a.message", "json has no messages"),
        ("[source.a]\nschema_id=1", 2, "source.a.schema_id", "json is read without a registry's prefix."),
        (
            "[source.a]\nformat='avro'\nschema_file='x'\nschema_id='17'",
            4,
            "source.a.schema_id",
            "'schema_id' must be the number that a registry gave to the schema.",
        ),
        (
            "[source.a]\nformat='avro'\nschema_file='x'\nschema_id=[]",
            4,
            "source.a.schema_id",
            "'schema_id' is an empty list.",
        ),
        ("[source.a]\ndelimiter=';'", 2, "source.a.delimiter", "json has no delimiter."),
        (
            "[source.a]\nformat='csv'\ndelimiter=';;'",
            3,
            "source.a.delimiter",
            "'delimiter' must be one character.",
        ),
        (
            "[source.a]\nformat='delta'\npath='x'\nstart='latest'",
            4,
            "source.a.start",
            "'start' belongs to topics",
        ),
        ("[source.a]\npath='x'", 1, "source.a.format", "The format of the table a is missing."),
        ("[source.a]\nformat='delta'\ntable='x'", 3, "source.a.table", "delta tables have a path"),
        ("[source]\na = 3", 2, "source.a", "'a' must be a table, not a number."),
        ("[source.a-b]", 1, "source.a-b", "'a-b' is no name here."),
        ("[flow.f]", 1, "flow.f", "The flow has no query."),
        ("[flow.f]\nsql=''", 2, "flow.f.sql", "'sql' is empty."),
        ("[flow.f]\nsql='s'\nsinks='x'", 3, "flow.f.sinks", "A flow has no 'sinks'. Did you mean 'sink'?"),
        (
            "[flow.f]\nsql='s'\nsink={format='delta', path='x', compact='10 seconds'}",
            3,
            "flow.f.sink.compact",
            "A table cannot be compacted every 10 seconds.",
        ),
        (
            "[flow.f]\nsql='s'\nsink={topic='x', compact='1 hour'}",
            3,
            "flow.f.sink.compact",
            "A topic as a sink has no 'compact'.",
        ),
        ("[flow.f]\nsql='s'\nsink='x'", 3, "flow.f.sink", "This must be a table, not a text."),
        ("[flow.f]\nsql='s'\nsink={}", 3, "flow.f.sink", "The sink is neither a topic nor a table."),
        (
            "[flow.f]\nsql='s'\nsink={format='dleta', path='x'}",
            3,
            "flow.f.sink.format",
            "'format' cannot be 'dleta'.",
        ),
        ("[flow.f]\nsql='s'\nsink={format='delta'}", 3, "flow.f.sink.path", "The table has no path."),
        (
            "[flow.f]\nsql='s'\nsink={topic='t', path='x'}",
            3,
            "flow.f.sink.path",
            "A topic as a sink has no 'path'.",
        ),
        (
            "[flow.f]\nsql='s'\nsink={format='delta', path='x', mode='upsert'}",
            3,
            "flow.f.sink.mode",
            "An upsert needs to know which rows are the same.",
        ),
        (
            "[flow.f]\nsql='s'\nsink={format='delta', path='x', key='id'}",
            3,
            "flow.f.sink.key",
            "A table that is only appended to has no use for a key.",
        ),
        (
            "[flow.f]\nsql='s'\nsink={format='parquet', path='x', mode='upsert', key='id'}",
            3,
            "flow.f.sink.mode",
            "Parquet files cannot be changed by key.",
        ),
        ("[flow.f]\nsql='s'\nexpect.a=3", 3, "flow.f.expect.a", "This must be a table, not a number."),
        (
            "[flow.f]\nsql='s'\nexpect.a={wher='x'}",
            3,
            "flow.f.expect.a.wher",
            "An expectation has no 'wher'.",
        ),
        ("[flow.f]\nsql='s'\nexpect.a='x'", 3, "flow.f.expect.a", "A flow without a sink has no quarantine."),
        (
            "[flow.f]\nsql='s'\ntrigger='1 second'",
            3,
            "flow.f.trigger",
            "A flow without a sink runs with those",
        ),
    ],
)
def test_mistake_is_named_with_its_key_and_line(text: str, line: int, where: str, sentence: str) -> None:
    (finding,) = refused(f"{text}\n[pipeline]\nname = 'shop'")
    assert (finding.line, finding.where) == (line, where)
    assert f"{finding.sentence} {finding.remedy}".startswith(sentence)


def test_all_mistakes_are_found_at_once() -> None:
    found = refused("[source.a]\nformat='x'\n[source.b]\nstart='x'\n[flow.f]\n[pipeline]\nnam='shop'")
    assert sorted(each.where for each in found) == [
        "flow.f",
        "pipeline.nam",
        "source.a.format",
        "source.b.start",
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "[pipeline\n",
            "shop.toml: line 1: This is not TOML: expected ']' at the end of a table declaration.",
        ),
        ("", "shop.toml: pipeline: The pipeline has no name. Begin with [pipeline]"),
        ("[pipeline]\nname = '../x'", "shop.toml: line 2, pipeline.name: '../x' is no name here."),
        ("pipeline = 3", "shop.toml: line 1, pipeline: 'pipeline' must be a table, not a number."),
    ],
)
def test_unreadable_file_is_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(Unreadable) as raised:
        defined(text)
    assert str(raised.value).startswith(sentence)
