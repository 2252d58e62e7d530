"""Batches on their way: what a producer does when a leader is not there."""

from collections.abc import Iterable
from typing import cast

from trivium.client.cluster import Cluster
from trivium.client.connection import Connection
from trivium.client.deadline import Deadline
from trivium.client.delivery import Delivery
from trivium.client.errors import Unreachable
from trivium.client.lane import Lane
from trivium.client.shipping import Shipper
from trivium.client.topology import Partition, Topic, TopicPartition
from trivium.client.waiting import Waiting
from trivium.records.compression import Compression
from trivium.records.record import Record


class FailingOver:
    """A cluster whose first leader is gone; who asks for it anew hears of the second."""

    timeout_s = 10.0

    def __init__(self) -> None:
        self.leader_id = 1
        self.dialled: list[int] = []

    def leader(self, _key: TopicPartition) -> int:
        return self.leader_id

    def topic(self, name: str) -> Topic:
        return Topic(name, bytes(16), False, (Partition(0, self.leader_id, 0, (1, 2), (1, 2), ()),))

    def forget_leaders(self, _topics: Iterable[str]) -> None:
        self.leader_id = 2

    def new_connection(self, node_id: int, _deadline: Deadline) -> Connection:
        self.dialled.append(node_id)
        raise Unreachable(f"Nothing listens at node {node_id}.")


def test_leader_that_refuses_connections_is_looked_up_again() -> None:
    cluster, reports = FailingOver(), list[Delivery]()
    shipper = Shipper(
        cast("Cluster", cluster),
        acks=-1,
        compression=Compression.NONE,
        in_flight_max=5,
        report=reports.append,
        waiting=Waiting(60),
    )
    lane = Lane(TopicPartition("t", 0))
    lane.add(Record(0, 0, None, b"x"), 10)
    lane.complete(Deadline(60))
    shipper.watch(lane)
    while len(cluster.dialled) < 2:
        shipper.work(1.0)
    assert cluster.dialled == [1, 2]
    assert not reports
