"""ShareFetch and ShareAcknowledge: what members of share groups say and get.

What a request says of records is dealt with first, then records are looked for. A fetch that finds nothing
waits: for new records, for some that come back, or for its time to be over. An answer leaves when everything
that was said with the request is durable.
"""

from collections.abc import Callable, Sequence
from typing import Final

from trivium.core.access import Access, Operation, Resource, on_each
from trivium.core.all_done import AllDone
from trivium.core.caller import Caller
from trivium.core.cluster import CLOSED_TOPIC, Cluster
from trivium.core.commands.command import Reply
from trivium.core.commands.share_groups_reading import (
    AcknowledgedOutcome,
    AcknowledgedPart,
    ShareAcknowledge,
    ShareAcknowledged,
    SharedPart,
    SharedRecords,
    ShareFetch,
    SharePart,
)
from trivium.core.faults import Fault, Refused
from trivium.core.fetch import TURN_BYTES_MAX, Soon
from trivium.core.groups.enabling import SHARE_GROUPS, where_agreed
from trivium.core.groups.share.deliveries import Deliveries
from trivium.core.groups.share.rules import MEMBER_ID_CHARS_MAX, ShareRules
from trivium.core.groups.share.sessions import EPOCH_LAST, EPOCH_NEW, ShareSession, ShareSessions
from trivium.core.groups.share.share_partition import ShareKey
from trivium.core.groups.share.share_poll import Place, SharePoll
from trivium.core.groups.share.states import ShareStates
from trivium.core.partition import LivePartition
from trivium.core.permission import permitted_partition
from trivium.core.ports import Done
from trivium.core.refusing import refusing
from trivium.core.timers import Timers

_TO_READ: Final = on_each(Operation.READ, Resource.TOPIC)


class ShareReading:
    def __init__(
        self,
        cluster: Cluster,
        access: Access,
        timers: Timers,
        soon: Soon,
        states: ShareStates,
        rules: ShareRules,
        fetch_bytes_max: int = TURN_BYTES_MAX,
    ) -> None:
        self._cluster = cluster
        self._access = access
        self._timers = timers
        self._soon = soon
        self._rules = rules
        self._bytes_max = min(fetch_bytes_max, TURN_BYTES_MAX)
        self._deliveries = Deliveries(states, rules, cluster, timers)
        self._sessions = ShareSessions(
            rules.sessions_max, lambda session: self._release(session, lambda _fault: None)
        )
        self.routes = where_agreed(
            SHARE_GROUPS,
            cluster,
            {ShareFetch: refusing(self.fetch), ShareAcknowledge: refusing(self.acknowledge)},
        )

    # -- fetching --------------------------------------------------------------------------------

    def fetch(self, command: ShareFetch, caller: Caller, reply: Reply[SharedRecords]) -> None:
        _check_member(command.member_id)
        _check_renewal(command)
        session = self._session(command, caller)
        forgotten = () if command.session_epoch == EPOCH_NEW else command.forgotten
        session.update([each.part for each in command.parts], forgotten)
        answer = _Answer(
            self._rules.lock_duration_ms(command.group_id),
            session.in_turn() if command.session_epoch == EPOCH_NEW else (),
            reply,
        )
        for each in _spoken_of(command.parts):
            self._acknowledge_one(command, each, caller, answer.begin_acknowledgement(each.part))
        if command.session_epoch == EPOCH_LAST:
            self._release(session, answer.begin())
        elif not command.renews:
            self._poll(command, session, caller, answer)
        answer.all_begun()

    def _session(self, command: ShareFetch, caller: Caller) -> ShareSession:
        group_id, member_id, epoch = command.group_id, command.member_id, command.session_epoch
        if epoch != EPOCH_NEW:
            return self._sessions.require(group_id, member_id, epoch)
        if any(each.ranges for each in command.parts):
            raise Refused(Fault.INVALID_REQUEST, "A new session has nothing to acknowledge.")
        return self._sessions.open(group_id, member_id, caller)

    def _poll(self, command: ShareFetch, session: ShareSession, caller: Caller, answer: "_Answer") -> None:
        done = answer.begin()

        def found(parts: Sequence[SharedPart]) -> None:
            for part in parts:
                if part.acquired:
                    session.acquired_from.add(part.part)
                answer.put(part)
            done(None)

        SharePoll(
            command.changed(max_bytes=min(command.max_bytes, self._bytes_max)),
            session.in_turn(),
            lambda part: self._place(command.group_id, part, caller),
            self._deliveries,
            found,
        ).begin(self._timers, self._soon, caller)

    def _place(self, group_id: str, part: SharePart, caller: Caller) -> Place:
        """A partition for somebody who may read it, with how far the group has come."""
        return Place(self._permitted(part, caller), self._deliveries.find(ShareKey(group_id, *part)))

    def _is_refused(self, part: SharePart, caller: Caller) -> bool:
        try:
            self._permitted(part, caller)
        except Refused:
            return True
        return False

    def _permitted(self, part: SharePart, caller: Caller) -> LivePartition:
        live = permitted_partition(self._cluster, self._access, caller, _TO_READ, *part)
        if live.topic == CLOSED_TOPIC:
            raise Refused(Fault.NOT_AUTHORIZED_TOPIC)
        return live

    # -- acknowledging ---------------------------------------------------------------------------

    def acknowledge(self, command: ShareAcknowledge, caller: Caller, reply: Reply[ShareAcknowledged]) -> None:
        _check_member(command.member_id)
        if command.session_epoch == EPOCH_NEW:
            raise Refused(Fault.INVALID_SHARE_SESSION_EPOCH)
        session = self._sessions.require(command.group_id, command.member_id, command.session_epoch)
        outcomes: dict[SharePart, AcknowledgedOutcome] = {}
        lock_timeout_ms = self._rules.lock_duration_ms(command.group_id)
        waiting = AllDone(
            lambda _fault: reply(
                ShareAcknowledged(lock_timeout_ms=lock_timeout_ms, parts=list(outcomes.values()))
            )
        )
        parts = _spoken_of(command.parts) or [
            each for each in command.parts if self._is_refused(each.part, caller)
        ]
        for each in parts:
            self._acknowledge_one(command, each, caller, _outcome(outcomes, each.part, waiting.begin()))
        if command.session_epoch == EPOCH_LAST:
            self._release(session, waiting.begin())
        waiting.all_begun()

    def _acknowledge_one(
        self,
        command: ShareFetch | ShareAcknowledge,
        each: AcknowledgedPart,
        caller: Caller,
        outcome: "Outcome",
    ) -> None:
        try:
            marks = self._deliveries.marks(
                command.group_id, each.ranges, may_renew=command.renews and command.can_renew
            )
            self._permitted(each.part, caller)
            self._deliveries.acknowledge(
                self._deliveries.find_read(ShareKey(command.group_id, *each.part)),
                command.member_id,
                marks,
                lambda fault: outcome(fault, None),
            )
        except Refused as refused:
            outcome(refused.fault, refused.message)

    def _release(self, session: ShareSession, done: Done) -> None:
        """What a member has acquired is for others. What cannot be taken back now, its time-out takes."""
        waiting = AllDone(done)
        for part in session.acquired_from:
            one_done = waiting.begin()
            try:
                partition = self._deliveries.find(ShareKey(session.group_id, *part))
                self._deliveries.release(partition, session.member_id, one_done)
            except Refused:
                one_done(None)
        waiting.all_begun()


