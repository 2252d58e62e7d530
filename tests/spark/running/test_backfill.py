"""What a backfill reads: nothing that the live flow or another backfill has. No Spark (R19)."""

from pathlib import Path

import pytest

from trivium.client.cluster import Cluster
from trivium.client.door import Door
from trivium.client.group_offsets import CommittedOffset, commit_offsets
from trivium.client.topology import TopicPartition
from trivium.pipeline import Definition, Pipeline, delta, to_topic
from trivium.pipeline.beside import why_not_beside
from trivium.pipeline.checking.graph import graph_of
from trivium.pipeline.mistake import Mistake
from trivium.pipeline.source import TopicSource
from trivium.pipeline.start import EARLIEST, LATEST
from trivium.spark.running.backfill import Backfill, parse_moment, plan_backfill
from trivium.spark.running.beginnings import beginning
from trivium.spark.running.errors import CannotRun
from trivium.testing import Broker


@pytest.fixture
def shop(tmp_path: Path) -> Definition:
    p = Pipeline("shop", state=str(tmp_path / "state"))
    p.source("orders", schema="id BIGINT", start="latest")
    p.sql("kept", "SELECT * FROM orders", sink=delta("kept"))
    return p.definition()


def plan(shop: Definition, broker: Broker, since: str, until: str | None = None) -> Backfill | None:
    flow = shop.flow("kept")
    assert flow is not None
    first = parse_moment("--from", since, ("orders",))
    last = None if until is None else parse_moment("--to", until, ("orders",))
    return plan_backfill(shop, flow, first, last, Door(broker.bootstrap))


def begin(shop: Definition, broker: Broker) -> None:
    flow, source = shop.flow("kept"), shop.source("orders")
    assert flow is not None
    assert isinstance(source, TopicSource)
    assert beginning(shop, flow, source, Door(broker.bootstrap)) is not None


def test_backfills_share_out_what_lies_before_the_beginning(shop: Definition, broker: Broker) -> None:
    broker.create_topic("orders", 1)
    broker.produce("orders", [str(number) for number in range(100)])
    with pytest.raises(CannotRun, match="kept has never run"):
        plan(shop, broker, "earliest")
    begin(shop, broker)
    broker.produce("orders", ["new"])
    first = plan(shop, broker, '{"0": 60}', "2100-01-01")
    assert first is not None
    assert first.sentences == ["orders, partition 0: offsets 60 to 99."]
    # Broken off, it is finished before anything else is begun.
    again = plan(shop, broker, "earliest", '{"0": 10}')
    assert again is not None
    assert (again.is_resumed, again.passage.number, again.sentences) == (True, 1, first.sentences)
    first.mark_done()
    second = plan(shop, broker, '{"0": 50}')
    assert second is not None
    assert (second.passage.number, second.sentences) == (2, ["orders, partition 0: offsets 50 to 59."])
    assert second.passage.name == "shop.kept-backfill-2"
    second.mark_done()
    third = plan(shop, broker, '{"0": 10}', '{"0": 20}')
    assert third is not None
    third.mark_done()
    with pytest.raises(CannotRun, match="filled from offset 10 to 19 already"):
        plan(shop, broker, "earliest")
    fourth = plan(shop, broker, "earliest", '{"0": 15}')
    assert fourth is not None
    assert fourth.sentences == ["orders, partition 0: offsets 0 to 9."]
    fourth.mark_done()
    last = plan(shop, broker, "earliest")
    assert last is not None
    assert last.sentences == ["orders, partition 0: offsets 20 to 49."]
    last.mark_done()
    assert plan(shop, broker, "earliest") is None


def test_pattern_begins_with_the_topics_that_are_there_and_never_with_internal_ones(
    tmp_path: Path, broker: Broker
) -> None:
    p = Pipeline("shop", state=str(tmp_path / "state"))
    p.source("all", pattern=".*", schema="id BIGINT")
    p.source("none", pattern="nothing-.*", schema="id BIGINT")
    p.sql("kept", "SELECT * FROM all", sink=delta("kept"))
    definition = p.definition()
    flow, every, none = definition.flow("kept"), definition.source("all"), definition.source("none")
    assert flow is not None
    assert isinstance(every, TopicSource)
    assert isinstance(none, TopicSource)
    broker.create_topic("seen", 1)
    with Cluster.connect(broker.bootstrap) as cluster:
        commit_offsets(cluster, "g", {TopicPartition("seen", 0): CommittedOffset(0)})
    found = beginning(definition, flow, every, Door(broker.bootstrap))
    assert found is not None
    assert "seen" in {key.topic for key in found}
    assert not [key for key in found if key.topic.startswith("__")]
    assert beginning(definition, flow, none, Door(broker.bootstrap)) is None


@pytest.mark.parametrize(
    ("sql", "options", "reason"),
    [
        ("SELECT * FROM orders", {"sink": delta("t", mode="upsert", key="id")}, "last row of each key"),
        ("SELECT id, count(*) AS n FROM orders GROUP BY id", {}, "rows of many records"),
        ("SELECT DISTINCT id FROM orders", {}, "rows of many records"),
        ("SELECT o.id FROM orders o JOIN others p ON o.id = p.id", {}, "joins streams"),
        ("SELECT * FROM orders", {"deduplicate": "id"}, "first of equal rows"),
        ("SELECT * FROM firsts", {}, "first of equal rows"),
        ("SELECT * FROM orders UNION ALL SELECT * FROM others", {}, None),
        ("SELECT o.id FROM orders o JOIN people p ON o.id = p.id", {}, None),
    ],
)
def test_flows_whose_rows_depend_on_others_are_refused(
    sql: str, options: dict[str, object], reason: str | None
) -> None:
    p = Pipeline("shop")
    p.source("orders", schema="id BIGINT, at TIMESTAMP", watermark="at 1 minute")
    p.source("others", schema="id BIGINT, at TIMESTAMP")
    p.source("people", format="delta", path="people")
    p.sql("firsts", "SELECT * FROM orders", deduplicate="id")
    p.sql("f", sql, **{"sink": to_topic("out"), **options})  # type: ignore[arg-type]
    definition = p.definition()
    flow = definition.flow("f")
    assert flow is not None
    found = why_not_beside(definition, graph_of(definition), flow)
    if reason is None:
        assert found is None
    else:
        assert found is not None
        assert reason in found
        assert "Reset it" in found


def test_moments_are_words_times_and_offsets() -> None:
    assert parse_moment("--from", "earliest", ("t",)) == EARLIEST
    assert parse_moment("--to", "latest", ("t",)) == LATEST
    assert parse_moment("--from", '{"0": 7}', ("t",)).offsets[0].offset == 7
    for wrong in ("sometimes", "{nothing", '{"x": 1}'):
        with pytest.raises(Mistake):
            parse_moment("--from", wrong, ("t",))
    with pytest.raises(Mistake, match="Write earliest, latest, a time such as"):
        parse_moment("--from", "sometimes", ("t",))
    with pytest.raises(Mistake, match="Did you mean 'earliest'"):
        parse_moment("--from", "earlest", ("t",))
