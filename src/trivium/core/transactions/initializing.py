"""InitProducerId with a transactional id: who comes now is the producer, and who came before is fenced.

Whoever says its present id and epoch goes on after an error and must be the last who came (KIP-360); the
epoch before is taken for a repetition of the same request. An open transaction of a predecessor is aborted
first, and the client asks again; or it stays open for the client to decide (KIP-939). Transactions that never
time out take a right of their own.
"""

from collections.abc import Callable

from trivium.core.access import NOT_AUTHORIZED, Access, Operation, Resource
from trivium.core.caller import Caller
from trivium.core.commands.command import Reply
from trivium.core.commands.producers import NO_PRODUCER_EPOCH, NewProducer
from trivium.core.commands.transactions import InitTransactions
from trivium.core.faults import Fault, Refused
from trivium.core.producer_ids import is_half_a_past
from trivium.core.transactions.ending import Ending, NewId
from trivium.core.transactions.ledger import Ledger
from trivium.core.transactions.ledgers import Ledgers
from trivium.core.transactions.rules import TransactionRules
from trivium.core.transactions.transaction import (
    DECIDED,
    FIRST_EPOCH,
    NOBODY,
    TIMEOUT_MS_MAX,
    Producer,
    State,
    Transaction,
)


class Initializing:
    def __init__(
        self, ledgers: Ledgers, rules: TransactionRules, access: Access, ending: Ending, new_id: NewId
    ) -> None:
        self._ledgers = ledgers
        self._access = access
        self._rules = rules
        self._ending = ending
        self._new_id = new_id

    def init(self, command: InitTransactions, caller: Caller, reply: Reply[NewProducer]) -> None:
        if command.is_two_phase and not self._access.allows(
            caller, Operation.TWO_PHASE_COMMIT, Resource.TRANSACTIONAL_ID, command.transactional_id
        ):
            raise Refused(NOT_AUTHORIZED[Resource.TRANSACTIONAL_ID])
        timeout_ms = self._timeout_ms(command)
        ledger = self._ledgers.for_new(command.transactional_id)
        transaction = ledger.transactions.get(command.transactional_id)
        if transaction is None:
            self._with_new_id(
                command,
                lambda producer: self._found(ledger, command, producer, timeout_ms, reply),
                reply,
            )
            return
        asking = Producer(command.producer_id, command.producer_epoch)
        _check_producer(transaction, asking)
        if transaction.state in DECIDED:
            raise Refused(Fault.CONCURRENT_TRANSACTIONS)
        if transaction.state is not State.ONGOING:
            self._renew(ledger, transaction, asking, timeout_ms, command, reply)
        elif command.keeps_prepared:
            self._keep(ledger, transaction, timeout_ms, command, reply)
        else:
            self._ending.fence(
                ledger,
                transaction,
                lambda fault: reply(NewProducer(fault or Fault.CONCURRENT_TRANSACTIONS)),
                by_epoch=asking.epoch,
            )

    def _timeout_ms(self, command: InitTransactions) -> int:
        """``Refused`` if the command asks for what nobody, or not everybody, can have."""
        if not command.transactional_id or is_half_a_past(command.producer_id, command.producer_epoch):
            raise Refused(Fault.INVALID_REQUEST)
        if (command.is_two_phase or command.keeps_prepared) and not self._rules.allows_two_phase_commit:
            raise Refused(
                Fault.NOT_AUTHORIZED_TRANSACTIONAL_ID,
                "Two-phase commit needs transaction.two.phase.commit.enable=true.",
            )
        if command.is_two_phase:
            return TIMEOUT_MS_MAX
        if not 0 < command.timeout_ms <= self._rules.timeout_ms_max:
            raise Refused(
                Fault.INVALID_TXN_TIMEOUT,
                f"{command.timeout_ms} ms, transaction.max.timeout.ms allows {self._rules.timeout_ms_max}.",
            )
        return command.timeout_ms

    # -- who gets what ---------------------------------------------------------------------------

    def _found(
        self,
        ledger: Ledger,
        command: InitTransactions,
        producer: Producer,
        timeout_ms: int,
        reply: Reply[NewProducer],
    ) -> None:
        """The first producer of a transactional id."""
        if ledger.is_closed or command.transactional_id in ledger.transactions:
            raise Refused(Fault.CONCURRENT_TRANSACTIONS)
        _put(
            ledger,
            Transaction(
                command.transactional_id,
                producer,
                timeout_ms,
                ledger.now(),
                previous_producer_id=producer.producer_id,
            ),
            reply,
        )

    def _renew(
        self,
        ledger: Ledger,
        transaction: Transaction,
        asking: Producer,
        timeout_ms: int,
        command: InitTransactions,
        reply: Reply[NewProducer],
    ) -> None:
        client = transaction.client
        last_epoch = NO_PRODUCER_EPOCH if asking == NOBODY else client.epoch
        if asking != NOBODY and asking.epoch == transaction.last_epoch:
            # Its first request was answered, and the answer got lost: nobody else has come since.
            renewed = client
            last_epoch = transaction.last_epoch
        elif client.is_exhausted:
            self._with_new_id(
                command,
                lambda producer: self._rotate(ledger, transaction, producer, timeout_ms, last_epoch, reply),
                reply,
            )
            return
        else:
            renewed = Producer(client.producer_id, client.epoch + 1)
        _put(
            ledger,
            transaction.initialized(renewed, timeout_ms, ledger.now(), last_epoch=last_epoch),
            reply,
        )

    def _rotate(
        self,
        ledger: Ledger,
        transaction: Transaction,
        producer: Producer,
        timeout_ms: int,
        last_epoch: int,
        reply: Reply[NewProducer],
    ) -> None:
        if not ledger.is_current(transaction):
            raise Refused(Fault.CONCURRENT_TRANSACTIONS)
        _put(
            ledger,
            transaction.initialized(producer, timeout_ms, ledger.now(), last_epoch=last_epoch),
            reply,
        )

    def _keep(
        self,
        ledger: Ledger,
        transaction: Transaction,
        timeout_ms: int,
        command: InitTransactions,
        reply: Reply[NewProducer],
    ) -> None:
        """The transaction stays open; from now on only this client may decide about it."""

        def keep(producer: Producer) -> None:
            if not ledger.is_current(transaction):
                raise Refused(Fault.CONCURRENT_TRANSACTIONS)
            _put(ledger, transaction.kept(producer, timeout_ms, ledger.now()), reply)

        client = transaction.client
        if client.is_exhausted:
            self._with_new_id(command, keep, reply)
        else:
            keep(Producer(client.producer_id, client.epoch + 1))

    def _with_new_id(
        self,
        command: InitTransactions,
        go_on: Callable[[Producer], None],
        reply: Reply[NewProducer],
    ) -> None:
        def given(new: NewProducer) -> None:
            try:
                if new.fault is not None:
                    raise Refused(new.fault)
                go_on(Producer(new.producer_id, FIRST_EPOCH))
            except Refused as refused:
                reply(command.refused(refused.fault))

        self._new_id(given)


def _put(ledger: Ledger, transaction: Transaction, reply: Reply[NewProducer]) -> None:
    ongoing = transaction.producer if transaction.state is State.ONGOING else NOBODY
    ledger.put(
        transaction,
        lambda fault: reply(
            NewProducer(fault) if fault is not None else NewProducer(None, *transaction.client, *ongoing)
        ),
    )


def _check_producer(transaction: Transaction, asking: Producer) -> None:
    """``Refused`` if somebody else has come since."""
    if asking == NOBODY:
        return
    client = transaction.client
    is_predecessor = asking.producer_id == transaction.previous_producer_id and asking.is_exhausted
    if asking.producer_id != client.producer_id and not is_predecessor:
        raise Refused(Fault.PRODUCER_FENCED)
    is_repeated = asking.epoch == transaction.last_epoch and transaction.state is not State.ONGOING
    if asking.epoch != client.epoch and not is_repeated:
        # Where a transaction is open somebody has the newer epoch, and uses it.
        raise Refused(Fault.PRODUCER_FENCED)
