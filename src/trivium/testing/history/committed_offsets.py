"""What a group has committed it finds again: *committed-offset regression*.

A group's offset for a partition is a register. A commit is out of the race once another, that began after
its end, has ended ok; whoever reads afterwards must find one that is still in it. Commits whose outcome is
unknown may take effect at any time. An offset lower than any that may count, or none, is a regression.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final, NamedTuple

from trivium.testing.history.anomaly import Anomaly, AnomalyKind, Witness, witness
from trivium.testing.history.operation import Commit, Committed, Operation, Outcome

_Register = tuple[str, str, int]


class _Candidate(NamedTuple):
    offset: int
    by: Witness
    is_certain: bool


class _Suspect(NamedTuple):
    """A read that is an anomaly unless a commit that was under way turns up."""

    offset: int | None
    by: Witness
    highest: _Candidate


class CommittedOffsets:
    acts: Final = (Commit, Committed)

    def __init__(self) -> None:
        self._candidates: dict[_Register, list[_Candidate]] = defaultdict(list)
        self._suspects: dict[_Register, list[_Suspect]] = defaultdict(list)

    def observe(self, operation: Operation) -> Iterator[Anomaly]:
        act = operation.act
        if isinstance(act, Commit) and operation.outcome is not Outcome.FAIL:
            self._commit(operation, act)
        elif isinstance(act, Committed) and operation.is_ok:
            self._read(operation, act)
        return iter(())

    def finish(self) -> Iterator[Anomaly]:
        for (group, topic, partition), suspects in self._suspects.items():
            for suspect in suspects:
                what = (
                    f"group {group!r} had committed offset {suspect.highest.offset} of {topic}-{partition} "
                    f"and finds {suspect.offset}"
                )
                witnesses = (suspect.highest.by, suspect.by)
                yield Anomaly(AnomalyKind.OFFSET_REGRESSION, what, witnesses)

    def _commit(self, operation: Operation, commit: Commit) -> None:
        register = (commit.group, commit.topic, commit.partition)
        if suspects := self._suspects.get(register):
            suspects[:] = [
                each for each in suspects if each.offset != commit.offset or each.by.end < operation.invoke
            ]
        candidates = self._candidates[register]
        if operation.is_ok:
            candidates[:] = [
                each for each in candidates if not each.is_certain or each.by.end >= operation.invoke
            ]
        elif any(each.offset == commit.offset and not each.is_certain for each in candidates):
            return
        candidates.append(_Candidate(commit.offset, witness(operation), operation.is_ok))

    def _read(self, operation: Operation, read: Committed) -> None:
        register = (read.group, read.topic, read.partition)
        candidates = self._candidates[register]
        if any(each.offset == read.offset for each in candidates):
            return
        settled = [each for each in candidates if each.is_certain and each.by.end < operation.invoke]
        if settled and all(read.offset is None or read.offset < each.offset for each in settled):
            highest = max(settled, key=lambda each: each.offset)
            self._suspects[register].append(_Suspect(read.offset, witness(operation), highest))
