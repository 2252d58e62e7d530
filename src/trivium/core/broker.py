"""The broker: authorises a command and hands it to whoever carries it out. It knows no noun by itself.

Everything that happens here happens in one thread, one command after the other; a reply may come later,
when a sync has returned or records have arrived, on behalf of the same caller (``behalf``). The same commands
at the same times give the same history.

Most nodes are asked for a few nouns only, and want to be there at once. So those who carry commands out may
be called by rooms: a room is opened when the first command of its module comes, and stays open.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from trivium.core.access import NOT_AUTHORIZED, Access
from trivium.core.behalf import now
from trivium.core.caller import Caller
from trivium.core.commands.command import Command, Handler, Reply, Routes
from trivium.core.faults import Fault

R = TypeVar("R")

Room = Callable[[], Routes]
"""Gets those ready who carry out the commands of a module, and maybe of others. Called once."""


class Broker:
    """An engine (``core.commands.command.Engine``) on this node's own log."""

    def __init__(
        self,
        access: Access,
        routes: Sequence[Routes] = (),
        rooms: Mapping[str, Room] | None = None,
        watched: Callable[[Routes], Routes] = lambda routes: routes,
    ) -> None:
        """``rooms``: for commands not in ``routes``, by the name of their module in ``core.commands``.
        ``watched`` lets somebody look over their shoulders (``audit``).
        """
        self._access = access
        self._watched = watched
        self._rooms = rooms or {}
        self._open_rooms: set[Room] = set()
        self.routes: Routes = {}
        for some in routes:
            self._add(some)

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
        handler = self.routes.get(type(command)) or self._newcomer(type(command))
        before, now.asked = now.asked, (caller.presence, type(command).__name__)
        try:
            handler(command, caller, reply)
        finally:
            now.asked = before

    def open(self, module: str) -> None:
        """Open the room for the commands of this module, if it is not open yet."""
        room = self._rooms[module]
        if room not in self._open_rooms:
            self._open_rooms.add(room)
            self._add(room())

    def _newcomer(self, kind: type[Command[Any]]) -> Handler:
        self.open(kind.__module__.rpartition(".")[2])
        return self.routes[kind]

    def _add(self, routes: Routes) -> None:
        twice = self.routes.keys() & routes.keys()
        if twice:
            raise ValueError(f"two handlers for {', '.join(command.__name__ for command in twice)}")
        self.routes.update(self._watched(routes))
