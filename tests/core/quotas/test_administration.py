"""Setting, lifting and finding limits, as Kafka's administrators know it."""

import pytest

from tests.core.fakes import World
from trivium.core.commands.quotas import AlterQuotas, DescribeQuotas, QuotaChange, QuotaComponent
from trivium.core.faults import Fault
from trivium.core.quotas.administration import ANY, DEFAULT, EXACTLY, QuotaAdministration

ANN = (("user", "ann"),)
ANN_APP = (("client-id", "app"), ("user", "ann"))
EVERYBODY = (("user", None),)
ADDRESS = (("ip", "10.0.0.1"),)


@pytest.fixture
def world() -> World:
    world = World()
    world.add(QuotaAdministration(world.cluster).routes)
    results = world.execute(
        AlterQuotas(
            [
                QuotaChange(ANN, {"producer_byte_rate": 1000.0, "request_percentage": 12.5}),
                QuotaChange(tuple(reversed(ANN_APP)), {"consumer_byte_rate": 5.0}),
                QuotaChange(EVERYBODY, {"controller_mutation_rate": 1.0}),
                QuotaChange(ADDRESS, {"connection_creation_rate": 3.0}),
            ]
        )
    )
    assert [result.fault for result in results] == [None] * 4
    return world


@pytest.mark.parametrize(
    ("components", "is_strict", "expected"),
    [
        ([], False, {ANN, ANN_APP, EVERYBODY, ADDRESS}),
        ([], True, set()),
        ([QuotaComponent("user", ANY)], False, {ANN, ANN_APP, EVERYBODY}),
        ([QuotaComponent("user", ANY)], True, {ANN, EVERYBODY}),
        ([QuotaComponent("user", DEFAULT)], False, {EVERYBODY}),
        ([QuotaComponent("user", EXACTLY, "ann")], False, {ANN, ANN_APP}),
        ([QuotaComponent("user", ANY), QuotaComponent("client-id", EXACTLY, "app")], True, {ANN_APP}),
        ([QuotaComponent("ip", ANY)], True, {ADDRESS}),
        ([QuotaComponent("ip", DEFAULT)], False, set()),
    ],
)
def test_filter_finds_what_kafka_would(
    world: World, components: list[QuotaComponent], is_strict: bool, expected: set[object]
) -> None:
    result = world.execute(DescribeQuotas(components, is_strict))
    assert result.fault is None
    assert set(result.limits or {}) == expected


def test_limit_that_is_lifted_goes_with_its_entity(world: World) -> None:
    world.execute(AlterQuotas([QuotaChange(ANN, {"producer_byte_rate": None})]))
    assert world.image.quotas.by_entity[ANN] == {"request_percentage": 12.5}
    world.execute(AlterQuotas([QuotaChange(ANN, {"request_percentage": None})]))
    assert ANN not in world.image.quotas.by_entity


def test_limit_that_nobody_has_is_lifted_without_a_word(world: World) -> None:
    end = world.log("__cluster_metadata").log_end_offset
    (result,) = world.execute(AlterQuotas([QuotaChange(ANN, {"nonsense": None})]))
    assert result.fault is None
    assert world.log("__cluster_metadata").log_end_offset == end


def test_rehearsal_changes_nothing(world: World) -> None:
    end = world.log("__cluster_metadata").log_end_offset
    (result,) = world.execute(
        AlterQuotas([QuotaChange(ANN, {"producer_byte_rate": 1.0})], validate_only=True)
    )
    assert result.fault is None
    assert world.log("__cluster_metadata").log_end_offset == end


@pytest.mark.parametrize(
    ("entity", "limits"),
    [
        ((), {"producer_byte_rate": 1.0}),
        ((("nobody", "x"),), {"producer_byte_rate": 1.0}),
        ((("user", ""),), {"producer_byte_rate": 1.0}),
        ((("user", "a"), ("user", "b")), {"producer_byte_rate": 1.0}),
        ((("user", "a"), ("ip", "10.0.0.1")), {"producer_byte_rate": 1.0}),
        ((("ip", "nowhere"),), {"connection_creation_rate": 1.0}),
        ((("ip", "10.0.0.1"),), {"producer_byte_rate": 1.0}),
        (ANN, {"connection_creation_rate": 1.0}),
        (ANN, {"nonsense": 1.0}),
        (ANN, {"producer_byte_rate": 1.5}),
        (ANN, {"producer_byte_rate": 1e19}),
        (ANN, {"producer_byte_rate": 0.0}),
        (ANN, {"producer_byte_rate": -1.0}),
        (ANN, {"request_percentage": float("nan")}),
        (ANN, {"request_percentage": float("inf")}),
    ],
)
def test_change_that_means_nothing_is_refused_alone(
    world: World, entity: tuple[tuple[str, str | None], ...], limits: dict[str, float | None]
) -> None:
    before = dict(world.image.quotas.by_entity[ANN])
    fine = QuotaChange(EVERYBODY, {"request_percentage": 1.0})
    bad, good = world.execute(AlterQuotas([QuotaChange(entity, limits), fine]))
    assert (bad.fault, good.fault) == (Fault.INVALID_REQUEST, None)
    assert world.image.quotas.by_entity[ANN] == before


@pytest.mark.parametrize(
    "components",
    [
        [QuotaComponent("", ANY)],
        [QuotaComponent("user", 9)],
        [QuotaComponent("user", ANY, "ann")],
        [QuotaComponent("user", EXACTLY, None)],
        [QuotaComponent("user", ANY), QuotaComponent("user", DEFAULT)],
        [QuotaComponent("ip", ANY), QuotaComponent("user", ANY)],
        [QuotaComponent("client-id", EXACTLY, "app"), QuotaComponent("ip", DEFAULT)],
    ],
)
def test_filter_that_means_nothing_is_refused(world: World, components: list[QuotaComponent]) -> None:
    assert world.execute(DescribeQuotas(components)).fault is Fault.INVALID_REQUEST
