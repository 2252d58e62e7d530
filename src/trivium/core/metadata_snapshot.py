"""The metadata image as records again: what a snapshot holds, and the inverse of ``MetadataImage.replay``.

Features come first, as Kafka has it: a reader should know the level of the metadata before anything else.
Every record is written in the lowest version that has words for it. What the image does not keep
(``IGNORED_RECORDS``) is not in a snapshot either; an open metadata transaction has not happened.
"""

from collections.abc import Iterator

from trivium.core.metadata import MetadataImage
from trivium.core.metadata_access import AccessControlEntries, DelegationTokens, ScramCredentials
from trivium.core.metadata_cluster import METADATA_VERSION, Broker, Brokers, Features, ProducerIds
from trivium.core.metadata_configs import Configs
from trivium.core.metadata_quotas import ClientQuotas
from trivium.core.metadata_topics import Partition, Topic, Topics
from trivium.messages.schema import Message
from trivium.messages.stored.metadata_access import (
    AccessControlEntryRecord,
    ClientQuotaRecord,
    DelegationTokenRecord,
    EntityData,
    UserScramCredentialRecord,
)
from trivium.messages.stored.metadata_brokers import (
    BrokerEndpoint,
    BrokerFeature,
    FeatureLevelRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
)
from trivium.messages.stored.metadata_topics import ConfigRecord, PartitionRecord, TopicRecord

VersionedRecord = tuple[Message, int]
"""A record, and the version that it is written in."""

NO_BROKER = -1


def snapshot_records(image: MetadataImage) -> Iterator[VersionedRecord]:
    """Records that make this image when an empty one replays them."""
    yield from _features(image.features)
    for broker in image.brokers:
        yield broker_record(broker)
    for topic in image.topics:
        yield TopicRecord(name=topic.name, topic_id=topic.topic_id), 0
        for index, partition in topic.partitions.items():
            yield partition_record(topic, index, partition)
    yield from _configs(image.configs)
    yield from _quotas(image.quotas)
    if image.producer_ids.next_id:
        yield ProducerIdsRecord(broker_id=NO_BROKER, next_producer_id=image.producer_ids.next_id), 0
    yield from _access_control(image.access_control)
    yield from _scram(image.scram)
    yield from _tokens(image.tokens)


def still(image: MetadataImage) -> MetadataImage:
    """The image as it is now, for a reader that takes its time: what happens to the other does not reach it.

    Values are shared, they never change; only what holds them is copied.
    """
    return MetadataImage(
        topics=_still_topics(image.topics),
        configs=Configs({name: dict(values) for name, values in image.configs.by_resource.items()}),
        brokers=Brokers(dict(image.brokers.by_id)),
        features=Features(dict(image.features.levels)),
        producer_ids=ProducerIds(image.producer_ids.next_id),
        access_control=AccessControlEntries(dict(image.access_control.by_id)),
        scram=ScramCredentials({user: dict(each) for user, each in image.scram.by_user.items()}),
        quotas=ClientQuotas({entity: dict(limits) for entity, limits in image.quotas.by_entity.items()}),
        tokens=DelegationTokens(dict(image.tokens.by_id)),
    )


def _still_topics(topics: Topics) -> Topics:
    copies = [Topic(topic.name, topic.topic_id, dict(topic.partitions)) for topic in topics]
    return Topics({copy.name: copy for copy in copies}, {copy.topic_id: copy for copy in copies})


def _features(features: Features) -> Iterator[VersionedRecord]:
    names = sorted(features.levels, key=lambda name: (name != METADATA_VERSION, name))
    for name in names:
        yield FeatureLevelRecord(name=name, feature_level=features.levels[name]), 0


def broker_record(broker: Broker) -> VersionedRecord:
    """A registration with everything that has happened to it."""
    record = RegisterBrokerRecord(
        broker_id=broker.broker_id,
        incarnation_id=broker.incarnation_id,
        broker_epoch=broker.broker_epoch,
        end_points=[
            BrokerEndpoint(name=name, host=at.host, port=at.port, security_protocol=at.security_protocol)
            for name, at in broker.listeners.items()
        ],
        features=[
            BrokerFeature(
                name=name, min_supported_version=levels.level_min, max_supported_version=levels.level_last
            )
            for name, levels in broker.features.items()
        ],
        rack=broker.rack,
        fenced=broker.is_fenced,
        in_controlled_shutdown=broker.in_controlled_shutdown,
        log_dirs=list(broker.directories),
        cordoned_log_dirs=list(broker.cordoned_directories) or None,
    )
    return record, 4 if broker.cordoned_directories else 3


def partition_record(topic: Topic, index: int, partition: Partition) -> VersionedRecord:
    """A partition as it stands, with its epochs."""
    record = PartitionRecord(
        partition_id=index,
        topic_id=topic.topic_id,
        replicas=list(partition.replicas),
        isr=list(partition.isr),
        removing_replicas=list(partition.removing_replicas),
        adding_replicas=list(partition.adding_replicas),
        leader=partition.leader,
        leader_recovery_state=int(partition.is_recovering),
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        directories=list(partition.directories),
        eligible_leader_replicas=list(partition.eligible_leader_replicas) or None,
        last_known_elr=list(partition.last_known_elr) or None,
    )
    return record, 2 if partition.eligible_leader_replicas or partition.last_known_elr else 1


def _configs(configs: Configs) -> Iterator[VersionedRecord]:
    for resource, values in configs.by_resource.items():
        for name, value in values.items():
            yield (
                ConfigRecord(
                    resource_type=resource.type, resource_name=resource.name, name=name, value=value
                ),
                0,
            )


def _quotas(quotas: ClientQuotas) -> Iterator[VersionedRecord]:
    for entity, limits in quotas.by_entity.items():
        parts = [EntityData(entity_type=kind, entity_name=name) for kind, name in entity]
        for key, value in limits.items():
            yield ClientQuotaRecord(entity=parts, key=key, value=value, remove=False), 0


def _access_control(entries: AccessControlEntries) -> Iterator[VersionedRecord]:
    for id_, entry in entries.by_id.items():
        yield (
            AccessControlEntryRecord(
                id=id_,
                resource_type=entry.resource_type,
                resource_name=entry.resource_name,
                pattern_type=entry.pattern_type,
                principal=entry.principal,
                host=entry.host,
                operation=entry.operation,
                permission_type=entry.permission,
            ),
            0,
        )


def _scram(credentials: ScramCredentials) -> Iterator[VersionedRecord]:
    for user, by_mechanism in credentials.by_user.items():
        for mechanism, credential in by_mechanism.items():
            yield (
                UserScramCredentialRecord(
                    name=user,
                    mechanism=mechanism,
                    salt=credential.salt,
                    stored_key=credential.stored_key,
                    server_key=credential.server_key,
                    iterations=credential.iterations,
                ),
                0,
            )


def _tokens(tokens: DelegationTokens) -> Iterator[VersionedRecord]:
    for token in tokens.by_id.values():
        yield (
            DelegationTokenRecord(
                owner=token.owner,
                requester=token.requester,
                renewers=list(token.renewers),
                issue_timestamp=token.issue_timestamp,
                max_timestamp=token.max_timestamp,
                expiration_timestamp=token.expiration_timestamp,
                token_id=token.token_id,
            ),
            0,
        )
