"""A conversation with a transaction coordinator, and the words of a producer: right, unless told otherwise.

Producer ids are numbered as they come up; times and words are left out. Kafka answers an end before its
markers are written, so a dialogue waits for them (``settled``) before it goes on.
"""

import time
from collections.abc import Callable
from typing import Any, Final

from tests.golden.group_dialogue import Talk
from tests.server.wire import create_topic

from trivium.messages.api.add_offsets_to_txn import AddOffsetsToTxnRequest
from trivium.messages.api.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from trivium.messages.api.describe_producers import DescribeProducersRequest, TopicRequest
from trivium.messages.api.describe_transactions import DescribeTransactionsRequest
from trivium.messages.api.end_txn import EndTxnRequest
from trivium.messages.api.find_coordinator import FindCoordinatorRequest
from trivium.messages.api.init_producer_id import InitProducerIdRequest
from trivium.messages.api.list_transactions import ListTransactionsRequest
from trivium.messages.api.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from trivium.messages.api.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from trivium.messages.api.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from trivium.messages.api.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from trivium.messages.errors import ErrorCode
from trivium.messages.schema import Request
from trivium.records.batch import build_batch
from trivium.records.record import Record

TRANSACTION_COORDINATOR: Final = 1
SECONDS_MAX: Final = 60
TIMES: Final = frozenset(("transaction_start_time_ms", "last_timestamp"))
UNSAID: Final = frozenset(("error_message", "log_start_offset"))
"""Words are everybody's own; where a log begins is said with some errors and not with others."""
PRODUCERS: Final = frozenset(("producer_id", "ongoing_txn_producer_id"))


class TransactionTalk(Talk):
    """Also knows producers."""

    def __init__(self, bootstrap: str) -> None:
        super().__init__(bootstrap)
        self._producers: dict[int, str] = {}

    def begin(self) -> None:
        super().begin()
        create_topic(self._bootstrap, "outside")
        request = FindCoordinatorRequest(key="tx", key_type=TRANSACTION_COORDINATOR)
        self._until(lambda answer: not answer.error_code, request, 1)
        self._until(lambda answer: answer.error_code not in _BUSY, init("first"), 5)

    def _plain_field(self, name: str, value: Any) -> Any:
        if name in TIMES and value > 0:
            return "TIME"
        if name in UNSAID:
            return "UNSAID"
        if name in PRODUCERS and value >= 0:
            return self._producers.setdefault(value, f"producer {len(self._producers) + 1}")
        return super()._plain_field(name, value)

    def patiently(self, label: str, request: InitProducerIdRequest, version: int) -> Any:
        """Ask until nothing of an earlier transaction stands in the way."""
        answer = self._until(lambda answer: answer.error_code not in _BUSY, request, version)
        assert label not in self.answers, label
        self.answers[label] = self._plain(answer)
        return answer

    def settled(self, transactional_id: str) -> None:
        """Wait until no marker is missing."""
        self._until(
            lambda answer: "Prepare" not in answer.transaction_states[0].transaction_state,
            describe(transactional_id),
            0,
        )

    def _until(self, is_enough: Callable[[Any], bool], request: Request, version: int) -> Any:
        deadline = time.monotonic() + SECONDS_MAX
        while not is_enough(answer := self.question(request, version)):
            assert time.monotonic() < deadline, answer
        return answer


_BUSY: Final = (
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.CONCURRENT_TRANSACTIONS,
)

# -- what is said ----------------------------------------------------------------------------------


