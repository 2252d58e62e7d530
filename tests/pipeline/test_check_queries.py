"""Columns and types of queries and expectations, without Spark."""

import pytest
from tests.pipeline.definitions import ORDERS, defined, flow, said, warned


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM orders",
        "SELECT ID, Customer FROM ORDERS",
        "SELECT o.to.city, to.zip, tags[0] AS tag FROM orders o",
        "SELECT id, _offset, _headers FROM orders",
        "WITH big AS (SELECT * FROM orders WHERE amount > 3) SELECT id AS k FROM big",
        "SELECT id FROM orders UNION ALL SELECT id FROM orders",
        "SELECT id, tag FROM orders LATERAL VIEW explode(tags) t AS tag",
        "SELECT explode(tags) AS tag FROM orders",
        "SELECT id FROM orders WHERE at > '2025-01-01' AND amount > '3' AND NOT paid",
        "SELECT at - INTERVAL 1 HOUR AS before, amount * 2 AS twice, customer || 'x' AS x FROM orders",
        "SELECT transform(tags, t -> upper(t)) AS tags FROM orders",
        "SELECT a.id FROM orders a JOIN orders b ON a.id = b.id AND a.at = b.at",
        "SELECT CASE WHEN paid THEN 1 ELSE 0 END AS n, some_function(id) AS s FROM orders -- a comment",
        "SELECT window.start AS s, count(*) AS n FROM orders GROUP BY window(at, '1 hour')",
        "SELECT window(at, '1 hour').end AS e, sum(amount) AS n FROM orders GROUP BY window(at, '1 hour')",
        "SELECT id, at FROM (SELECT id, at FROM orders) WHERE id IN (1, 2)",
        "WITH unused AS (SELECT 1 AS id FROM orders) SELECT id FROM orders",
    ],
)
def test_right_query_is_believed(sql: str) -> None:
    assert said(flow(sql)) == []


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("SELECT amont FROM orders", "There is no column amont in orders. Did you mean 'amount'?"),
        ("SELECT o.amont FROM orders o", "There is no column amont in orders. Did you mean 'amount'?"),
        ("SELECT x.id FROM orders o", "There is no input and no column x here. There is o."),
        (
            "SELECT id FROM orders WHERE custmer = 'a'",
            "There is no column custmer in orders. Did you mean 'customer'?",
        ),
        (
            "WITH b AS (SELECT id AS k FROM orders) SELECT id FROM b",
            "There is no column id in b. There is k.",
        ),
        ("SELECT id FROM orders UNION ALL SELECT idd FROM orders", "There is no column idd in orders."),
        ("SELECT to.cty FROM orders", "to has no field cty. Did you mean 'city'?"),
        ("SELECT id FROM orders WHERE amount", "amount is a number, and no condition."),
        ("SELECT id FROM orders WHERE paid AND id", "id is a number, and no condition."),
        ("SELECT id FROM orders WHERE at > 3", "at > 3 compares a time with a number."),
        (
            "SELECT id FROM orders WHERE amount > 'much'",
            "amount > 'much' compares a number with a text that is none.",
        ),
        ("SELECT paid + 1 AS x FROM orders", "paid + 1 calculates with paid, which is true or false."),
        ("SELECT at * 2 AS x FROM orders", "at * 2 calculates with at, which is a time."),
        ("SELECT sum(tags) AS s FROM orders GROUP BY at", "SUM(tags) adds what is no number"),
        (
            "SELECT count(*) AS n FROM orders GROUP BY window(id, '1 hour')",
            "window(id, '1 hour') needs a time",
        ),
        ("SELECT id FROM orders LIMT 3 4", "The SQL cannot be understood near '"),
        ("SELECT 'a FROM orders", "A quote or a comment in the SQL has no end."),
        ("SELECT id FROM orders; SELECT 1", "The SQL has 2 statements."),
        ("INSERT INTO orders SELECT 1", "A flow is a SELECT, and this is INSERT."),
        ("SELECT 1 AS one", "The flow reads nothing."),
    ],
)
def test_wrong_query_is_a_sentence(sql: str, sentence: str) -> None:
    found = said(flow(sql))
    assert found
    assert found[0].startswith(sentence)


def test_deep_query_is_a_sentence_and_no_crash() -> None:
    found = said(flow(f"SELECT {'(' * 5000}1{')' * 5000} AS x FROM orders"))
    assert len(found) == 1


def test_columns_pass_from_flow_to_flow() -> None:
    shop = defined(
        ORDERS
        + """
        [flow.view]
        sql = "SELECT id AS number, at FROM orders"
        [flow.f]
        sql = "SELECT number, id FROM view"
        sink = { topic = "out" }
        """
    )
    assert said(shop) == ["There is no column id in view. There are at, number."]


def test_columns_that_are_not_known_are_believed() -> None:
    shop = defined(
        """
        [pipeline]
        name = "shop"
        [source.orders]
        [flow.view]
        sql = "SELECT *, upper(customer) AS who FROM orders"
        [flow.f]
        sql = "SELECT * FROM view WHERE anything > 3"
        expect.good = "other"
        sink = { format = "delta", path = "lake", partition_by = ["day"] }
        """
    )
    (warning,) = warned(shop)
    assert warning.startswith("The columns of orders are not known yet.")


def test_mistake_of_one_flow_is_not_blamed_on_its_readers() -> None:
    shop = defined(
        ORDERS
        + """
        [flow.view]
        sql = "SELECT idd AS id FROM orders"
        [flow.f]
        sql = "SELECT id, other FROM view"
        sink = { topic = "out" }
        """
    )
    assert said(shop) == ["There is no column idd in orders. Did you mean 'id'?"]


def test_expression_without_a_name_is_a_warning() -> None:
    assert warned(flow("SELECT upper(customer) FROM orders")) == [
        "UPPER(customer) has no name of its own. Give it one: AS name."
    ]


@pytest.mark.parametrize(
    ("condition", "sentence"),
    [
        ("amont > 0", "There is no column amont in f. Did you mean 'amount'?"),
        ("amount", "'amount' is DECIMAL(12,2), and no condition."),
        ("sum(amount) > 0", "An expectation is about one row, not about several."),
        ("amount > (SELECT 3)", "This is more than a condition."),
        ("amount > 0) AS a, (id", "This is more than a condition."),
        ("amount >", "The SQL cannot be understood"),
        ("at > 3", "at > 3 compares a time with a number."),
    ],
)
def test_wrong_expectation_is_a_sentence(condition: str, sentence: str) -> None:
    (found,) = said(flow("SELECT * FROM orders", more=f'expect.good = "{condition}"'))
    assert found.startswith(sentence)


@pytest.mark.parametrize(
    "condition", ["amount > 0", "customer IS NOT NULL", "paid", "my_rule(id)", "_offset >= 0 -- x"]
)
def test_right_expectation_is_believed(condition: str) -> None:
    assert said(flow("SELECT * FROM orders", more=f'expect.good = "{condition}"')) == []
