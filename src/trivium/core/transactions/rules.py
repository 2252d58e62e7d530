"""The broker's settings for transactions, read once: none of them changes while the broker runs, but one."""

from collections.abc import Callable
from typing import NamedTuple

from trivium.core.settings import Settings, whole


class TransactionRules(NamedTuple):
    """Named as the settings are; see ``config.broker.transactions`` for their defaults."""

    timeout_ms_max: int
    expiration_ms: int
    """How long a transactional id that nobody uses is remembered."""
    expiration_check_interval_ms: int
    allows_two_phase_commit: bool
    is_verifying: Callable[[], bool]
    """Whether a write of an old client must belong to a transaction that is known; this one may change."""


def transaction_rules(settings: Settings) -> TransactionRules:
    return TransactionRules(
        timeout_ms_max=whole(settings.broker, "transaction.max.timeout.ms"),
        expiration_ms=whole(settings.broker, "transactional.id.expiration.ms"),
        expiration_check_interval_ms=whole(
            settings.broker, "transaction.remove.expired.transaction.cleanup.interval.ms"
        ),
        allows_two_phase_commit=bool(settings.broker("transaction.two.phase.commit.enable")),
        is_verifying=lambda: bool(settings.broker("transaction.partition.verification.enable")),
    )
