"""Producers with an id, and transactions."""

from typing import Final

from trivium.core.config.definition import BOOLEAN, CLUSTER_WIDE, INT, SHORT, Definition
from trivium.core.config.valid import at_least

TRANSACTIONS: Final = (
    Definition("add.partitions.to.txn.retry.backoff.max.ms", INT, 100, at_least(0)),
    Definition("add.partitions.to.txn.retry.backoff.ms", INT, 20, at_least(1)),
    Definition("producer.id.expiration.check.interval.ms", INT, 600_000, at_least(1), internal=True),
    Definition("producer.id.expiration.ms", INT, 86_400_000, at_least(1), CLUSTER_WIDE),
    Definition("transaction.abort.timed.out.transaction.cleanup.interval.ms", INT, 10_000, at_least(1)),
    Definition("transaction.max.timeout.ms", INT, 900_000, at_least(1)),
    Definition("transaction.partition.verification.enable", BOOLEAN, True, None, CLUSTER_WIDE),
    Definition("transaction.remove.expired.transaction.cleanup.interval.ms", INT, 3_600_000, at_least(1)),
    Definition("transaction.state.log.load.buffer.size", INT, 5_242_880, at_least(1)),
    Definition("transaction.state.log.min.isr", INT, 2, at_least(1)),
    Definition("transaction.state.log.num.partitions", INT, 50, at_least(1)),
    Definition("transaction.state.log.replication.factor", SHORT, 3, at_least(1)),
    Definition("transaction.state.log.segment.bytes", INT, 104_857_600, at_least(1)),
    Definition("transaction.two.phase.commit.enable", BOOLEAN, False),
    Definition("transactional.id.expiration.ms", INT, 604_800_000, at_least(1)),
)
