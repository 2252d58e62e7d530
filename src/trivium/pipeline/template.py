"""A pipeline to begin with, in TOML and in Python: every key with what it is for.

Both say the same, and ``check`` has nothing to say against either but that topics are not there yet.
"""

from typing import Final

TOML: Final = '''\
# {name}: from a topic to a table and another topic.
#
#   trivium pipeline check {name}.toml      finds mistakes, in seconds and without Spark
#   trivium pipeline run {name}.toml        runs its flows until Ctrl-C
#   trivium pipeline status {name}.toml     shows how far each flow is behind

[pipeline]
name = "{name}"                     # names queries, checkpoints and consumer groups ({name}.clean)
# bootstrap = "127.0.0.1:9092"      # else TRIVIUM_BOOTSTRAP, else this
# state = ".trivium/{name}"         # checkpoints: a folder, or any URI that Spark can write

[source.events]                     # a topic as a view of SQL that is called events
topic = "{name}"                    # or topics = ["a", "b"], or pattern = "orders-.*"
format = "json"                     # json | avro | protobuf | csv | text | raw
schema = "id BIGINT, customer STRING, amount DECIMAL(12,2), at TIMESTAMP"   # left out: inferred, pinned
start = "earliest"                  # earliest | latest | 2025-06-15T10:30 | {{"0" = 17}}
watermark = "at 10 minutes"         # how long late records are waited for
# new_columns = "report"            # report | add | fail
# malformed = "quarantine"          # quarantine | drop | fail

[flow.clean]                        # one query: SQL over sources and other flows, expectations, one sink
sql = "SELECT *, date(at) AS day FROM events"
expect.positive_amount = "amount > 0"                                              # else quarantine
expect.known_customer = {{ where = "customer IS NOT NULL", otherwise = "drop" }}   # quarantine | drop | fail
# deduplicate = ["id"]              # the first of each within the watermark
sink = {{ format = "delta", path = "lake/{name}", partition_by = ["day"] }}      # delta | iceberg | parquet
# sink = {{ format = "delta", path = "lake/{name}", mode = "upsert", key = ["id"], compact = "1 hour" }}

[flow.per_minute]
sql = """
SELECT window(at, '1 minute').start AS minute, sum(amount) AS total
FROM clean
GROUP BY window(at, '1 minute')
"""
sink = {{ topic = "{name}_per_minute", key = "minute" }}                         # exactly once
trigger = "10 seconds"              # continuous | 10 seconds | available-now
'''

PYTHON: Final = '''\
"""{name}: from a topic to a table and another topic.

  trivium pipeline check {name}.py      finds mistakes, in seconds and without Spark
  trivium pipeline run {name}.py        runs its flows until Ctrl-C
  trivium pipeline status {name}.py     shows how far each flow is behind
"""

from trivium.pipeline import Pipeline, delta, expect, to_topic

# Names queries, checkpoints and consumer groups: {name}.clean, {name}.per_minute.
p = Pipeline("{name}")

p.source(
    "events",
    topic="{name}",  # or topics=["a", "b"], or pattern="orders-.*"
    format="json",  # json | avro | protobuf | csv | text | raw
    schema="id BIGINT, customer STRING, amount DECIMAL(12,2), at TIMESTAMP",  # left out: inferred, pinned
    start="earliest",  # earliest | latest | 2025-06-15T10:30 | {{0: 17}}
    watermark="at 10 minutes",  # how long late records are waited for
)


@p.flow(
    sink=delta("lake/{name}", partition_by=["day"]),  # or mode="upsert", key=["id"]; also iceberg, parquet
    expect={{
        "positive_amount": "amount > 0",  # else the record is quarantined
        "known_customer": expect("customer IS NOT NULL", otherwise="drop"),  # quarantine | drop | fail
    }},
    # What the function gives; with it, flows that read this one are checked, too.
    schema="id BIGINT, customer STRING, amount DECIMAL(12,2), at TIMESTAMP, day DATE",
)
def clean(events):  # arguments name the inputs; each is a DataFrame
    return events.selectExpr("*", "date(at) AS day")


# Flows may be in SQL, too.
p.sql(
    "per_minute",
    """
    SELECT window(at, '1 minute').start AS minute, sum(amount) AS total
    FROM clean
    GROUP BY window(at, '1 minute')
    """,
    sink=to_topic("{name}_per_minute", key="minute"),  # exactly once
    trigger="10 seconds",  # continuous | 10 seconds | available-now
)
'''


def template(name: str, *, is_python: bool) -> str:
    return (PYTHON if is_python else TOML).format(name=name)
