"""Brokers and controllers in the metadata log: who is there, and in which state."""

from trivium.messages.schema import Message, Struct, field
from trivium.messages.types import Bool, Int8, Int16, Int32, Int64, String, UInt16, Uuid


class BrokerEndpoint(Struct):
    name: String
    host: String
    port: UInt16
    security_protocol: Int16


class BrokerFeature(Struct):
    name: String
    min_supported_version: Int16
    max_supported_version: Int16


class RegisterBrokerRecord(Message, key=0, versions="0-4", flexible="0+"):
    broker_id: Int32
    is_migrating_zk_broker: Bool = field("2+", default=False)
    incarnation_id: Uuid
    broker_epoch: Int64
    end_points: list[BrokerEndpoint]
    features: list[BrokerFeature]
    rack: String | None
    fenced: Bool = True
    in_controlled_shutdown: Bool = field("1+", default=False)
    log_dirs: list[Uuid] = field("3+", default_factory=list, tag=0)
    cordoned_log_dirs: list[Uuid] | None = field("4+", default=None, tag=1)


class UnregisterBrokerRecord(Message, key=1, versions="0", flexible="0+"):
    broker_id: Int32
    broker_epoch: Int64


class FenceBrokerRecord(Message, key=7, versions="0", flexible="0+"):
    id: Int32
    epoch: Int64


class UnfenceBrokerRecord(Message, key=8, versions="0", flexible="0+"):
    id: Int32
    epoch: Int64


class BrokerRegistrationChangeRecord(Message, key=17, versions="0-3", flexible="0+"):
    broker_id: Int32
    broker_epoch: Int64
    fenced: Int8 = field(default=0, tag=0)
    in_controlled_shutdown: Int8 = field("1+", default=0, tag=1)
    log_dirs: list[Uuid] = field("2+", default_factory=list, tag=2)
    cordoned_log_dirs: list[Uuid] | None = field("3+", default=None, tag=3)


class ControllerEndpoint(Struct):
    name: String
    host: String
    port: UInt16
    security_protocol: Int16


class ControllerFeature(Struct):
    name: String
    min_supported_version: Int16
    max_supported_version: Int16


class RegisterControllerRecord(Message, key=27, versions="0", flexible="0+"):
    controller_id: Int32
    incarnation_id: Uuid
    zk_migration_ready: Bool
    end_points: list[ControllerEndpoint]
    features: list[ControllerFeature]


class FeatureLevelRecord(Message, key=12, versions="0", flexible="0+"):
    name: String
    feature_level: Int16


class ProducerIdsRecord(Message, key=15, versions="0", flexible="0+"):
    broker_id: Int32
    broker_epoch: Int64 = -1
    next_producer_id: Int64


class ZkMigrationStateRecord(Message, key=21, versions="0", flexible="0+"):
    zk_migration_state: Int8
