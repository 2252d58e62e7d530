"""Delegation tokens that count no more leave the metadata log, now and then.

That is every ``delegation.token.expiry.check.interval.ms``. Nobody notices: such a token lets nobody in, is
shown to nobody. What goes is the memory it takes. A disk that takes no records is no reason to worry: they
are tried again the next time.
"""

from itertools import islice
from typing import Final

from trivium.core.cluster import Cluster
from trivium.core.faults import Fault, Refused
from trivium.core.metadata_access import DelegationToken
from trivium.core.timers import Timers
from trivium.messages.stored.metadata_access import RemoveDelegationTokenRecord

TOKENS_PER_ROUND_MAX: Final = 1_000
"""In one batch of records; with more of them the next round comes at once."""
_RECORD_VERSION: Final = 0


def is_over(token: DelegationToken, now_ms: int) -> bool:
    return min(token.expiration_timestamp, token.max_timestamp) <= now_ms


class TokenExpiry:
    def __init__(self, cluster: Cluster, timers: Timers, interval_ms: int) -> None:
        self._cluster = cluster
        self._timers = timers
        self._interval_ms = interval_ms

    def start(self) -> None:
        self._timers.after(self._interval_ms, self._round)

    def _round(self) -> None:
        now_ms = self._cluster.clock.wall_ms()
        tokens = self._cluster.image.tokens.by_id.values()
        over = list(islice((each for each in tokens if is_over(each, now_ms)), TOKENS_PER_ROUND_MAX))
        if not over:
            self.start()
            return
        try:
            self._cluster.commit(
                [(RemoveDelegationTokenRecord(token_id=each.token_id), _RECORD_VERSION) for each in over],
                self._removed,
            )
        except Refused:
            self.start()

    def _removed(self, fault: Fault | None) -> None:
        if fault is None:
            self._round()
        else:
            self.start()
