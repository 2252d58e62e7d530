"""R14: transactions are atomic, isolated, fenced, and end in time.

Producers write each transaction to some partitions and end it. Some share a transactional id, so that each is
a zombie to the other; some stop in the middle and leave their transaction to its time-out. What is late is
late by whole transactions. Where every transaction has its own epoch (``transaction.version`` 2), nothing
late may do harm; older clients cannot be protected from it (KIP-890), so their network keeps nothing back.
"""

from collections.abc import Generator
from typing import Any, Final

from trivium.messages.api.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from trivium.messages.api.end_txn import EndTxnRequest
from trivium.messages.api.init_producer_id import InitProducerIdRequest
from trivium.messages.errors import ErrorCode
from trivium.messages.schema import Request
from trivium.testing.history.operation import Decision, Send, Txn
from trivium.testing.world.machine import NewDisk
from trivium.testing.world.network import Weather
from trivium.testing.world.peer import Life, Walker
from trivium.testing.world.profiles import Played
from trivium.testing.world.reading import Ends, follow
from trivium.testing.world.storage import SimulatedStorage
from trivium.testing.world.world import Hangs, World
from trivium.testing.world.writing import (
    VERSION,
    VERSION_NOT_JOINING,
    WRITTEN,
    Identity,
    produce_request,
    told,
)

TOPIC: Final = "t"
PARTITIONS: Final = 3
PRODUCERS_MAX: Final = 4
TIMEOUT_MS: Final = 2_000
STABLE_WITHIN_MS: Final = TIMEOUT_MS + 1_000
"""After the last step of any producer readers of committed records get to the end of every partition."""
PAUSE_MS: Final = 15
ATTEMPTS: Final = 6
LEAVES: Final = 0.06
"""Of all transactions, so many are left open by producers that stop in the middle."""
COMMITS: Final = 0.7

_EPOCHS_RENEWED_SINCE: Final = 2
_INIT_VERSION: Final = 5
_END_VERSION: Final = 5
_END_VERSION_OLD: Final = 3
_ADD_VERSION: Final = 3
_PASSES: Final = frozenset(
    (
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    )
)

Step = Generator[tuple[Request, int] | int, Any, Any]


