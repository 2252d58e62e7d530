"""BrokerRegistration (key 62): a broker registers at the controller.

0   first version, flexible
1   request gains is_migrating_zk_broker
2   request gains log_dirs (KIP-858)
3   request gains previous_broker_epoch (KIP-966)
4   same bytes; a feature may have the lowest version 0
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Bool, Int16, Int32, Int64, String, UInt16, Uuid


class Listener(Struct):
    name: String
    host: String
    port: UInt16
    security_protocol: Int16


class Feature(Struct):
    name: String
    min_supported_version: Int16
    max_supported_version: Int16


class BrokerRegistrationRequest(Request, key=62, versions="0-4", flexible="0+"):
    broker_id: Int32
    cluster_id: String
    incarnation_id: Uuid
    listeners: list[Listener]
    features: list[Feature]
    rack: String | None
    is_migrating_zk_broker: Bool = field("1+", default=False)
    log_dirs: list[Uuid] = field("2+", default_factory=list, ignorable=True)
    previous_broker_epoch: Int64 = field("3+", default=-1, ignorable=True)


class BrokerRegistrationResponse(Response, key=62, versions="0-4", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    broker_epoch: Int64 = -1
