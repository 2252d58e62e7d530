"""Who a new node knows: the user of its configuration, or the one that everybody knows, on loopback only."""

import asyncio
import logging
from typing import cast

import pytest

from tests.core.inhabited import InhabitedWorld
from trivium.core.commands.users import ChangePassword, UpdateUser
from trivium.core.ports import Done
from trivium.core.users.founding import Founding
from trivium.server.configuration.address import Address, is_loopback
from trivium.server.configuration.configuration import FirstUser, Listener, Protocol
from trivium.server.configuration.errors import ConfigurationError
from trivium.server.configuration.loading import load
from trivium.server.first_user import EXAMPLE, found_first_user, refuse_well_known_user
from trivium.server.listeners import CannotListen


def found(world: InhabitedWorld, configured: FirstUser | None, *hosts: str) -> None:
    listeners = [Listener(Protocol.IGGY, "iggy", Address(host, 8090)) for host in hosts]
    asyncio.run(found_first_user(world.people.founding, configured, listeners, lambda: None))


def test_first_user_on_loopback_is_the_one_that_everybody_knows_and_it_is_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = InhabitedWorld()
    with caplog.at_level(logging.WARNING, "trivium"):
        found(world, None, "127.0.0.1", "::1", "localhost")
    world.log_in("iggy", "iggy")
    assert any("everybody knows" in record.message for record in caplog.records)


@pytest.mark.parametrize("host", ["", "0.0.0.0", "192.168.1.1", "broker.example.org"])
def test_first_user_that_others_could_be_is_not_made(host: str) -> None:
    world = InhabitedWorld()
    with pytest.raises(CannotListen, match=r"iggy\.root\.password"):
        found(world, None, "127.0.0.1", host)
    assert len(world.users) == 0


@pytest.mark.parametrize("protocol", [Protocol.RUSTLOG, Protocol.AUTO])
def test_first_user_counts_wherever_passwords_are_taken(protocol: Protocol) -> None:
    """S10."""
    doors = [Listener(Protocol.IGGY, "iggy", Address("127.0.0.1", 8090)), open_door(protocol)]
    with pytest.raises(CannotListen, match=r"iggy\.root\.password"):
        asyncio.run(found_first_user(InhabitedWorld().people.founding, None, doors, lambda: None))


# -- a node that is opened to others later -----------------------------------------------------------


def open_door(protocol: Protocol = Protocol.IGGY) -> Listener:
    return Listener(protocol, protocol.value, Address("0.0.0.0", 7070))


def open_to_others(world: InhabitedWorld, door: Listener, configured: FirstUser | None = None) -> None:
    asyncio.run(refuse_well_known_user(world.people.founding, configured, [door]))


def settled() -> InhabitedWorld:
    """A node that began on loopback, and starts again."""
    world = InhabitedWorld()
    found(world, None, "127.0.0.1")
    world.restart()
    return world


@pytest.mark.parametrize("protocol", [Protocol.IGGY, Protocol.RUSTLOG, Protocol.AUTO])
@pytest.mark.parametrize("configured", [None, FirstUser("admin", "secret")])
def test_node_is_not_opened_with_the_user_that_everybody_knows(
    protocol: Protocol, configured: FirstUser | None
) -> None:
    with pytest.raises(CannotListen, match="trivium user password iggy"):
        open_to_others(settled(), open_door(protocol), configured)


def test_node_is_opened_when_its_first_user_has_another_password_or_name() -> None:
    for change in (ChangePassword("iggy", "iggy", "secret"), UpdateUser("iggy", "admin")):
        world = settled()
        assert world.ask(change, world.log_in("iggy", "iggy")) is None
        open_to_others(world, open_door())


def test_node_is_opened_with_the_known_user_if_it_is_configured_or_nobody_logs_in_there() -> None:
    open_to_others(settled(), open_door(), EXAMPLE)
    open_to_others(settled(), open_door(Protocol.KAFKA))


def test_first_user_of_the_configuration_is_made_once_and_its_password_never_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """S15."""
    world = InhabitedWorld()
    with caplog.at_level(logging.DEBUG, "trivium"):
        found(world, FirstUser("admin", "canary"), "0.0.0.0")
        found(world, FirstUser("other", "canary"), "0.0.0.0")
    world.log_in("admin", "canary")
    assert [user.username for user in world.users] == ["admin"]
    assert "canary" not in caplog.text
    assert "canary" not in repr(FirstUser("admin", "canary"))


def test_start_goes_on_while_the_first_password_is_hashed() -> None:
    class Hashing:
        is_needed = True

        def found(self, _username: str, _password: str, done: Done) -> None:
            self.done = done

    hashing = Hashing()
    founded = found_first_user(cast(Founding, hashing), None, [], lambda: hashing.done(None))
    assert asyncio.run(asyncio.wait_for(founded, timeout=60))


def test_first_user_that_cannot_be_is_refused_in_a_sentence() -> None:
    with pytest.raises(CannotListen, match="3 to 50 bytes"):
        found(InhabitedWorld(), FirstUser("no", "secret"), "127.0.0.1")


def test_first_user_comes_from_the_environment_and_its_password_is_hidden() -> None:
    environment = {"TRIVIUM_IGGY_ROOT_USERNAME": "admin", "TRIVIUM_IGGY_ROOT_PASSWORD": "canary"}
    configuration = load(None, environment, {})
    assert configuration.first_user == FirstUser("admin", "canary")
    assert configuration.settings["iggy.root.password"].text is None
    assert "canary" not in repr(configuration)
    assert "canary" not in str(configuration.static_settings)


def test_name_without_password_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"set iggy\.root\.password too"):
        load(None, {}, {"iggy.root.username": "admin"})


def test_loopback_is_told_from_the_rest() -> None:
    assert [is_loopback(host) for host in ("127.8.8.8", "::1", "::", "10.0.0.1", "")] == [
        True,
        True,
        False,
        False,
        False,
    ]
