"""Bugs to plant into the broker, by profile: each must be found in some history, or a detector is blind.

Each is a mistake that somebody could make, put in by a patch of one method.
"""

from collections.abc import Callable
from typing import Any, Final

import pytest

from trivium.core.commands.producers import NO_PRODUCER_EPOCH
from trivium.core.groups.committing import Committing
from trivium.core.groups.consumer.group import ConsumerGroup
from trivium.core.groups.consumer.patience import Patience
from trivium.core.groups.offsets import Place
from trivium.core.groups.rebalancing import Rebalancing
from trivium.core.ports import Done
from trivium.core.transactions.adding import Adding
from trivium.core.transactions.batch_commits import BatchCommits
from trivium.core.transactions.ending import Ending
from trivium.core.transactions.expiry import Expiry
from trivium.core.transactions.ledger import Ledger
from trivium.core.transactions.markers import Marker, Markers
from trivium.core.transactions.queries import Queries, Query
from trivium.core.transactions.transaction import Producer, Transaction
from trivium.core.trivium_log import TriviumLog
from trivium.log import opening
from trivium.log.producer_state import ProducerState
from trivium.log.producers import ProducerStates
from trivium.server.stored_log import StoredLog
from trivium.testing.world import storage
from trivium.testing.world.storage import SimulatedLog

Plant = Callable[[pytest.MonkeyPatch], None]


# -- idempotent producers --------------------------------------------------------------------------


def acknowledges_before_it_is_durable(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SimulatedLog, "when_durable", lambda self, done: done(None))


def forgets_which_batches_it_has(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ProducerState, "duplicate_of", lambda self, header: None)


def takes_any_sequence(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("trivium.core.sequences._check_sequence", lambda facts, header: None)


def forgets_producers_at_a_start(patch: pytest.MonkeyPatch) -> None:
    lose: Callable[[storage.SimulatedStorage, Any], None] = storage.SimulatedStorage.lose_power

    def lose_power(self: storage.SimulatedStorage, random: Any) -> None:
        lose(self, random)
        for log in self.logs.values():
            log._producers = ProducerStates()

    patch.setattr(storage.SimulatedStorage, "lose_power", lose_power)


# -- transactions ----------------------------------------------------------------------------------


def acts_on_decisions_that_are_not_durable(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Ledger, "when_durable", lambda self, done: done(None))


def forgets_decisions_at_a_start(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Ending, "resume", lambda self, ledger, decided: None)


def leaves_a_partition_without_a_marker(patch: pytest.MonkeyPatch) -> None:
    write: Callable[[Markers, Place, Marker, Done], None] = Markers.write

    def write_some(self: Markers, place: Place, marker: Marker, done: Done) -> None:
        if place == ("t", 2):
            done(None)
        else:
            write(self, place, marker, done)

    patch.setattr(Markers, "write", write_some)


def completes_before_markers_are_durable(patch: pytest.MonkeyPatch) -> None:
    write: Callable[[Markers, Place, Marker, Done], None] = Markers.write

    def write_hastily(self: Markers, place: Place, marker: Marker, done: Done) -> None:
        write(self, place, marker, lambda _fault: None)
        done(None)

    patch.setattr(Markers, "write", write_hastily)


def commits_what_it_should_abort(patch: pytest.MonkeyPatch) -> None:
    decided: Callable[..., Transaction] = Transaction.decided
    patch.setattr(Transaction, "decided", lambda self, **fields: decided(self, **{**fields, "commits": True}))


def fences_nobody(patch: pytest.MonkeyPatch) -> None:
    """A producer that is there no more may go on in its transaction."""
    transaction: Callable[..., Any] = Adding._transaction

    def find(self: Adding, transactional_id: str, producer: Producer) -> Any:
        found = self._ledgers.find(transactional_id)
        asked = producer if found is None else found[1].client
        return transaction(self, transactional_id, asked)

    patch.setattr(Adding, "_transaction", find)


def never_times_out(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Expiry, "watch", lambda self, ledger, transaction: None)


def keeps_the_epoch_of_a_fenced_producer(patch: pytest.MonkeyPatch) -> None:
    def fenced(
        self: Transaction, version: int, now: Any, by_epoch: int = NO_PRODUCER_EPOCH, *, successor: Producer
    ) -> Transaction:
        return self.decided(commits=False, version=0, successor=Producer(-1, -1), now=now)

    patch.setattr(Transaction, "fenced", fenced)


# -- batches of a query ----------------------------------------------------------------------------


def forgets_the_last_batch(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Queries, "get", lambda self, query_id: Query(query_id))


def follows_before_the_decision_is_durable(patch: pytest.MonkeyPatch) -> None:
    commit: Callable[..., None] = TriviumLog.commit

    def commit_hastily(self: TriviumLog, changes: Any, done: Done) -> None:
        commit(self, changes, lambda _fault: None)
        done(None)

    patch.setattr(TriviumLog, "commit", commit_hastily)


def forgets_batches_at_a_start(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(BatchCommits, "found", lambda self, ledger, transaction: None)


def leaves_a_task_out(patch: pytest.MonkeyPatch) -> None:
    follow: Callable[..., None] = BatchCommits._follow

    def follow_some(self: BatchCommits, query_id: str, transactional_id: str, marked: Done) -> None:
        if transactional_id.endswith("-1"):
            marked(None)
        else:
            follow(self, query_id, transactional_id, marked)

    patch.setattr(BatchCommits, "_follow", follow_some)


# -- groups ----------------------------------------------------------------------------------------


def takes_commits_of_any_generation(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Committing, "_check_committer", lambda self, command: None)


def rebalances_without_waiting_for_its_members(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        Rebalancing,
        "_wait_for_joins",
        lambda self, group: self._set_join_timer(group, 1, lambda: self.complete(group)),
    )


def gives_what_is_still_held(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ConsumerGroup, "is_free", lambda self, part: True)


def never_misses_a_dead_member(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Patience, "renew", lambda self, *_arguments, **_fields: None)


# -- the log ---------------------------------------------------------------------------------------


def answers_before_it_has_synced(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(StoredLog, "when_durable", lambda self, done: done(None))


def recovers_without_producers(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(opening, "track", lambda producers, header, data: None)
    patch.setattr(opening, "replay", lambda *_arguments: ProducerStates())


BUGS: Final[dict[str, list[Plant]]] = {
    "idempotence": [
        acknowledges_before_it_is_durable,
        forgets_which_batches_it_has,
        takes_any_sequence,
        forgets_producers_at_a_start,
    ],
    "transactions": [
        acknowledges_before_it_is_durable,
        acts_on_decisions_that_are_not_durable,
        forgets_decisions_at_a_start,
        leaves_a_partition_without_a_marker,
        completes_before_markers_are_durable,
        commits_what_it_should_abort,
        fences_nobody,
        never_times_out,
        keeps_the_epoch_of_a_fenced_producer,
    ],
    "classic_groups": [
        acknowledges_before_it_is_durable,
        takes_commits_of_any_generation,
        rebalances_without_waiting_for_its_members,
    ],
    "consumer_groups": [
        acknowledges_before_it_is_durable,
        gives_what_is_still_held,
        never_misses_a_dead_member,
    ],
    "batches": [
        forgets_the_last_batch,
        follows_before_the_decision_is_durable,
        forgets_batches_at_a_start,
        leaves_a_task_out,
    ],
    "real_log": [
        answers_before_it_has_synced,
        recovers_without_producers,
    ],
}
