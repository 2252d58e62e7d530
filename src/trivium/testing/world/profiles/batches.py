"""R14, R19: each batch of a query is there once and whole, by one commit of many transactions (ADR 11).

A query writes a batch by several tasks, each with a transactional id of its own, and commits it; then the
next. When anything goes wrong, and sometimes when nothing does, it forgets what it knew and writes the batch
again under the same number, by other attempts of the same tasks, while the network may still deliver what the
forgotten one has asked for. To the checker an attempt is one transaction.
"""

from collections.abc import Generator
from typing import Any, Final

from trivium.messages.api.init_producer_id import InitProducerIdRequest
from trivium.messages.errors import ErrorCode
from trivium.messages.extensions.commit_batch import CommitBatchRequest, PreparedTransaction
from trivium.messages.extensions.prepare_transaction import PrepareTransactionRequest
from trivium.messages.schema import Request
from trivium.testing.history.operation import Decision, Send, Txn
from trivium.testing.world.machine import NewDisk
from trivium.testing.world.network import Weather
from trivium.testing.world.peer import Life, Walker
from trivium.testing.world.profiles import Played
from trivium.testing.world.reading import Ends, follow
from trivium.testing.world.storage import SimulatedStorage
from trivium.testing.world.world import Hangs, World
from trivium.testing.world.writing import VERSION, WRITTEN, Identity, produce_request, told

TOPIC: Final = "t"
PARTITIONS: Final = 3
TIMEOUT_MS: Final = 60_000
PAUSE_MS: Final = 15
ATTEMPTS: Final = 5
FORGETS: Final = 0.15
"""Of all committed batches, so many are written again by a query that does not know."""
QUERY: Final = "query"

_INIT_VERSION: Final = 5
_PASSES: Final = frozenset(
    (
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    )
)

Step = Generator[tuple[Request, int] | int, Any, Any]


class Query:
    def __init__(self, world: World) -> None:
        self._world = world
        self._attempt = 0
        self.batch_id = 0
        self.committed = -1
        """The newest batch whose commit was acknowledged."""

    def live(self, walker: Walker) -> Life:
        while self._world.goes_on:
            if (yield from self._run_batch()):
                self.committed = self.batch_id
                if self._world.random.random() >= FORGETS:
                    self.batch_id += 1

    def finish(self, walker: Walker) -> Life:
        """The last batch once more, when all trouble is over: whatever was left open is ended by it."""
        while not (yield from self._run_batch()):
            yield PAUSE_MS
        self.committed = self.batch_id

    def _run_batch(self) -> Step:
        """Whether the batch is committed."""
        self._attempt += 1
        txn = f"{self.batch_id}.{self._attempt}"
        prepared: list[PreparedTransaction] = []
        for part in range(PARTITIONS):
            done = yield from self._run_task(txn, part)
            if done is None:
                return False
            prepared.append(done)
        return (yield from self._commit(txn, prepared))

    def _run_task(self, txn: str, part: int) -> Step:
        """The task's transaction, prepared; None if something went wrong."""
        transactional_id = f"{QUERY}-{part}"
        identity = yield from self._init(transactional_id)
        if identity is None:
            return None
        value = f"{txn}/{part}"
        act = Send(TOPIC, part, (value,), txn=txn, producer=transactional_id, epoch=identity.epoch)
        begun = self._world.story.begin(QUERY, act)
        answer, _ = yield from self._insist(
            produce_request(TOPIC, part, value, identity, 0, transactional_id), VERSION
        )
        if answer is None or ErrorCode.of(told(answer).error_code) not in WRITTEN:
            begun.unknown()
            return None
        begun.ok()
        prepared = PreparedTransaction(
            transactional_id=transactional_id,
            producer_id=identity.producer_id,
            producer_epoch=identity.epoch,
        )
        answer, _ = yield from self._insist(
            PrepareTransactionRequest(
                transactional_id=transactional_id,
                producer_id=identity.producer_id,
                producer_epoch=identity.epoch,
            ),
            0,
        )
        return None if answer is None or answer.error_code else prepared

    def _init(self, transactional_id: str) -> Step:
        """The identity of a task's attempt, after which none that it had before may do anything."""
        begun = self._world.story.begin(QUERY, Txn(Decision.INIT, producer=transactional_id))
        request = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=TIMEOUT_MS)
        answer, _ = yield from self._insist(request, _INIT_VERSION)
        if answer is None or answer.error_code:
            begun.unknown()
            return None
        begun.ok(Txn(Decision.INIT, producer=transactional_id, epoch=answer.producer_epoch))
        return Identity(answer.producer_id, answer.producer_epoch)

    def _commit(self, txn: str, prepared: list[PreparedTransaction]) -> Step:
        begun = self._world.story.begin(QUERY, Txn(Decision.COMMIT, txn))
        request = CommitBatchRequest(query_id=QUERY, batch_id=self.batch_id, prepared=prepared)
        answer, attempts = yield from self._insist(request, 0)
        if answer is None or answer.error_code:
            begun.unknown()
            return False
        if not answer.was_repeated:
            begun.ok()
        elif attempts > 1:
            # Repeated by an earlier attempt of this very request, or by another one: nobody can tell here.
            begun.unknown()
        else:
            begun.fail()
            self._world.story.begin(QUERY, Txn(Decision.ABORT, txn)).ok()
        return True

    def _insist(self, request: Request, version: int) -> Step:
        """The last answer, if there was one, and how often it was asked for."""
        answer = None
        for attempt in range(1, ATTEMPTS + 1):
            answer = yield request, version
            if answer is not None:
                code = told(answer).error_code if hasattr(answer, "responses") else answer.error_code
                if code not in _PASSES:
                    return answer, attempt
            yield PAUSE_MS * attempt
        return answer, ATTEMPTS


