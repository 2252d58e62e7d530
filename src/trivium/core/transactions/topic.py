"""Where transactions are kept: ``__transaction_state``. Whoever only says where needs no coordinator."""

from collections.abc import Callable

from trivium.core.cluster import TRANSACTIONS_TOPIC, Cluster
from trivium.core.commands.topics import NewTopic
from trivium.core.internal_topic import InternalTopic
from trivium.core.settings import Settings, whole
from trivium.messages.schema import Message


def transactions_topic(
    cluster: Cluster,
    settings: Settings,
    new_topic_records: Callable[[NewTopic], list[tuple[Message, int]]],
) -> InternalTopic:
    return InternalTopic(
        cluster,
        TRANSACTIONS_TOPIC,
        new_topic_records,
        lambda: whole(settings.broker, "transaction.state.log.num.partitions"),
        {
            "unclean.leader.election.enable": "false",
            "compression.type": "uncompressed",
            "cleanup.policy": "compact",
            "segment.bytes": str(whole(settings.broker, "transaction.state.log.segment.bytes")),
        },
    )
