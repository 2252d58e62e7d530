"""R15: groups never assign a partition twice, never lose an offset. A slice; the module runs longer ones."""

import pytest

from tests.core.groups.simulation import Simulation

STEPS = 500


@pytest.mark.parametrize("seed", range(12))
def test_group_in_trouble_keeps_its_promises(seed: int) -> None:
    simulation = Simulation(seed)
    simulation.run(STEPS)
    assert simulation.seen["rebalances"] > 10
    assert simulation.seen["commits"] > 100


def test_simulation_with_the_same_seed_is_the_same_history() -> None:
    histories = []
    for _ in range(2):
        simulation = Simulation(99)
        simulation.run(100)
        histories.append((simulation.seen, simulation.groups.log.records()))
    assert histories[0] == histories[1]
