"""Who carries out the commands of a module of ``core.commands``: its room, opened by the first of them.

A new noun has its place here: the room that its commands are in, and what it is made of. What several rooms
need is in ``nouns``.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from trivium.core.commands.command import Routes
from trivium.core.settings import whole
from trivium.server.nouns import Nouns, new_id


def rooms(nouns: Nouns) -> Mapping[str, Callable[[], Routes]]:
    """By the name of the module, what opens its room; the same thing for all modules of one room."""
    rooms = {room: partial(room, nouns) for room in _ROOMS.values()}
    return {module: rooms[room] for module, room in _ROOMS.items()}


def _fetch_bytes_max(nouns: Nouns) -> int:
    return whole(nouns.settings.broker, "fetch.max.bytes")


def _topic_routes(nouns: Nouns) -> Routes:
    from trivium.core.topic_deletion import TopicDeletion
    from trivium.core.topics import TopicDirectory

    cluster, settings, access, creation = nouns.cluster, nouns.settings, nouns.access, nouns.creation
    return {
        **creation.routes,
        **TopicDirectory(cluster, settings, access, creation, nouns.place_with).routes,
        **TopicDeletion(cluster, settings, access, nouns.timers, nouns.budgets.admits_mutations).routes,
    }


def _record_routes(nouns: Nouns) -> Routes:
    from trivium.core.fetch import Fetching
    from trivium.core.produce import Producing

    return {
        **Producing(nouns.cluster, nouns.access, nouns.timers, nouns.admit, nouns.owns).routes,
        **Fetching(
            nouns.cluster, nouns.access, nouns.timers, nouns.loop.call_soon, _fetch_bytes_max(nouns)
        ).routes,
    }


def _offset_routes(nouns: Nouns) -> Routes:
    from trivium.core.list_offsets import Offsets

    return Offsets(nouns.cluster, nouns.access).routes


def _producer_routes(nouns: Nouns) -> Routes:
    return nouns.producers.routes


def _acl_routes(nouns: Nouns) -> Routes:
    from trivium.core.acls.administration import AclAdministration

    return AclAdministration(nouns.cluster, nouns.access, new_id).routes


def _config_routes(nouns: Nouns) -> Routes:
    from trivium.core.configs import Configs
    from trivium.server.loggers import PythonLoggers

    return Configs(nouns.cluster, nouns.settings, nouns.access, PythonLoggers()).routes


def _placement_routes(nouns: Nouns) -> Routes:
    from trivium.core.log_directories import LogDirectories
    from trivium.core.placement import Placement

    return {**Placement(nouns.cluster).routes, **LogDirectories(nouns.cluster, nouns.settings).routes}


def _quota_routes(nouns: Nouns) -> Routes:
    from trivium.core.quotas.administration import QuotaAdministration

    return QuotaAdministration(nouns.cluster).routes


def _cluster_routes(nouns: Nouns) -> Routes:
    from trivium.core.cluster_facts import ClusterFacts

    return ClusterFacts(nouns.cluster, nouns.settings, nouns.access).routes


def _feature_routes(nouns: Nouns) -> Routes:
    from trivium.core.features import Features

    return Features(nouns.cluster).routes


def _telemetry_routes(nouns: Nouns) -> Routes:
    from trivium.core.telemetry import Telemetry

    return Telemetry(nouns.cluster, new_id, whole(nouns.settings.broker, "telemetry.max.bytes")).routes


def _group_routes(nouns: Nouns) -> Routes:
    return nouns.groups.routes


def _share_reading_routes(nouns: Nouns) -> Routes:
    from trivium.core.groups.share.reading import ShareReading

    return ShareReading(
        nouns.cluster,
        nouns.access,
        nouns.timers,
        nouns.loop.call_soon,
        nouns.groups.share_states,
        nouns.groups.share_rules,
        _fetch_bytes_max(nouns),
    ).routes


def _transaction_routes(nouns: Nouns) -> Routes:
    return nouns.transactions.routes


def _stream_routes(nouns: Nouns) -> Routes:
    return nouns.streams.routes


def _user_routes(nouns: Nouns) -> Routes:
    return nouns.people.routes


_ROOMS: Final[Mapping[str, Callable[[Nouns], Routes]]] = {
    "acls": _acl_routes,
    "batches": _transaction_routes,
    "clients": _stream_routes,
    "cluster": _cluster_routes,
    "configs": _config_routes,
    "consumer_groups": _group_routes,
    "features": _feature_routes,
    "groups": _group_routes,
    "list_offsets": _offset_routes,
    "offsets": _group_routes,
    "placement": _placement_routes,
    "producers": _producer_routes,
    "quotas": _quota_routes,
    "records": _record_routes,
    "sasl": _user_routes,
    "delegation": _user_routes,
    "share_groups": _group_routes,
    "share_groups_reading": _share_reading_routes,
    "stream_groups": _stream_routes,
    "streams": _stream_routes,
    "telemetry": _telemetry_routes,
    "topics": _topic_routes,
    "transactions": _transaction_routes,
    "users": _user_routes,
}
