"""Share groups are there once the cluster has agreed to them (``share.version`` 1, as a new cluster has)."""

from typing import Any, Final

from trivium.core.caller import Caller
from trivium.core.cluster import Cluster
from trivium.core.commands.command import Command, Handler, Reply, Routes
from trivium.core.faults import Fault
from trivium.core.features import SHARE_LEVEL, SHARE_VERSION

_NOT_AGREED: Final = (
    f"Share groups are not enabled in this cluster: raise {SHARE_VERSION} to {SHARE_LEVEL} "
    "(kafka-features upgrade)."
)


def where_enabled(cluster: Cluster, routes: Routes) -> Routes:
    """The same handlers, for the time in which there are share groups."""
    return {command: _enabled(cluster, handler) for command, handler in routes.items()}


def _enabled(cluster: Cluster, handler: Handler) -> Handler:
    def handle(command: Command[Any], caller: Caller, reply: Reply[Any]) -> None:
        if cluster.image.features.levels.get(SHARE_VERSION, 0) >= SHARE_LEVEL:
            handler(command, caller, reply)
        else:
            reply(command.refused(Fault.UNSUPPORTED, _NOT_AGREED))

    return handle
