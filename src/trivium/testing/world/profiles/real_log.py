"""R2, R13 to R15 on the real log: the clients of the other profiles, one after the other, on a fake disk.

After a loss of power the broker is started on what the disk has kept, torn and unordered as disks leave it.
"""

from typing import Final

from trivium.testing.world.profiles import (
    Played,
    batches,
    classic_groups,
    consumer_groups,
    idempotence,
    transactions,
)
from trivium.testing.world.real_storage import RealStorage

PLAYS: Final = (idempotence.play, transactions.play, classic_groups.play, consumer_groups.play, batches.play)


def play(seed: int, operations: int) -> Played:
    """Seeds of one profile are apart by as many as there are profiles."""
    number, of_profile = seed % len(PLAYS), seed // len(PLAYS)
    return PLAYS[number](of_profile, operations, RealStorage)