class Producer:
    """A transactional producer, and what it says: right, unless it is told otherwise."""

    def __init__(self, talk: TransactionTalk, transactional_id: str) -> None:
        self.talk = talk
        self.name = transactional_id
        answer = talk.patiently(f"{transactional_id} begins", self.init(), 5)
        self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
        self.sequence = 0

    def init(self, producer_id: int = -1, epoch: int = -1) -> InitProducerIdRequest:
        return init(self.name, producer_id=producer_id, producer_epoch=epoch)

    def _who(self, ahead: int, stranger: bool) -> dict[str, Any]:
        return {
            "producer_id": self.producer_id + 1000 * stranger,
            "producer_epoch": self.epoch + ahead,
        }

    def add(
        self, topic: str = "t", partition: int = 0, *, ahead: int = 0, stranger: bool = False
    ) -> AddPartitionsToTxnRequest:
        return AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.name,
            v3_and_below_producer_id=self.producer_id + 1000 * stranger,
            v3_and_below_producer_epoch=self.epoch + ahead,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=topic, partitions=[partition])],
        )

    def in_batch(
        self,
        topic: str = "t",
        partition: int = 0,
        *,
        verifies: bool = False,
        ahead: int = 0,
        stranger: bool = False,
    ) -> AddPartitionsToTxnRequest:
        transaction = AddPartitionsToTxnTransaction(
            transactional_id=self.name,
            verify_only=verifies,
            topics=[AddPartitionsToTxnTopic(name=topic, partitions=[partition])],
            **self._who(ahead, stranger),
        )
        return AddPartitionsToTxnRequest(transactions=[transaction])

    def add_group(
        self, group_id: str = "g", *, ahead: int = 0, stranger: bool = False
    ) -> AddOffsetsToTxnRequest:
        return AddOffsetsToTxnRequest(
            transactional_id=self.name, group_id=group_id, **self._who(ahead, stranger)
        )

    def commit_offset(
        self,
        group_id: str = "g",
        topic: str = "t",
        *,
        partition: int = 0,
        ahead: int = 0,
        stranger: bool = False,
        metadata: str = "",
        **member: Any,
    ) -> TxnOffsetCommitRequest:
        part = TxnOffsetCommitRequestPartition(
            partition_index=partition, committed_offset=1, committed_metadata=metadata
        )
        return TxnOffsetCommitRequest(
            transactional_id=self.name,
            group_id=group_id,
            topics=[TxnOffsetCommitRequestTopic(name=topic, partitions=[part])],
            **self._who(ahead, stranger),
            **member,
        )

    def end(self, *, commits: bool = True, ahead: int = 0, stranger: bool = False) -> EndTxnRequest:
        return EndTxnRequest(transactional_id=self.name, committed=commits, **self._who(ahead, stranger))

    def write(
        self,
        *,
        ahead: int = 0,
        stranger: bool = False,
        transactional: bool = True,
        named: bool = True,
        skips: int = 0,
        partition: int = 0,
    ) -> ProduceRequest:
        batch = build_batch(
            [Record(0, 0, None, b"value")],
            base_sequence=self.sequence + skips,
            transactional=transactional,
            **self._who(ahead, stranger),
        )
        part = PartitionProduceData(index=partition, records=batch)
        return ProduceRequest(
            transactional_id=self.name if named else None,
            acks=-1,
            timeout_ms=30_000,
            topic_data=[TopicProduceData(name="t", partition_data=[part])],
        )

    def ends(self, label: str, *, commits: bool = True, version: int = 5) -> None:
        """Ends its transaction, and goes on with the epoch that it is told."""
        answer = self.talk.ask(label, self.end(commits=commits), version)
        self.talk.settled(self.name)
        if version >= 5 and not answer.error_code:
            self.producer_id, self.epoch, self.sequence = answer.producer_id, answer.producer_epoch, 0


def init(transactional_id: str | None, timeout_ms: int = 60_000, **past: Any) -> InitProducerIdRequest:
    return InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=timeout_ms, **past)


def describe(*transactional_ids: str) -> DescribeTransactionsRequest:
    return DescribeTransactionsRequest(transactional_ids=list(transactional_ids))


def list_those(*states: str, producers: tuple[int, ...] = (), pattern: str | None = None) -> Any:
    return ListTransactionsRequest(
        state_filters=list(states), producer_id_filters=list(producers), transactional_id_pattern=pattern
    )


def offsets(group_id: str, *, stable: bool) -> OffsetFetchRequest:
    topics = [OffsetFetchRequestTopics(name="t", partition_indexes=[0])]
    return OffsetFetchRequest(
        groups=[OffsetFetchRequestGroup(group_id=group_id, topics=topics)], require_stable=stable
    )


def producers_of(topic: str, partition: int) -> DescribeProducersRequest:
    return DescribeProducersRequest(topics=[TopicRequest(name=topic, partition_indexes=[partition])])


def mark(
    producer: Producer, topic: str = "t", partition: int = 0, coordinator_epoch: int = 0, **who: int
) -> WriteTxnMarkersRequest:
    fields = {"producer_id": producer.producer_id, "producer_epoch": producer.epoch, **who}
    marker = WritableTxnMarker(
        transaction_result=False,
        topics=[WritableTxnMarkerTopic(name=topic, partition_indexes=[partition])],
        coordinator_epoch=coordinator_epoch,
        **fields,
    )
    return WriteTxnMarkersRequest(markers=[marker])
