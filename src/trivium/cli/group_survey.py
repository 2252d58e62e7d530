"""What ``trivium group`` knows of one group, whatever its kind: who reads what, and how far it is.

A consumer group is where it has committed. A share group is where its first record lies that is not done
with, and a partition of it may have several members.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from trivium.client.admin_groups import SHARE, Group, Member, describe_group, is_share_group
from trivium.client.cluster import Cluster
from trivium.client.group_offsets import CommittedOffset, commit_offsets, committed_offsets
from trivium.client.offsets import LATEST, FoundOffset, list_offsets
from trivium.client.share_offsets import set_share_offsets, share_offsets
from trivium.client.topology import TopicPartition


@dataclass(frozen=True, slots=True)
class LagRow:
    topic: str
    partition: int
    committed: int | None
    end: int | None
    lag: int | None
    """Records between the two, or of a share group those that are not done with; None if it is not known."""

    member: str | None
    host: str | None


def survey(cluster: Cluster, group_id: str) -> dict[str, Any]:
    """Everything about a group, ready for JSON."""
    group = describe_group(cluster, group_id)
    lags: Mapping[TopicPartition, int | None] = {}
    if group.group_type == SHARE:
        shared = share_offsets(cluster, group_id)
        places = {key: each.start for key, each in shared.items()}
        lags = {key: each.lag for key, each in shared.items()}
    else:
        places = {key: each.offset for key, each in committed_offsets(cluster, group_id).items()}
    owners: defaultdict[TopicPartition, list[Member]] = defaultdict(list)
    for member in group.members:
        for key in member.partitions:
            owners[key].append(member)
    keys = sorted(places.keys() | owners.keys())
    ends = list_offsets(cluster, dict.fromkeys(existing(cluster, keys), LATEST))
    rows = []
    for key in keys:
        found, place, lag = ends.get(key), places.get(key), lags.get(key)
        end = found.offset if isinstance(found, FoundOffset) else None
        if lag is None and place is not None and end is not None:
            lag = max(0, end - place)
        rows.append(
            LagRow(
                key.topic,
                key.partition,
                place,
                end,
                lag,
                _together(each.client_id for each in owners[key]),
                _together(each.host.lstrip("/") for each in owners[key]),
            )
        )
    return _facts(group, rows)


def places_of(cluster: Cluster, group_id: str) -> dict[TopicPartition, int]:
    """How far a group is that may not be there yet."""
    if is_share_group(cluster, group_id):
        return {key: each.start for key, each in share_offsets(cluster, group_id).items()}
    return {key: each.offset for key, each in committed_offsets(cluster, group_id).items()}


def move(cluster: Cluster, group_id: str, places: Mapping[TopicPartition, int]) -> None:
    """Let a group go on there. Its members must be stopped."""
    if is_share_group(cluster, group_id):
        set_share_offsets(cluster, group_id, places)
    else:
        commit_offsets(cluster, group_id, {key: CommittedOffset(place) for key, place in places.items()})


def existing(cluster: Cluster, keys: Iterable[TopicPartition]) -> list[TopicPartition]:
    """Those that still have a leader to ask: a group outlives the topics that it has read."""
    known = cluster.topics()
    return [
        key
        for key in keys
        if key.topic in known
        and key.partition < len(known[key.topic].partitions)
        and known[key.topic].partitions[key.partition].leader_id >= 0
    ]


def _facts(group: Group, rows: list[LagRow]) -> dict[str, Any]:
    return {
        "group": group.group_id,
        "state": group.state,
        "type": group.group_type,
        "assignor": group.assignor,
        "coordinator": group.coordinator_id,
        "members": len(group.members),
        "partitions": rows,
    }


def _together(names: Iterable[str]) -> str | None:
    """Each once."""
    return ", ".join(dict.fromkeys(names)) or None