Outcome = Callable[[Fault | None, str | None], None]
"""Told once what became of the acknowledgements for a partition."""


def _outcome(outcomes: dict[SharePart, AcknowledgedOutcome], part: SharePart, done: Done) -> Outcome:
    def settle(fault: Fault | None, message: str | None) -> None:
        outcomes[part] = AcknowledgedOutcome(part, fault, message)
        done(None)

    return settle


class _Answer:
    """The answer to a share fetch while it comes together."""

    def __init__(
        self, lock_timeout_ms: int, mentioned: Sequence[SharePart], reply: Reply[SharedRecords]
    ) -> None:
        """``mentioned`` are those that it speaks of in any case."""
        self._parts = {part: SharedPart(part) for part in mentioned}
        self._waiting = AllDone(
            lambda _fault: reply(
                SharedRecords(lock_timeout_ms=lock_timeout_ms, parts=list(self._parts.values()))
            )
        )
        self.begin = self._waiting.begin
        self.all_begun = self._waiting.all_begun

    def begin_acknowledgement(self, part: SharePart) -> Outcome:
        done = self._waiting.begin()

        def settle(fault: Fault | None, message: str | None) -> None:
            known = self._parts.get(part, SharedPart(part))
            self._parts[part] = known._replace(acknowledge_fault=fault, acknowledge_message=message)
            done(None)

        return settle

    def put(self, found: SharedPart) -> None:
        known = self._parts.get(found.part, found)
        self._parts[found.part] = found._replace(
            acknowledge_fault=known.acknowledge_fault, acknowledge_message=known.acknowledge_message
        )


def _spoken_of(parts: Sequence[AcknowledgedPart]) -> Sequence[AcknowledgedPart]:
    """Who says something of any partition hears of all that the request names."""
    return parts if any(each.ranges for each in parts) else ()


def _check_member(member_id: str) -> None:
    if not member_id or len(member_id) > MEMBER_ID_CHARS_MAX:
        raise Refused(
            Fault.INVALID_REQUEST, f"A member id of at most {MEMBER_ID_CHARS_MAX} characters is needed."
        )


def _check_renewal(command: ShareFetch) -> None:
    if command.renews and (
        command.max_wait_ms or command.min_bytes or command.max_bytes or command.max_records
    ):
        raise Refused(
            Fault.INVALID_REQUEST, "A request that renews locks wants no records: its limits must be 0."
        )
