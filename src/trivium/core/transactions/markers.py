"""Markers: the control records that end a transaction in a partition.

A marker is refused if its producer has written with a newer epoch, or a newer coordinator has marked before:
what is late must not end a transaction that has begun since (promise R14). Where every transaction has an
epoch of its own the marker must be newer than all records; one that is there already is not written again.
"""

from collections.abc import Callable
from typing import NamedTuple

from trivium.core.cluster import Cluster
from trivium.core.faults import Fault, Refused
from trivium.core.groups.offsets import Place
from trivium.core.partition import LivePartition
from trivium.core.ports import Done, ProducerFacts
from trivium.core.transactions.transaction import Producer
from trivium.records.batch import check_batches
from trivium.records.control import EndTxnMarker, build_end_txn


class Marker(NamedTuple):
    producer: Producer
    commits: bool
    coordinator_epoch: int
    is_strict: bool
    """The epoch is this one end's own: nobody has written with it."""


Ended = Callable[[Place, int, bool], None]
"""Told of the partition, the producer's id, and whether it has committed."""


class Markers:
    def __init__(self, cluster: Cluster, ended: Ended) -> None:
        self._cluster = cluster
        self._ended = ended

    def write(self, place: Place, marker: Marker, done: Done) -> None:
        """End the producer's transaction in a partition; ``done`` when that is durable. ``Refused`` if it
        cannot be.
        """
        partition = self._cluster.partition(*place)
        if not _is_there(partition.log.producer(marker.producer.producer_id), marker):
            self._append(partition, marker)
            self._ended(place, marker.producer.producer_id, marker.commits)
        if partition.rules.durable:
            partition.log.when_durable(done)
        else:
            done(None)

    def _append(self, partition: LivePartition, marker: Marker) -> None:
        data = bytearray(
            build_end_txn(
                EndTxnMarker(marker.commits, marker.coordinator_epoch),
                producer_id=marker.producer.producer_id,
                producer_epoch=marker.producer.epoch,
                timestamp=self._cluster.clock.wall_ms(),
            )
        )
        partition.log.append(data, check_batches(data), partition.leader_epoch)
        # Nothing has come for those who read everything, and maybe much for those who wait for the decision.
        partition.announce(0)


def _is_there(facts: ProducerFacts | None, marker: Marker) -> bool:
    """Whether the partition has this very marker. ``Refused`` if it must not get it."""
    if facts is None:
        return False
    producer_id, epoch = marker.producer
    if epoch < facts.epoch:
        raise Refused(
            Fault.INVALID_PRODUCER_EPOCH,
            f"A marker of epoch {epoch} for producer {producer_id}, which is at epoch {facts.epoch} here.",
        )
    if marker.coordinator_epoch < facts.coordinator_epoch:
        raise Refused(
            Fault.TRANSACTION_COORDINATOR_FENCED,
            f"A marker of coordinator epoch {marker.coordinator_epoch} for producer {producer_id}, which "
            f"epoch {facts.coordinator_epoch} has marked.",
        )
    if not marker.is_strict or epoch > facts.epoch:
        return False
    if facts.txn_first_offset is None:
        # Records of no transaction may have come with that epoch: there is nothing that a marker could end.
        return facts.last_sequence < 0
    raise Refused(
        Fault.INVALID_PRODUCER_EPOCH,
        f"A marker of epoch {epoch} for producer {producer_id}, which has written with that epoch.",
    )