def play(seed: int, operations: int, new_disk: NewDisk = SimulatedStorage) -> Played:
    world = World(
        seed,
        {TOPIC: PARTITIONS},
        operations=operations,
        new_disk=new_disk,
        weather=Weather(cut=0.03),
        power_losses=4,
        transaction_version=world_level(seed),
        settings={"transaction.state.log.num.partitions": "5"},
    )
    query = Query(world)
    walkers = [Walker(world, QUERY, query.live)]
    walkers += [
        Walker(world, f"reader {partition}", follow(TOPIC, partition)) for partition in range(PARTITIONS)
    ]
    wrong: list[str] = []
    try:
        world.run_until(lambda: not world.goes_on)
        world.clear_up()
        world.run_until(lambda: world.machine.is_up and all(walker.is_done for walker in walkers))
        last = Walker(world, QUERY, query.finish)
        world.run_until(lambda: last.is_done)
        ends = Ends(world)
        wrong += [f"{name} hangs: a transaction was not ended" for name in ends.hanging]
        wrong += _unlike(ends, query.committed)
    except Hangs:
        wrong.append("the query is never answered")
    return Played(world, wrong)


def world_level(seed: int) -> int:
    """Batches have epochs of their own at every ``transaction.version``."""
    return (2, 2, 1, 0)[seed % 4]


def _unlike(ends: Ends, last: int) -> list[str]:
    """Partitions that do not have every batch once, in order, and by the same attempts as the others."""
    wrong, attempts = [], set()
    for (topic, partition), values in ends.values.items():
        txns = [value.split("/")[0] for value in values]
        attempts.add(tuple(txns))
        numbers = [int(txn.split(".")[0]) for txn in txns]
        if numbers != list(range(last + 1)):
            wrong.append(f"{topic}-{partition} has the batches {numbers}, and 0 to {last} are committed")
    if len(attempts) > 1:
        wrong.append(f"a batch is torn: {sorted(attempts)}")
    return wrong
