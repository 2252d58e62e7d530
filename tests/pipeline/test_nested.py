"""Places inside columns, and schemas that grow there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.pipeline.ddl import parse_schema
from trivium.pipeline.nested import Step, column_at, grown, parse_place, structs_in, type_at, written
from trivium.pipeline.schema import STRING, Schema

ORDERS = parse_schema(
    "schema",
    "id BIGINT, address STRUCT<city: STRING, geo: STRUCT<lat: DOUBLE>>, lines ARRAY<STRUCT<sku: STRING>>",
)

names = st.text(min_size=1, max_size=5).filter(lambda name: "\n" not in name)
places = st.lists(st.builds(Step, names, st.integers(0, 2)), min_size=1, max_size=3).map(tuple)


@given(places)
def test_places_are_read_as_they_are_written(place: tuple[Step, ...]) -> None:
    assert parse_place(written(place)) == place


def test_every_struct_is_found_with_its_place() -> None:
    found = {written(place): len(struct.fields) for place, struct in structs_in(ORDERS)}
    assert found == {"address": 2, "address.geo": 1, "lines[]": 1}


@pytest.mark.parametrize(
    ("place", "kind"),
    [("id", "BIGINT"), ("address.geo.lat", "DOUBLE"), ("lines[].sku", "STRING"), ("lines[].no", "None")],
)
def test_type_at_a_place(place: str, kind: str) -> None:
    assert str(type_at(ORDERS, parse_place(place))) == kind


def test_schema_grows_inside_behind_what_is_there() -> None:
    wider = ORDERS
    for place in ("address.geo.lon", "lines[].n", "note", "address.geo.lat"):
        wider = grown(wider, Schema((column_at(parse_place(place), STRING),)))
    assert str(wider) == (
        "id BIGINT, address STRUCT<city: STRING, geo: STRUCT<lat: DOUBLE, lon: STRING>>, "
        "lines ARRAY<STRUCT<sku: STRING, n: STRING>>, note STRING"
    )
    assert grown(wider, ORDERS) == wider
