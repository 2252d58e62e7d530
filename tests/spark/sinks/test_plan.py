"""What a sink is told through options of Spark comes out as it went in; no password is shown (S15)."""

from dataclasses import asdict

import pytest

from trivium.client.door import Door
from trivium.client.security import Security
from trivium.pipeline.sink import Sink, delta, iceberg, to_topic
from trivium.spark.sinks.plan import SinkPlan, from_options

SECRET = "a quiet word"


@pytest.mark.parametrize(
    "rows",
    [
        to_topic("copy", key="id"),
        delta("/lake/t", mode="upsert", key=["id"], partition_by=["day"], compact="1 hour"),
        iceberg(table="a.b", catalog="c"),
    ],
)
@pytest.mark.parametrize("security", [Security(), Security(has_tls=True, username="ann", password=SECRET)])
def test_plan_comes_out_of_options_as_it_went_in(rows: Sink, security: Security) -> None:
    for rejected in (None, delta("/lake/aside")):
        plan = SinkPlan("p.f", "/state/f", Door("127.0.0.1:9092", security), rows, rejected)
        options = plan.to_options()
        assert from_options(options) == plan
        shown = {name: text for name, text in options.items() if name != "password"}
        assert SECRET not in str(shown)
        assert asdict(plan)["door"]["security"]["password"] == security.password
