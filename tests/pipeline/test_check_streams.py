"""What a stream without an end allows: watermarks, windows, joins, de-duplication."""

import pytest
from tests.pipeline.definitions import ORDERS, defined, flow, said, warned

from trivium.pipeline.definition import Definition

CLICKS = '[source.clicks]\nschema = "id BIGINT, at TIMESTAMP, page STRING"\n'
UPSERT = '{ format = "delta", path = "lake", mode = "upsert", key = ["customer"] }'


def joined(sql: str, *, watermark: str = "") -> Definition:
    return defined(f"{ORDERS}{CLICKS}{watermark}\n[flow.f]\nsql = '''{sql}'''\nsink = {{ topic = 'out' }}")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT customer, count(*) AS n FROM orders GROUP BY customer, at",
        "SELECT customer, count(*) AS n FROM orders GROUP BY customer, window(at, '1 minute')",
        "SELECT count(*) AS n FROM orders GROUP BY customer, session_window(at, '5 minutes')",
        "SELECT w, sum(n) AS n FROM (SELECT at AS w, 1 AS n FROM orders) GROUP BY w",
        "SELECT DISTINCT id, at FROM orders",
        "WITH x AS (SELECT id, at FROM orders) SELECT at AS t, max(id) AS m FROM x GROUP BY 1",
        "SELECT id, at FROM orders LIMIT 10",
    ],
)
def test_aggregate_of_a_held_time_is_final(sql: str) -> None:
    assert said(flow(sql)) == []


@pytest.mark.parametrize(
    ("sql", "by"),
    [
        ("SELECT customer, count(*) AS n FROM orders GROUP BY customer", "customer"),
        ("SELECT count(*) AS n FROM orders", "all rows"),
        ("SELECT DISTINCT customer FROM orders", "customer"),
        ("SELECT date(at) AS d, count(*) AS n FROM orders GROUP BY date(at)", "CAST(at AS DATE)"),
        ("SELECT m FROM (SELECT max(id) AS m FROM orders)", "all rows"),
    ],
)
def test_aggregate_that_is_never_final_is_an_error(sql: str, by: str) -> None:
    (found,) = said(flow(sql))
    assert found.startswith(
        f"Aggregates by {by} are never final, so nothing would be written. Group by window(…)"
    )


def test_aggregate_without_a_watermark_is_told_to_add_one() -> None:
    sql = "SELECT count(*) AS n FROM clicks GROUP BY window(at, '1 minute')"
    shop = defined(f"[pipeline]\nname='shop'\n{CLICKS}[flow.f]\nsql=\"{sql}\"\nsink = {{ topic = 'out' }}")
    (found,) = said(shop)
    assert "Add watermark = … and group by window(…)" in found


def test_wrong_watermark_is_one_complaint_not_two() -> None:
    shop = defined(
        ORDERS.replace("at 10 minutes", "att 10 minutes")
        + """[flow.f]
        sql = "SELECT count(*) AS n FROM orders GROUP BY window(at, '1 minute')"
        sink = { topic = "out" }"""
    )
    assert said(shop) == ["The watermark is on att, which is no column of orders. Did you mean 'at'?"]


def test_aggregate_that_is_upserted_is_only_remembered() -> None:
    (found,) = warned(flow("SELECT customer, count(*) AS n FROM orders GROUP BY customer", sink=UPSERT))
    assert found.startswith("Aggregates by customer are remembered for ever.")


def test_time_is_held_where_columns_are_not_known() -> None:
    shop = defined(
        """
        [pipeline]
        name = "shop"
        [source.orders]
        watermark = "at 1 minute"
        [flow.every]
        sql = "SELECT * FROM orders"
        [flow.f]
        sql = "SELECT count(*) AS n FROM every GROUP BY window(at, '1 minute')"
        sink = { topic = "out" }
        [flow.g]
        sql = "SELECT count(*) AS n FROM orders o GROUP BY window(o.at, '1 minute')"
        sink = { topic = "out2" }
        [flow.h]
        sql = "SELECT * FROM orders"
        deduplicate = "id"
        sink = { topic = "out3" }
        """
    )
    assert said(shop) == []


def test_view_is_judged_by_where_its_rows_end() -> None:
    view = '[flow.v]\nsql = "SELECT customer, count(*) AS n FROM orders GROUP BY customer"\n'
    reader = '[flow.{0}]\nsql = "SELECT * FROM v"\nsink = {1}\n'
    upserted = defined(ORDERS + view + reader.format("a", UPSERT))
    also_sent = defined(ORDERS + view + reader.format("a", UPSERT) + reader.format("b", '{ topic = "out" }'))
    assert len(warned(upserted)) == 1
    assert len(said(also_sent)) == 1


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        ("SELECT id, row_number() OVER (PARTITION BY id ORDER BY at) AS n FROM orders", "ROW_NUMBER() OVER"),
        ("SELECT id FROM orders ORDER BY id", "ORDER BY id"),
        ("SELECT id FROM orders WHERE id IN (SELECT id FROM orders)", "A SELECT inside an expression"),
    ],
)
def test_what_needs_all_rows_is_an_error(sql: str, what: str) -> None:
    found = said(flow(sql))
    assert found[0].startswith(what)
    assert "needs all rows at once, and a stream has no end." in found[0]


def test_tables_may_be_sorted_and_summed() -> None:
    shop = defined(
        ORDERS
        + """
        [source.customers]
        format = "delta"
        path = "crm"
        [flow.f]
        sql = '''SELECT o.id, c.name FROM orders o
                 JOIN (SELECT max(name) AS name, id FROM customers GROUP BY id) c ON o.id = c.id'''
        sink = { topic = "out" }
        """
    )
    assert said(shop) == []


def test_join_of_streams_needs_watermarks() -> None:
    inner = "SELECT o.id, c.page FROM orders o JOIN clicks c ON o.id = c.id"
    outer = inner.replace("JOIN", "LEFT JOIN")
    timed = f"{outer} AND c.at BETWEEN o.at AND o.at + INTERVAL 1 HOUR"
    held = 'watermark = "at 1 hour"'
    assert warned(joined(inner)) == [
        "Two streams are joined without watermarks: every row is remembered for ever. Add watermarks."
    ]
    assert warned(joined(inner, watermark=held)) == []
    for endless in (joined(outer), joined(outer, watermark=held), joined(timed)):
        assert said(endless)[0].startswith(
            "An outer join of two streams has to know when no partner can come"
        )
    assert said(joined(timed, watermark=held)) == []


def test_union_has_the_times_of_its_first_part() -> None:
    count = "SELECT count(*) AS n FROM ({}) GROUP BY window(at, '1 hour')"
    held, free = "SELECT at FROM orders", "SELECT at FROM clicks"
    assert said(joined(count.format(f"{held} UNION ALL {free}"))) == []
    assert len(said(joined(count.format(f"{free} UNION ALL {held}")))) == 1


def test_deduplication_needs_a_watermark_and_its_columns() -> None:
    assert said(flow("SELECT id, at FROM orders", more='deduplicate = ["id"]')) == []
    (no_time,) = said(flow("SELECT id FROM orders", more='deduplicate = ["id"]'))
    (no_column,) = said(flow("SELECT id, at FROM orders", more='deduplicate = ["idd"]'))
    assert no_time.startswith("Rows are compared for as long as the watermark waits, and there is none.")
    assert no_column == "'deduplicate' names idd, which the flow does not give. Did you mean 'id'?"