class Transactor:
    """One life of a client with a transactional id."""

    def __init__(self, world: World, name: str, transactional_id: str, *, renews_epoch: bool) -> None:
        self._world = world
        self._name = name
        self._transactional_id = transactional_id
        self._renews_epoch = renews_epoch
        self._identity = Identity(-1, -1)
        self._sequences: dict[int, int] = {}
        self._number = 0

    def live(self, walker: Walker) -> Life:
        while self._world.goes_on:
            if self._identity.producer_id < 0:
                yield from self._init()
            elif not (yield from self._transact()):
                self._identity = Identity(-1, -1)

    def _init(self) -> Step:
        act = Txn(Decision.INIT, producer=self._transactional_id)
        begun = self._world.story.begin(self._name, act)
        request = InitProducerIdRequest(
            transactional_id=self._transactional_id, transaction_timeout_ms=TIMEOUT_MS
        )
        answer, _ = yield from self._insist(request, _INIT_VERSION)
        if answer is None or answer.error_code:
            begun.unknown()
            return
        self._identity = Identity(answer.producer_id, answer.producer_epoch)
        self._sequences.clear()
        begun.ok(Txn(Decision.INIT, producer=self._transactional_id, epoch=self._identity.epoch))

    def _transact(self) -> Step:
        """Whether the producer may go on with another one."""
        random = self._world.random
        self._number += 1
        txn = f"{self._name}.{self._number}"
        is_whole = True
        for partition in random.sample(range(PARTITIONS), random.randint(1, PARTITIONS)):
            is_whole = is_whole and (yield from self._send(txn, partition))
        if random.random() < LEAVES:
            yield random.randint(0, TIMEOUT_MS)
            return False
        may_go_on = yield from self._end(txn, commits=is_whole and random.random() < COMMITS)
        # Where an epoch stays, the number of a record that may be there is given to no other (KIP-360).
        return may_go_on and (is_whole or self._renews_epoch)

    def _send(self, txn: str, partition: int) -> Step:
        """Whether the record is a part of the transaction for certain."""
        value = f"{txn}/{partition}"
        act = Send(
            TOPIC, partition, (value,), txn=txn, producer=self._transactional_id, epoch=self._identity.epoch
        )
        begun = self._world.story.begin(self._name, act)
        if not self._renews_epoch and not (yield from self._add(partition)):
            begun.fail()
            return False
        sequence = self._sequences.get(partition, 0)
        request = produce_request(TOPIC, partition, value, self._identity, sequence, self._transactional_id)
        version = VERSION if self._renews_epoch else VERSION_NOT_JOINING
        answer, attempts = yield from self._insist(request, version)
        code = None if answer is None else ErrorCode.of(told(answer).error_code)
        if code in WRITTEN:
            self._sequences[partition] = sequence + 1
            offset = told(answer).base_offset
            begun.ok(
                Send(
                    TOPIC,
                    partition,
                    (value,),
                    offsets=None if offset < 0 else (offset,),
                    txn=txn,
                    producer=self._transactional_id,
                    epoch=self._identity.epoch,
                )
            )
            return True
        if code is not None and attempts == 1:
            begun.fail()
        else:
            begun.unknown()
        return False

    def _add(self, partition: int) -> Step:
        answer, _ = yield from self._insist(
            AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=self._transactional_id,
                v3_and_below_producer_id=self._identity.producer_id,
                v3_and_below_producer_epoch=self._identity.epoch,
                v3_and_below_topics=[AddPartitionsToTxnTopic(name=TOPIC, partitions=[partition])],
            ),
            _ADD_VERSION,
        )
        if answer is None:
            return False
        results = answer.results_by_topic_v3_and_below[0].results_by_partition
        return results[0].partition_error_code == ErrorCode.NONE

    def _end(self, txn: str, *, commits: bool) -> Step:
        """Whether the producer may go on."""
        decision = Decision.COMMIT if commits else Decision.ABORT
        act = Txn(decision, txn, self._transactional_id, self._identity.epoch)
        begun = self._world.story.begin(self._name, act)
        request = EndTxnRequest(
            transactional_id=self._transactional_id,
            producer_id=self._identity.producer_id,
            producer_epoch=self._identity.epoch,
            committed=commits,
        )
        version = _END_VERSION if self._renews_epoch else _END_VERSION_OLD
        answer, attempts = yield from self._insist(request, version)
        if answer is not None and not answer.error_code:
            begun.ok()
            if self._renews_epoch:
                self._identity = Identity(answer.producer_id, answer.producer_epoch)
                self._sequences.clear()
            return True
        if answer is not None and attempts == 1:
            begun.fail()
        else:
            begun.unknown()
        return False

    def _insist(self, request: Request, version: int) -> Step:
        """The last answer, if there was one, and how often it was asked for. An answer that may pass is asked
        for again, and so is one that has not come.
        """
        answer = None
        for attempt in range(1, ATTEMPTS + 1):
            answer = yield request, version
            if answer is not None and not _may_pass(answer):
                return answer, attempt
            yield PAUSE_MS * attempt
        return answer, ATTEMPTS


def _may_pass(answer: Any) -> bool:
    if hasattr(answer, "results_by_topic_v3_and_below"):
        code = answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code
    else:
        code = told(answer).error_code if hasattr(answer, "responses") else answer.error_code
    return code in _PASSES


def play(seed: int, operations: int, new_disk: NewDisk = SimulatedStorage) -> Played:
    renews_epoch = seed % 4 != 0
    world = World(
        seed,
        {TOPIC: PARTITIONS},
        operations=operations,
        new_disk=new_disk,
        weather=Weather(cut=0.02) if renews_epoch else Weather(cut=0.02, late=0.0),
        power_losses=3,
        transaction_version=_EPOCHS_RENEWED_SINCE if renews_epoch else seed // 4 % 2,
    )
    random = world.random
    ids = [f"tx{random.randrange(2)}" for _ in range(random.randint(1, PRODUCERS_MAX))]
    walkers = [
        Walker(world, name, Transactor(world, name, transactional_id, renews_epoch=renews_epoch).live)
        for name, transactional_id in ((f"{each}-{number}", each) for number, each in enumerate(ids))
    ]
    walkers += [
        Walker(world, f"reader {partition}", follow(TOPIC, partition)) for partition in range(PARTITIONS)
    ]
    wrong: list[str] = []
    try:
        world.run_until(lambda: not world.goes_on)
        world.clear_up()
        world.run_until(lambda: world.machine.is_up and all(walker.is_done for walker in walkers))
        world.pass_time(STABLE_WITHIN_MS)
        wrong += [f"{name} hangs: a transaction was not ended in time" for name in Ends(world).hanging]
    except Hangs:
        wrong.append("a producer is never answered")
    return Played(world, wrong)
