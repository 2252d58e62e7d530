"""The broker: authorises a command and hands it to whoever carries it out. It knows no noun by itself.

Everything that happens here happens in one thread, one command after the other; a reply may come later,
when a sync has returned or records have arrived. The same commands at the same times give the same history.
"""

from collections.abc import Sequence
from typing import TypeVar

from trivium.core.access import NOT_AUTHORIZED, Access
from trivium.core.caller import Caller
from trivium.core.commands.command import Command, Reply, Routes
from trivium.core.faults import Fault

R = TypeVar("R")


class Broker:
    """An engine (``core.commands.command.Engine``) on this node's own log."""

    def __init__(self, access: Access, routes: Sequence[Routes]) -> None:
        self._access = access
        self.routes: Routes = {}
        for some in routes:
            twice = self.routes.keys() & some.keys()
            if twice:
                raise ValueError(f"two handlers for {', '.join(command.__name__ for command in twice)}")
            self.routes.update(some)

    def execute(self, command: Command[R], caller: Caller, reply: Reply[R]) -> None:
        row = command.ROW
        if caller.user_id is not None and row.free is None and self._access.is_removed(caller):
            reply(command.refused(Fault.USER_REMOVED))
            return
        if row.name_of is not None and not self._access.allows(
            caller, row.operation, row.resource, row.name_of(command)
        ):
            reply(command.refused(NOT_AUTHORIZED[row.resource]))
            return
        self.routes[type(command)](command, caller, reply)
