"""Who is connected: sessions that have said so, each with a number for as long as it lives."""

from collections.abc import Callable
from dataclasses import dataclass

from trivium.core.caller import Caller, Presence
from trivium.core.commands.clients import (
    ClientFacts,
    ClientGroup,
    DescribeClient,
    DescribedClient,
    DescribeMe,
    GreetClient,
    ListClients,
    ListedClients,
    Transport,
)
from trivium.core.commands.command import Reply, Routes
from trivium.core.faults import Fault
from trivium.core.streams.membership import Membership

CLIENT_ID_FIRST = 1
"""Clients take 0 for none."""


@dataclass(slots=True)
class Client:
    client_id: int
    address: str
    transport: Transport
    user_id: int | None = None


class Clients:
    def __init__(self, membership: Membership, is_removed: Callable[[Caller], bool]) -> None:
        """``is_removed``: whether a caller has logged in as a user that is there no more."""
        self._membership = membership
        self._is_removed = is_removed
        self._by_presence: dict[Presence, Client] = {}
        self._by_id: dict[int, Client] = {}
        self._next_id = CLIENT_ID_FIRST
        self.routes: Routes = {
            GreetClient: self.greet,
            DescribeMe: self.describe_me,
            DescribeClient: self.describe,
            ListClients: self.list_clients,
        }

    def __len__(self) -> int:
        return len(self._by_id)

    # -- coming and going ------------------------------------------------------------------------

    def greet(self, command: GreetClient, caller: Caller, reply: Reply[int]) -> None:
        client = self.of(caller)
        client.address, client.transport = command.address, command.transport
        reply(client.client_id)

    def of(self, caller: Caller) -> Client:
        """The client of a caller. One that has not been greeted is known by its host."""
        client = self._by_presence.get(caller.presence)
        if client is None:
            client = Client(self._next_id, caller.host, Transport.TCP, caller.user_id)
            self._next_id += 1
            self._by_presence[caller.presence] = self._by_id[client.client_id] = client
            caller.presence.watch(lambda: self._gone(caller.presence))
        return client

    def session_changed(self, caller: Caller, user_id: int | None) -> None:
        """The connection belongs to another user now, or to nobody."""
        self.of(caller).user_id = user_id

    def _gone(self, presence: Presence) -> None:
        client = self._by_presence.pop(presence)
        del self._by_id[client.client_id]
        self._membership.leave_all(client.client_id)

    # -- looking ---------------------------------------------------------------------------------

    def describe_me(self, command: DescribeMe, caller: Caller, reply: Reply[DescribedClient]) -> None:
        if self._is_removed(caller):
            reply(DescribedClient(Fault.USER_REMOVED))
        else:
            reply(DescribedClient(None, self._facts(self.of(caller))))

    def describe(self, command: DescribeClient, caller: Caller, reply: Reply[DescribedClient]) -> None:
        client = self._by_id.get(command.client_id)
        reply(DescribedClient(None, None if client is None else self._facts(client)))

    def list_clients(self, command: ListClients, caller: Caller, reply: Reply[ListedClients]) -> None:
        reply(ListedClients(None, [self._facts(client) for client in self._by_id.values()]))

    def _facts(self, client: Client) -> ClientFacts:
        groups = [ClientGroup(*number) for number in self._membership.groups_of(client.client_id)]
        return ClientFacts(client.client_id, client.user_id, client.transport, client.address, groups)
