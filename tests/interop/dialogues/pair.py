"""The two brokers, with the same settings, and what of both is compared: the versions that both serve."""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.interop.brokers import Restartable
from tests.interop.dialogues.words import Versions
from tests.interop.kafka import Kafka
from tests.server.wire import Peer

from trivium.messages.api import ApiKey
from trivium.messages.api.api_versions import ApiVersionsRequest
from trivium.messages.api.describe_groups import DescribeGroupsRequest
from trivium.messages.api.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
)
from trivium.messages.api.find_coordinator import FindCoordinatorRequest
from trivium.messages.api.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from trivium.messages.api.init_producer_id import InitProducerIdRequest
from trivium.messages.schema import Request

CLUSTER_ID = "ZGlhbG9ndWVzLXNlZWRlZA"
SETTINGS = {
    "auto.create.topics.enable": "false",
    "super.users": "User:ANONYMOUS",
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.assignment.interval.ms": "0",
    "group.share.assignment.interval.ms": "0",
    "message.max.bytes": "10000",
    "max.incremental.fetch.session.cache.slots": "100000",
}
"""Beside what ``tests.interop.kafka`` gives its broker."""

ONLY_OURS = {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "share.coordinator.state.topic.num.partitions": "1",
}
PLAYED_FROM: dict[int, int] = {ApiKey.PRODUCE: 3, ApiKey.UPDATE_FEATURES: 1}
"""Kafka names older versions of Produce for librdkafka's sake, and closes the connection of who uses them;
the oldest UpdateFeatures cannot be tried without changing the cluster for all other plays.
"""
FIRST = "__first"
"""A group and a transactional id of nobody: what begins so is left out of lists."""


@dataclass(frozen=True)
class Pair:
    ours: str
    kafkas: str

    def versions(self) -> Versions:
        """Of each API, those that both serve."""
        ours, kafkas = served(self.ours), served(self.kafkas)
        both = {}
        for key in ours.keys() & kafkas.keys():
            first, last = max(ours[key][0], kafkas[key][0]), min(ours[key][1], kafkas[key][1])
            first = max(first, PLAYED_FROM.get(key, first))
            both[key] = range(first, last + 1)
        return both


def served(bootstrap: str) -> dict[int, tuple[int, int]]:
    with Peer(bootstrap) as peer:
        peer.ask(ApiVersionsRequest(client_software_name="peer", client_software_version="1"), 3)
        answer: Any = peer.answer(ApiKey.API_VERSIONS, 3)[1]
    return {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}


@contextlib.contextmanager
def brokers(kafka: Kafka, directory: Path) -> Iterator[Pair]:
    ours = [f"--set={name}={value}" for name, value in {**SETTINGS, **ONLY_OURS}.items()]
    (directory / "ours").mkdir()
    lines = "".join(f"{name}={value}\n" for name, value in SETTINGS.items())
    with (
        kafka.broker(directory / "kafka", CLUSTER_ID, lines) as kafkas,
        Restartable(directory / "ours", *ours) as broker,
    ):
        as_formatted(broker.bootstrap)
        for each in (broker.bootstrap, kafkas):
            coordinated(each)
        yield Pair(broker.bootstrap, kafkas)


def coordinated(bootstrap: str) -> None:
    """Waits until groups and transactions are coordinated: Kafka makes their topics while it refuses."""
    group = DescribeGroupsRequest(groups=[FIRST])
    transaction = InitProducerIdRequest(transactional_id=FIRST, transaction_timeout_ms=10_000)
    share = DescribeShareGroupOffsetsRequestGroup(group_id=FIRST, topics=None)
    with Peer(bootstrap) as peer:

        def ask(request: Request, version: int) -> Any:
            peer.ask(request, version)
            return peer.answer(ApiKey(request.API_KEY), version)[1]

        for kind in (0, 1):
            while ask(FindCoordinatorRequest(key=FIRST, key_type=kind), 3).error_code:
                time.sleep(0.1)
        while ask(group, 0).groups[0].error_code or ask(transaction, 2).error_code:
            time.sleep(0.1)
        ask(DescribeShareGroupOffsetsRequest(groups=[share]), 0)


def as_formatted(bootstrap: str) -> None:
    """Sets for all brokers what Kafka's feature of eligible leaders sets when a cluster is formatted."""
    change = AlterableConfig(name="min.insync.replicas", config_operation=0, value="1")
    everyone = AlterConfigsResource(resource_type=4, resource_name="", configs=[change])
    with Peer(bootstrap) as peer:
        peer.ask(IncrementalAlterConfigsRequest(resources=[everyone], validate_only=False), 1)
        answer: Any = peer.answer(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1)[1]
    assert not answer.responses[0].error_code, answer
