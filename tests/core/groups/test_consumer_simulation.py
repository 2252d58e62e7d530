"""R15 for consumer groups: no partition is read by two clients at a time. A slice of it."""

import pytest

from tests.core.groups.consumer_simulation import ConsumerSimulation

STEPS = 200


@pytest.mark.parametrize("seed", range(12))
def test_consumer_group_in_trouble_keeps_its_promises(seed: int) -> None:
    simulation = ConsumerSimulation(seed)
    simulation.run(STEPS)
    assert simulation.seen["epochs"] > 5
    assert simulation.seen["commits"] > 20


def test_consumer_simulation_with_the_same_seed_is_the_same_history() -> None:
    histories = []
    for _ in range(2):
        simulation = ConsumerSimulation(99)
        simulation.run(100)
        histories.append((simulation.seen, simulation.groups.log.records()))
    assert histories[0] == histories[1]
