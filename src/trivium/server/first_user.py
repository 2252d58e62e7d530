"""Who a new node knows: the user that its configuration names, or the one that everybody knows.

``iggy`` with the password ``iggy`` is what every client's examples use. A node has it only if nobody but this
machine can reach its door for Iggy, and says so.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Final

from trivium.core.faults import Fault, Refused
from trivium.core.users.founding import Founding
from trivium.server.configuration.address import is_loopback
from trivium.server.configuration.configuration import FirstUser, Listener
from trivium.server.event_log import events
from trivium.server.listeners import CannotListen

EXAMPLE: Final = FirstUser("iggy", "iggy")


async def found_first_user(
    founding: Founding,
    configured: FirstUser | None,
    listeners: Iterable[Listener],
    meanwhile: Callable[[], object],
) -> bool:
    """Make the first user, if there is none; whether it was made. ``meanwhile`` is done while a thread hashes
    the password. ``CannotListen`` if nobody has said who that is and the whole network could come in as the
    one that everybody knows.
    """
    if not founding.is_needed:
        return False
    user = configured or EXAMPLE
    if configured is None:
        for listener in listeners:
            if not is_loopback(listener.address.host):
                raise CannotListen(
                    f"Others could reach this new node at {listener.address} and log in as iggy/iggy: "
                    "set iggy.root.username and iggy.root.password, or listen on 127.0.0.1."
                )
    made: asyncio.Future[Fault | None] = asyncio.get_running_loop().create_future()
    try:
        founding.found(user.username, user.password, made.set_result)
    except Refused as refused:
        raise CannotListen(f"iggy.root.username and iggy.root.password: {refused.message}") from refused
    meanwhile()
    fault = await made
    if fault is not None:
        raise Refused(fault, "the first user could not be stored")
    if configured is None:
        events.warning(
            "the first user is iggy with the password iggy, which everybody knows: change it "
            "before others can reach this node",
            username=user.username,
        )
    else:
        events.info("first user made", username=user.username)
    return True
