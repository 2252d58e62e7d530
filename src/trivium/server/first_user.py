"""Who a new node knows: the user that its configuration names, or the one that everybody knows.

``iggy`` with the password ``iggy`` is what every client's examples use. A node has it only as long as nobody
but this machine can reach a door at which passwords are taken, and says so. Who wants it otherwise has to
configure it.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Final

from trivium.core.faults import Fault, Refused
from trivium.core.users.founding import Founding
from trivium.server.configuration.address import is_loopback
from trivium.server.configuration.configuration import FirstUser, Listener, Protocol
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
    door = _door_to_others(listeners)
    if configured is None and door is not None:
        raise CannotListen(
            f"Others could reach this new node at {door.address} and log in as iggy/iggy: "
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


async def refuse_well_known_user(
    founding: Founding, configured: FirstUser | None, listeners: Iterable[Listener]
) -> None:
    """``CannotListen`` if a node has been opened to others since its start, and its first user is still the
    one that everybody knows.
    """
    door = _door_to_others(listeners)
    if door is None or configured == EXAMPLE:
        return
    told: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
    founding.ask_whether_still(EXAMPLE.username, EXAMPLE.password, told.set_result)
    if await told:
        raise CannotListen(
            f"Others could reach this node at {door.address} and log in as iggy/iggy, its first user: listen "
            "on 127.0.0.1, change the password by 'trivium user password iggy', and open it then."
        )


def _door_to_others(listeners: Iterable[Listener]) -> Listener | None:
    return next(
        (each for each in listeners if _takes_passwords(each) and not is_loopback(each.address.host)), None
    )


def _takes_passwords(listener: Listener) -> bool:
    return listener.protocol in (Protocol.IGGY, Protocol.RUSTLOG, Protocol.AUTO) or listener.sasl is not None
