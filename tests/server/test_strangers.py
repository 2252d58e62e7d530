"""Clients that do not log in are refused once there is a second user, and the log says so (S7)."""

import logging
import struct

import pytest

from tests.protocols.iggy.raw_client import RawClient, name, text
from trivium.client.errors import Refused
from trivium.core.access import Anonymous
from trivium.server.configuration.address import Address
from trivium.server.configuration.configuration import Listener, Protocol
from trivium.server.strangers import REFUSED, SERVED_AGAIN, Strangers
from trivium.testing import Broker

CREATE_USER, DELETE_USER = 33, 34


def new_user(username: str) -> bytes:
    return text(username) + text("secret") + struct.pack("<BB", 1, 0)


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if record.message in (REFUSED, SERVED_AGAIN)]


def test_second_user_shuts_the_other_doors_and_its_end_opens_them(caplog: pytest.LogCaptureFixture) -> None:
    with Broker(listen_iggy="127.0.0.1:0") as broker, caplog.at_level(logging.WARNING, "trivium"):
        broker.create_topic("t")
        broker.produce("t", ["before"])
        with RawClient(broker.address("iggy")) as root:
            root.login()
            root.get(CREATE_USER, new_user("ann"))
            assert told(caplog) == [REFUSED]
            with pytest.raises(Refused, match="You may not"):
                broker.produce("t", ["refused"])
            root.get(CREATE_USER, new_user("bob"))
            root.get(DELETE_USER, name("ann"))
            assert told(caplog) == [REFUSED]
            root.get(DELETE_USER, name("bob"))
            assert told(caplog) == [REFUSED, SERVED_AGAIN]
        broker.produce("t", ["behind"])
        assert [record.value for record in broker.records("t")] == [b"before", b"behind"]


def test_node_that_refuses_strangers_says_so_at_every_start(caplog: pytest.LogCaptureFixture) -> None:
    with Broker(listen_iggy="127.0.0.1:0") as broker, caplog.at_level(logging.WARNING, "trivium"):
        with RawClient(broker.address("iggy")) as root:
            root.login()
            root.get(CREATE_USER, new_user("ann"))
        broker.restart()
    assert told(caplog) == [REFUSED, REFUSED]


def test_node_that_is_told_to_serves_strangers_beside_any_users(caplog: pytest.LogCaptureFixture) -> None:
    settings = {"listen.iggy": "127.0.0.1:0", "access.anonymous": "allow"}
    with Broker(settings=settings) as broker, caplog.at_level(logging.WARNING, "trivium"):
        broker.create_topic("t")
        with RawClient(broker.address("iggy")) as root:
            root.login()
            root.get(CREATE_USER, new_user("ann"))
        broker.produce("t", ["served"])
    assert told(caplog) == []


@pytest.mark.parametrize(
    ("anonymous", "protocols", "is_told"),
    [
        (Anonymous.AUTO, (Protocol.KAFKA,), True),
        (Anonymous.AUTO, (Protocol.AUTO,), True),
        (Anonymous.AUTO, (Protocol.IGGY, Protocol.RUSTLOG), True),
        (Anonymous.AUTO, (Protocol.IGGY, Protocol.CONSOLE), False),
        (Anonymous.ALLOW, (Protocol.KAFKA,), False),
        (Anonymous.DENY, (Protocol.KAFKA,), False),
    ],
)
def test_change_is_told_where_it_matters_to_somebody(
    anonymous: Anonymous, protocols: tuple[Protocol, ...], is_told: bool, caplog: pytest.LogCaptureFixture
) -> None:
    listeners = [Listener(protocol, protocol.value, Address("127.0.0.1", 1)) for protocol in protocols]
    with caplog.at_level(logging.WARNING, "trivium"):
        Strangers(anonymous, listeners).report_change(is_only_root=False)
    assert told(caplog) == ([REFUSED] if is_told else [])
