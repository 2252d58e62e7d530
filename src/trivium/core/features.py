"""Feature levels: which ones this node can do, which ones are in force, and changing that.

A level in force is a record of the metadata log, as in Kafka. A new cluster begins with the last levels; what
a cluster has agreed on before stays as it is, until somebody changes it.
"""

from collections.abc import Sequence
from typing import Final

from trivium.core.caller import Caller
from trivium.core.cluster import Cluster
from trivium.core.commands.command import Reply, Routes
from trivium.core.commands.features import (
    DescribeFeatures,
    FeatureLevels,
    FeatureUpdate,
    UpdatedFeatures,
    UpdateFeatures,
)
from trivium.core.faults import Fault, Refused
from trivium.core.metadata_cluster import METADATA_VERSION, SupportedLevels
from trivium.core.metadata_configs import ConfigType
from trivium.core.refusing import refusing
from trivium.messages.stored.metadata_brokers import FeatureLevelRecord

METADATA_LEVEL: Final = 30
"""Of the metadata that this node writes: that of Kafka 4.3."""
KRAFT_VERSION: Final = "kraft.version"
GROUP_VERSION: Final = "group.version"
GROUP_LEVEL: Final = 1
"""Groups whose members the broker assigns partitions to (KIP-848)."""
SHARE_VERSION: Final = "share.version"
SHARE_LEVEL: Final = 1
"""Groups whose members share partitions, record by record (KIP-932)."""
TRANSACTION_VERSION: Final = "transaction.version"
TRANSACTION_LEVEL: Final = 2
"""Each transaction has an epoch of its own (KIP-890)."""

SUPPORTED_FEATURES: Final = {
    METADATA_VERSION: SupportedLevels(7, METADATA_LEVEL),
    KRAFT_VERSION: SupportedLevels(0, 1),
    GROUP_VERSION: SupportedLevels(0, GROUP_LEVEL),
    SHARE_VERSION: SupportedLevels(0, SHARE_LEVEL),
    TRANSACTION_VERSION: SupportedLevels(0, TRANSACTION_LEVEL),
}
"""What this node can read and write. Voters of a quorum (``kraft.version`` 1) are carried along unread."""

FOUNDING_LEVELS: Final = {
    METADATA_VERSION: METADATA_LEVEL,
    GROUP_VERSION: GROUP_LEVEL,
    SHARE_VERSION: SHARE_LEVEL,
    TRANSACTION_VERSION: TRANSACTION_LEVEL,
}
"""What a new cluster begins with."""


class Features:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.routes: Routes = {
            DescribeFeatures: self.describe,
            UpdateFeatures: refusing(self.update),
        }

    def describe(self, command: DescribeFeatures, caller: Caller, reply: Reply[FeatureLevels]) -> None:
        """Levels of features that a cluster from elsewhere has in force, and this node cannot do, are left
        out: nobody could rely on them here.
        """
        image = self._cluster.image
        levels = image.features.levels
        reply(
            FeatureLevels(
                {name: (each.level_min, each.level_last) for name, each in SUPPORTED_FEATURES.items()},
                {name: level for name, level in levels.items() if name in SUPPORTED_FEATURES},
                self._cluster.metadata_offset_end - 1,
                any(each.type is ConfigType.CLIENT_METRICS for each in image.configs.by_resource),
            )
        )

    def update(self, command: UpdateFeatures, caller: Caller, reply: Reply[UpdatedFeatures]) -> None:
        names = [update.name for update in command.updates]
        if len(set(names)) < len(names):
            raise Refused(Fault.INVALID_REQUEST, "A feature is named twice.")
        for update in command.updates:
            self._check(update)
        changed = [each for each in command.updates if each.level != self._level(each.name)]
        if command.validates_only or not changed:
            reply(UpdatedFeatures())
            return
        self._cluster.commit(_records(changed), lambda fault: reply(UpdatedFeatures(fault)))

    def _level(self, name: str) -> int:
        return self._cluster.image.features.levels.get(name, 0)

    def _check(self, update: FeatureUpdate) -> None:
        name, level, now = update.name, update.level, self._level(update.name)
        supported = SUPPORTED_FEATURES.get(name)
        if supported is None:
            raise _invalid(update, "this broker does not know the feature.")
        if not supported.level_min <= level <= supported.level_last:
            raise _invalid(update, f"this broker can do {supported.level_min} to {supported.level_last}.")
        if level == now:
            return
        if name == KRAFT_VERSION:
            raise _invalid(update, "it belongs to the quorum's voters, and they do not change here.")
        if level < now and not update.lowers:
            raise _invalid(update, f"it is at {now}: lowering it must be asked for as a downgrade.")
        if level > now and update.lowers:
            raise _invalid(update, f"it is at {now}: this is no downgrade.")
        if level < now and name == METADATA_VERSION:
            raise _invalid(update, f"it is at {now}, and older levels cannot hold what has been written.")


def _invalid(update: FeatureUpdate, why: str) -> Refused:
    return Refused(
        Fault.INVALID_UPDATE_VERSION,
        f"Invalid update version {update.level} for feature {update.name}: {why}",
    )


def _records(updates: Sequence[FeatureUpdate]) -> list[tuple[FeatureLevelRecord, int]]:
    return [(FeatureLevelRecord(name=each.name, feature_level=each.level), 0) for each in updates]
