"""Transactions that take too long are aborted, and transactional ids that nobody uses are forgotten.

Both by the monotonic clock (promise R10): a jump of the wall clock aborts and forgets nothing.
"""

from typing import Final

from trivium.core.faults import Fault, Refused
from trivium.core.timers import Timer, Timers
from trivium.core.transactions.ending import Ending
from trivium.core.transactions.ledger import Ledger
from trivium.core.transactions.ledgers import Ledgers
from trivium.core.transactions.rules import TransactionRules
from trivium.core.transactions.transaction import AT_REST, State, Transaction

ABORT_RETRY_MS: Final = 1_000
"""After an abort could not be written."""


class Expiry:
    def __init__(self, ledgers: Ledgers, rules: TransactionRules, ending: Ending, timers: Timers) -> None:
        self._ledgers = ledgers
        self._rules = rules
        self._ending = ending
        self._timers = timers
        self._deadlines: dict[str, Timer] = {}
        """Of open transactions, by transactional id."""

    def start(self) -> None:
        self._timers.after(self._rules.expiration_check_interval_ms, self._forget_unused)

    def watch(self, ledger: Ledger, transaction: Transaction) -> None:
        """Its transaction has taken a step: it has a deadline as long as it is open."""
        deadline = self._deadlines.pop(transaction.transactional_id, None)
        if deadline is not None:
            deadline.cancel()
        if transaction.state is State.ONGOING and not transaction.is_two_phase:
            started_at = transaction.started_at or transaction.updated_at
            left_ms = transaction.timeout_ms - ledger.now().since_ms(started_at)
            self._abort_after(left_ms, ledger, transaction)

    def _abort_after(self, delay_ms: int, ledger: Ledger, transaction: Transaction) -> None:
        self._deadlines[transaction.transactional_id] = self._timers.after(
            delay_ms, lambda: self._abort(ledger, transaction)
        )

    def _abort(self, ledger: Ledger, transaction: Transaction) -> None:
        if not ledger.is_current(transaction):
            # The ledger was given up: whoever reads it anew sets the deadline anew.
            return

        def done(fault: Fault | None) -> None:
            if fault is not None and ledger.is_current(transaction):
                self._abort_after(ABORT_RETRY_MS, ledger, transaction)

        try:
            self._ending.fence(ledger, transaction, done)
        except Refused as refused:
            done(refused.fault)

    def _forget_unused(self) -> None:
        for ledger in self._ledgers.loaded:
            now = ledger.now()
            unused = [
                transaction.transactional_id
                for transaction in ledger.transactions.values()
                if transaction.state in AT_REST
                and now.since_ms(transaction.updated_at) >= self._rules.expiration_ms
            ]
            if unused:
                try:
                    ledger.forget(unused)
                except Refused:
                    # Tried again at the next check.
                    continue
        self._timers.after(self._rules.expiration_check_interval_ms, self._forget_unused)
