"""Forgetting what nobody needs any more: offsets past ``offsets.retention.minutes``, and groups without any.

An offset is in use while its group has members that subscribe to its topic. From then on it is kept for the
retention time: counted from when the group became empty, or from the commit where the group never was more
than its offsets, or its members have turned to other topics.
"""

from collections.abc import Callable, Iterator, Sequence

from trivium.core.faults import Fault, Refused
from trivium.core.groups.moment import Moment
from trivium.core.groups.offsets import OffsetTable, Place
from trivium.core.groups.records import offset_tombstone
from trivium.core.groups.roster import AnyGroup, Roster
from trivium.core.groups.rules import GroupRules
from trivium.core.internal_topic import KeyedRecord
from trivium.core.ports import Done


class Retention:
    def __init__(
        self,
        groups: Roster,
        offsets: OffsetTable,
        rules: GroupRules,
        write: Callable[[Sequence[KeyedRecord], Done], None],
        tombstones: Callable[[AnyGroup], Sequence[KeyedRecord]],
    ) -> None:
        self._groups = groups
        self._offsets = offsets
        self._rules = rules
        self._write = write
        self._tombstones = tombstones

    def expire(self, now: Moment, is_spared: Callable[[str], bool] = lambda _group_id: False) -> None:
        """Forget everything whose time has come. What cannot be written now is tried at the next check."""
        for group in list(self._groups.values()):
            if is_spared(group.group_id):
                continue
            places = list(self._expired(group, now))
            pending = self._offsets.pending_places(group.group_id)
            left = len(self._offsets.of(group.group_id)) - len(places)
            is_done = left == 0 and not pending and group.is_idle
            try:
                self.forget(group.group_id, places, lambda _fault: None, with_group=is_done)
            except Refused:
                return

    def _expired(self, group: AnyGroup, now: Moment) -> Iterator[Place]:
        for place, committed in self._offsets.of(group.group_id).items():
            from_ = group.unused_from(committed)
            if (
                from_ is not None
                and not group.is_subscribed_to(place[0])
                and committed.is_expired(now, self._rules.offsets_retention_ms, from_)
                and not self._offsets.is_pending(group.group_id, place)
            ):
                yield place

    def forget(self, group_id: str, places: Sequence[Place], done: Done, *, with_group: bool) -> None:
        """Offsets, and the group if it is to go with them. ``Refused`` if that cannot be written now."""
        records = [offset_tombstone(group_id, place) for place in places]
        if with_group:
            records += self._tombstones(self._groups[group_id])
        if not records:
            done(None)
            return
        self._write(records, done)
        for place in places:
            self._offsets.forget(group_id, place)
        if with_group:
            self._groups.pop(group_id).die(Fault.UNKNOWN_MEMBER_ID)

    def delete(self, group_id: str, done: Done) -> None:
        """DeleteGroups: a group without members goes, and all its offsets with it."""
        group = self._groups.get(group_id)
        if group is None:
            raise Refused(Fault.GROUP_ID_NOT_FOUND)
        if not group.is_empty:
            raise Refused(Fault.NON_EMPTY_GROUP)
        places = sorted({*self._offsets.of(group_id), *self._offsets.pending_places(group_id)})
        self.forget(group_id, places, done, with_group=True)

    def forget_where(self, is_gone: Callable[[Place, bytes], bool]) -> None:
        """Forget the offsets of partitions that are gone; ``is_gone`` is asked for place and topic id."""
        for group_id in list(self._offsets):
            places = [
                place
                for place, committed in self._offsets.of(group_id).items()
                if is_gone(place, committed.topic_id)
            ]
            try:
                self.forget(group_id, places, lambda _fault: None, with_group=False)
            except Refused:
                # The next start finds them and tries again.
                return
