"""Protocols of groups that a cluster may have agreed to or not: consumer groups (``group.version``) and share
groups (``share.version``). A new cluster has both. Consumer groups may be left out by a setting, too.

What a group of such a protocol holds stays when the level is lowered; only nobody can speak for it then.
"""

from typing import Any, Final, NamedTuple

from trivium.core.caller import Caller
from trivium.core.cluster import Cluster
from trivium.core.commands.command import Command, Handler, Reply, Routes
from trivium.core.faults import Fault
from trivium.core.features import GROUP_LEVEL, GROUP_VERSION, SHARE_LEVEL, SHARE_VERSION


class Agreement(NamedTuple):
    """What a cluster must have agreed to for a protocol to be spoken."""

    groups: str
    feature: str
    level: int

    @property
    def refusal(self) -> str:
        return (
            f"{self.groups} are not enabled in this cluster: raise {self.feature} to {self.level} "
            "(kafka-features upgrade)."
        )


CONSUMER_GROUPS: Final = Agreement("Consumer groups of KIP-848", GROUP_VERSION, GROUP_LEVEL)
SHARE_GROUPS: Final = Agreement("Share groups", SHARE_VERSION, SHARE_LEVEL)


def where_agreed(agreement: Agreement, cluster: Cluster, routes: Routes) -> Routes:
    """The same handlers, for the time in which the agreement is in force."""
    return {command: _agreed(agreement, cluster, handler) for command, handler in routes.items()}


def left_out(why: str, routes: Routes) -> Routes:
    """Nobody carries these commands out, as long as this broker runs."""

    def refuse(command: Command[Any], caller: Caller, reply: Reply[Any]) -> None:
        reply(command.refused(Fault.UNSUPPORTED, why))

    return dict.fromkeys(routes, refuse)


def _agreed(agreement: Agreement, cluster: Cluster, handler: Handler) -> Handler:
    def handle(command: Command[Any], caller: Caller, reply: Reply[Any]) -> None:
        if cluster.image.features.levels.get(agreement.feature, 0) >= agreement.level:
            handler(command, caller, reply)
        else:
            reply(command.refused(Fault.UNSUPPORTED, agreement.refusal))

    return handle
