"""The settings of consumer groups. A group may have its own; the broker says how far they may go."""

from collections import Counter
from collections.abc import Iterable
from enum import Enum
from typing import Final

from trivium.core.groups.assignors import ASSIGNORS
from trivium.core.groups.assignors.subscriber import Assignor
from trivium.core.groups.consumer.member import Profile
from trivium.core.settings import Settings, whole

_POLICY: Final = "group.consumer.migration.policy"
PROTOCOLS: Final = "group.coordinator.rebalance.protocols"


class MigrationPolicy(Enum):
    """Which way a group with members may turn into one of the other protocol."""

    DISABLED = (False, False)
    UPGRADE = (True, False)
    DOWNGRADE = (False, True)
    BIDIRECTIONAL = (True, True)

    @property
    def may_upgrade(self) -> bool:
        return self.value[0]

    @property
    def may_downgrade(self) -> bool:
        return self.value[1]


class ConsumerRules:
    """What concerns all groups is read once; what a group may set for itself, each time."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        protocols = settings.broker(PROTOCOLS)
        assert isinstance(protocols, tuple)
        self.is_spoken = "consumer" in protocols
        self.size_max = whole(settings.broker, "group.consumer.max.size")
        self.migration = MigrationPolicy[str(settings.broker(_POLICY)).upper()]
        names = settings.broker("group.consumer.assignors")
        assert isinstance(names, tuple)
        self.assignors: dict[str, Assignor] = {
            name: ASSIGNORS[name] for name in names if name in ASSIGNORS
        } or dict(ASSIGNORS)
        """By name; the first is for groups whose members have no wish. Classes of Java cannot be run here."""

    @property
    def default_assignor(self) -> str:
        return next(iter(self.assignors))

    def assignor_for(self, profiles: Iterable[Profile]) -> Assignor:
        return self.assignors[self.assignor_name(profiles)]

    def assignor_name(self, profiles: Iterable[Profile]) -> str:
        """The one that most members want, the first of equals. A wish may be older than the setting."""
        votes = Counter(profile.assignor for profile in profiles if profile.assignor in self.assignors)
        wanted = votes.most_common(1)[0][0] if votes else None
        return wanted or self.default_assignor

    def session_timeout_ms(self, group_id: str) -> int:
        return self._bounded(group_id, "session.timeout.ms")

    def heartbeat_interval_ms(self, group_id: str) -> int:
        return self._bounded(group_id, "heartbeat.interval.ms")

    def assignment_interval_ms(self, group_id: str) -> int:
        """How long a target assignment stands at least, so that members that come together share the next."""
        return self._bounded(group_id, "assignment.interval.ms")

    def _bounded(self, group_id: str, name: str) -> int:
        return self._settings.bounded(group_id, "consumer", name)
