"""The cluster as the metadata log tells it: brokers, feature levels, producer ids given out."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from trivium.messages.stored.metadata_brokers import (
    BrokerRegistrationChangeRecord,
    FeatureLevelRecord,
    FenceBrokerRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)
from trivium.wire.errors import DecodeError

METADATA_VERSION: Final = "metadata.version"
"""The feature whose level says which records a metadata log may hold."""

_CHANGES: Final[dict[int, bool | None]] = {-1: False, 0: None, 1: True}
"""How a registration change says what becomes of a flag: cleared, left as it is, set."""


class Listener(NamedTuple):
    host: str
    port: int
    security_protocol: int


class SupportedLevels(NamedTuple):
    """What a broker can do of a feature, both ends included."""

    level_min: int
    level_last: int


class Broker(NamedTuple):
    """A broker as it registered. A fenced one holds replicas and leads nothing."""

    broker_id: int
    broker_epoch: int
    incarnation_id: bytes
    listeners: Mapping[str, Listener]
    features: Mapping[str, SupportedLevels]
    rack: str | None
    is_fenced: bool
    in_controlled_shutdown: bool
    directories: tuple[bytes, ...] = ()
    cordoned_directories: tuple[bytes, ...] = ()
    """Directories that take no new replicas."""


@dataclass(slots=True)
class Brokers:
    by_id: dict[int, Broker] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Broker]:
        return iter(self.by_id.values())

    def register(self, record: RegisterBrokerRecord) -> None:
        self.by_id[record.broker_id] = Broker(
            broker_id=record.broker_id,
            broker_epoch=record.broker_epoch,
            incarnation_id=record.incarnation_id,
            listeners={
                point.name: Listener(point.host, point.port, point.security_protocol)
                for point in record.end_points
            },
            features={
                feature.name: SupportedLevels(feature.min_supported_version, feature.max_supported_version)
                for feature in record.features
            },
            rack=record.rack,
            is_fenced=record.fenced,
            in_controlled_shutdown=record.in_controlled_shutdown,
            directories=tuple(record.log_dirs),
            cordoned_directories=tuple(record.cordoned_log_dirs or ()),
        )

    def unregister(self, record: UnregisterBrokerRecord) -> None:
        del self.by_id[self._registered(record.broker_id, record.broker_epoch).broker_id]

    def fence(self, record: FenceBrokerRecord) -> None:
        self.by_id[record.id] = self._registered(record.id, record.epoch)._replace(is_fenced=True)

    def unfence(self, record: UnfenceBrokerRecord) -> None:
        self.by_id[record.id] = self._registered(record.id, record.epoch)._replace(is_fenced=False)

    def change(self, record: BrokerRegistrationChangeRecord) -> None:
        broker = self._registered(record.broker_id, record.broker_epoch)
        cordoned = record.cordoned_log_dirs
        self.by_id[record.broker_id] = broker._replace(
            is_fenced=_changed(broker, broker.is_fenced, record.fenced),
            in_controlled_shutdown=_changed(
                broker, broker.in_controlled_shutdown, record.in_controlled_shutdown
            ),
            directories=tuple(record.log_dirs) or broker.directories,
            cordoned_directories=broker.cordoned_directories if cordoned is None else tuple(cordoned),
        )

    def _registered(self, broker_id: int, broker_epoch: int) -> Broker:
        """The registration that a record speaks of: the epoch tells it from an earlier life of the broker."""
        broker = self.by_id.get(broker_id)
        if broker is None:
            raise DecodeError(f"broker {broker_id} is changed and was never registered")
        if broker.broker_epoch != broker_epoch:
            raise DecodeError(
                f"broker {broker_id} of epoch {broker.broker_epoch} is changed in epoch {broker_epoch}"
            )
        return broker


def _changed(broker: Broker, before: bool, change: int) -> bool:
    if change not in _CHANGES:
        raise DecodeError(f"broker {broker.broker_id}: {change} is no change of a flag")
    after = _CHANGES[change]
    return before if after is None else after


@dataclass(slots=True)
class Features:
    """The level that each feature of the cluster has been finalized at; an absent one is at level 0."""

    levels: dict[str, int] = field(default_factory=dict)

    def finalize(self, record: FeatureLevelRecord) -> None:
        if record.feature_level:
            self.levels[record.name] = record.feature_level
        else:
            self.levels.pop(record.name, None)


@dataclass(slots=True)
class ProducerIds:
    """Producer ids are given to brokers in blocks; ``next_id`` is the first that nobody has."""

    next_id: int = 0

    def give_out(self, record: ProducerIdsRecord) -> None:
        if record.next_producer_id < self.next_id:
            raise DecodeError(f"producer ids fall back from {self.next_id} to {record.next_producer_id}")
        self.next_id = record.next_producer_id
