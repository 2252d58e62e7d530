"""From what a member holds towards what it is to hold, one heartbeat at a time (KIP-848).

    STABLE ──target takes something away──> UNREVOKED_PARTITIONS ──it has given that up──┐
      ^  ^                                                                               │
      │  └──────────────all of the target is free, or held already───────────────────────┤
      └──the others have──UNRELEASED_PARTITIONS <──others still hold some of the target──┘

A member gives up before it gets anything, and gets only what nobody holds: that is all there is to promise
R15. It comes to the epoch of its target when it has given up everything that others are to have.
"""

from collections.abc import Callable, Mapping

from trivium.core.groups.assignors.subscriber import Part, Parts
from trivium.core.groups.consumer.member import NO_PARTS, Holding, MemberState


def reconciled(
    holding: Holding,
    target_epoch: int,
    target: Parts,
    is_free: Callable[[Part], bool],
    owned: Parts | None,
    *,
    is_joining: bool = False,
) -> Holding:
    """What the member holds from now on. ``owned`` is what it says it reads, None if it does not say.

    A member that is joining has forgotten what it was told before. Any other may be about to read what it
    does not read yet, so that it has to hear that it must not, and speak once more, before others may.
    """
    epoch = holding.epoch
    if holding.state is MemberState.UNREVOKED_PARTITIONS:
        if _still_owns(owned, holding.revoking):
            return holding
        epoch = min(epoch + 1, target_epoch)
    elif holding.is_reconciled_to(target_epoch) and target.issuperset(holding.assigned):
        return holding
    kept = {part: since for part, since in holding.assigned.items() if part in target}
    revoking = {part: since for part, since in holding.assigned.items() if part not in target}
    if revoking and (not is_joining or _still_owns(owned, revoking)):
        return Holding(epoch, holding.epoch, MemberState.UNREVOKED_PARTITIONS, kept, revoking)
    missing = sorted(target.difference(kept))
    free = {part: target_epoch for part in missing if is_free(part)}
    state = MemberState.STABLE if len(free) == len(missing) else MemberState.UNRELEASED_PARTITIONS
    return Holding(target_epoch, holding.epoch, state, {**kept, **free}, NO_PARTS)


def _still_owns(owned: Parts | None, revoking: Mapping[Part, int]) -> bool:
    """Whoever does not say what it reads may still read it."""
    return owned is None or not owned.isdisjoint(revoking)
