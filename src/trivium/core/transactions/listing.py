"""What transactions there are: describing and listing them."""

from collections.abc import Callable
from typing import Final

from trivium.core.access import NOT_AUTHORIZED, Access, Operation, Resource
from trivium.core.caller import Caller
from trivium.core.commands.command import Reply
from trivium.core.commands.transactions import (
    ANY_DURATION,
    NO_START_TIME_MS,
    DescribedTransaction,
    DescribeTransactions,
    ListedTransaction,
    ListedTransactions,
    ListTransactions,
)
from trivium.core.faults import Fault, Refused
from trivium.core.groups.moment import Moment
from trivium.core.groups.patterns.automaton import pattern
from trivium.core.groups.patterns.syntax import InvalidPattern
from trivium.core.transactions.ledgers import Ledgers
from trivium.core.transactions.transaction import State, Transaction

_STATES: Final = {state.value: state for state in State}
_SOME_CHARACTER: Final = "\x1a"
"""ASCII's own sign for a character that it does not have."""


class Listing:
    def __init__(self, ledgers: Ledgers, access: Access, now: Callable[[], Moment]) -> None:
        self._ledgers = ledgers
        self._access = access
        self._now = now

    def describe(
        self, command: DescribeTransactions, caller: Caller, reply: Reply[list[DescribedTransaction]]
    ) -> None:
        reply([self._describe_one(each, caller) for each in command.transactional_ids])

    def _describe_one(self, transactional_id: str, caller: Caller) -> DescribedTransaction:
        if not self._may_see(transactional_id, caller):
            return DescribedTransaction(transactional_id, NOT_AUTHORIZED[Resource.TRANSACTIONAL_ID])
        try:
            found = self._ledgers.find(transactional_id)
        except Refused as refused:
            return DescribedTransaction(transactional_id, refused.fault)
        if found is None:
            return DescribedTransaction(transactional_id, Fault.TRANSACTIONAL_ID_NOT_FOUND)
        _, transaction = found
        started_at = transaction.started_at
        return DescribedTransaction(
            transactional_id,
            None,
            transaction.state.value,
            transaction.timeout_ms,
            NO_START_TIME_MS if started_at is None else started_at.wall_ms,
            *transaction.producer,
            [
                place
                for place in sorted(transaction.partitions)
                if self._access.allows(caller, Operation.DESCRIBE, Resource.TOPIC, place[0])
            ],
        )

    def list_transactions(
        self, command: ListTransactions, caller: Caller, reply: Reply[ListedTransactions]
    ) -> None:
        now = self._now()
        states = {_STATES[name] for name in command.states if name in _STATES}
        matches = _matcher(command.id_pattern)
        reply(
            ListedTransactions(
                unknown_states=[name for name in command.states if name not in _STATES],
                transactions=[
                    ListedTransaction(
                        transaction.transactional_id,
                        transaction.producer.producer_id,
                        transaction.state.value,
                    )
                    for ledger in self._ledgers.all()
                    for transaction in ledger.transactions.values()
                    if (not command.states or transaction.state in states)
                    and (not command.producer_ids or transaction.producer.producer_id in command.producer_ids)
                    and _has_run_for(transaction, command.duration_ms, now)
                    and matches(transaction.transactional_id)
                    and self._access.shows(
                        caller,
                        Operation.DESCRIBE,
                        Resource.TRANSACTIONAL_ID,
                        transaction.transactional_id,
                    )
                ],
            )
        )

    def _may_see(self, transactional_id: str, caller: Caller) -> bool:
        return self._access.allows(caller, Operation.DESCRIBE, Resource.TRANSACTIONAL_ID, transactional_id)


def _matcher(text: str) -> Callable[[str], bool]:
    """Whether an id matches, as a whole. ``Refused`` if the text is no expression, or takes too long."""
    if not text:
        return lambda _id: True

    def matches(transactional_id: str) -> bool:
        # Expressions are made for ASCII: another character is some character, and none that they name.
        name = "".join(char if char.isascii() else _SOME_CHARACTER for char in transactional_id)
        try:
            return bool(pattern(text).matching([name]))
        except InvalidPattern as invalid:
            raise Refused(Fault.INVALID_REGULAR_EXPRESSION, str(invalid)) from invalid

    matches("")
    return matches


def _has_run_for(transaction: Transaction, duration_ms: int, now: Moment) -> bool:
    """Kafka counts from the beginning of the last transaction, be it over or not, and lets those through that
    never had one.
    """
    if duration_ms <= ANY_DURATION or transaction.started_at is None:
        return True
    return now.since_ms(transaction.started_at) > duration_ms
