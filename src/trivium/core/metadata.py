"""The metadata image: what a cluster is, as the sum of the records in its metadata log.

``replay`` takes the records one by one, first those of a snapshot, then those of the log after it, and
the image is always what a KRaft broker would know at that point. It reads no files: whoever has the
records feeds them. The same records give the same image, on any machine and at any time.

Rules:
- A record that contradicts what came before raises ``DecodeError`` with a sentence. The log is damaged
  or not ours then, and an image that went on would be wrong from there.
- Records between ``BeginTransactionRecord`` and ``EndTransactionRecord`` count all together at the end,
  or not at all (KIP-868). One that is still open when the records end has not happened.
- Every record type is in one of the tables below; a test holds them against the messages.

``kraft.version`` and the quorum's voters stand in control records, which belong to Raft and are not here.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from trivium.core.metadata_access import AccessControlEntries, DelegationTokens, ScramCredentials
from trivium.core.metadata_cluster import Brokers, Features, ProducerIds
from trivium.core.metadata_configs import Configs
from trivium.core.metadata_quotas import ClientQuotas
from trivium.core.metadata_topics import Topics
from trivium.messages.schema import Message
from trivium.messages.stored import metadata_access as access_records
from trivium.messages.stored import metadata_brokers as broker_records
from trivium.messages.stored import metadata_topics as topic_records
from trivium.messages.stored.metadata_transactions import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
    NoOpRecord,
)
from trivium.wire.errors import DecodeError


@dataclass(slots=True)
class MetadataImage:
    topics: Topics = field(default_factory=Topics)
    configs: Configs = field(default_factory=Configs)
    brokers: Brokers = field(default_factory=Brokers)
    features: Features = field(default_factory=Features)
    producer_ids: ProducerIds = field(default_factory=ProducerIds)
    access_control: AccessControlEntries = field(default_factory=AccessControlEntries)
    scram: ScramCredentials = field(default_factory=ScramCredentials)
    quotas: ClientQuotas = field(default_factory=ClientQuotas)
    tokens: DelegationTokens = field(default_factory=DelegationTokens)
    _transaction: list[Message] | None = field(default=None, repr=False, compare=False)
    """The records of a transaction that has begun and not ended."""

    @property
    def is_in_transaction(self) -> bool:
        """Whether records are being held back for the end of a transaction."""
        return self._transaction is not None

    def replay(self, record: Message) -> None:
        """Let one record of the metadata log change the image."""
        kind = type(record)
        if kind in TRANSACTION_RECORDS:
            self._replay_transaction(record)
        elif self._transaction is not None:
            self._transaction.append(record)
        elif kind in REPLAYED_RECORDS:
            REPLAYED_RECORDS[kind](self, record)
        elif kind not in IGNORED_RECORDS:
            raise DecodeError(f"{kind.__name__} is no record of a metadata log")

    def _replay_transaction(self, record: Message) -> None:
        if isinstance(record, BeginTransactionRecord):
            if self._transaction is not None:
                raise DecodeError("a metadata transaction begins inside another")
            self._transaction = []
            return
        if self._transaction is None:
            raise DecodeError("a metadata transaction ends that never began")
        pending, self._transaction = self._transaction, None
        if isinstance(record, EndTransactionRecord):
            for each in pending:
                self.replay(each)

    def remove_topic(self, record: topic_records.RemoveTopicRecord) -> None:
        """A topic leaves with its settings: the log has no records of its own for those."""
        self.configs.remove_topic(self.topics.remove(record).name)


TRANSACTION_RECORDS: Final[frozenset[type[Message]]] = frozenset(
    (BeginTransactionRecord, EndTransactionRecord, AbortTransactionRecord)
)

REPLAYED_RECORDS: Final[dict[type[Message], Callable[[MetadataImage, Any], None]]] = {
    topic_records.TopicRecord: lambda image, record: image.topics.create(record),
    topic_records.RemoveTopicRecord: MetadataImage.remove_topic,
    topic_records.PartitionRecord: lambda image, record: image.topics.place(record),
    topic_records.PartitionChangeRecord: lambda image, record: image.topics.change(record),
    topic_records.ClearElrRecord: lambda image, record: image.topics.clear_elr(record),
    topic_records.ConfigRecord: lambda image, record: image.configs.set(record),
    broker_records.RegisterBrokerRecord: lambda image, record: image.brokers.register(record),
    broker_records.UnregisterBrokerRecord: lambda image, record: image.brokers.unregister(record),
    broker_records.FenceBrokerRecord: lambda image, record: image.brokers.fence(record),
    broker_records.UnfenceBrokerRecord: lambda image, record: image.brokers.unfence(record),
    broker_records.BrokerRegistrationChangeRecord: lambda image, record: image.brokers.change(record),
    broker_records.FeatureLevelRecord: lambda image, record: image.features.finalize(record),
    broker_records.ProducerIdsRecord: lambda image, record: image.producer_ids.give_out(record),
    access_records.AccessControlEntryRecord: lambda image, record: image.access_control.add(record),
    access_records.RemoveAccessControlEntryRecord: lambda image, record: image.access_control.remove(record),
    access_records.UserScramCredentialRecord: lambda image, record: image.scram.set(record),
    access_records.RemoveUserScramCredentialRecord: lambda image, record: image.scram.remove(record),
    access_records.DelegationTokenRecord: lambda image, record: image.tokens.set(record),
    access_records.RemoveDelegationTokenRecord: lambda image, record: image.tokens.remove(record),
    access_records.ClientQuotaRecord: lambda image, record: image.quotas.set(record),
}

IGNORED_RECORDS: Final[dict[type[Message], str]] = {
    NoOpRecord: "moves the offset and nothing else: how an idle controller shows that it lives",
    broker_records.RegisterControllerRecord: "how brokers reach the controllers, of which we have none",
    broker_records.ZkMigrationStateRecord: "how far a move from ZooKeeper got; Kafka 4 knows only 'none'",
}
"""Records that change nothing here, and why."""
