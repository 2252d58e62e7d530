"""Addresses as people write them."""

import pytest

from trivium.client.address import Address, parse_addresses
from trivium.client.errors import BadAddress


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("localhost:9092", "localhost", 9092),
        ("127.0.0.1", "127.0.0.1", 9092),
        ("[::1]:19092", "::1", 19092),
        ("[fe80::1%eth0]", "fe80::1%eth0", 9092),
        ("broker-1.example.org:65535", "broker-1.example.org", 65535),
    ],
)
def test_address_is_host_and_port(text: str, host: str, port: int) -> None:
    assert parse_addresses(text) == (Address(host, port),)


def test_addresses_may_be_several() -> None:
    assert parse_addresses("a:1, b:2") == (Address("a", 1), Address("b", 2))


def test_address_prints_as_it_is_written() -> None:
    assert str(Address("::1", 9092)) == "[::1]:9092"
    assert str(Address("a", 1)) == "a:1"


@pytest.mark.parametrize(
    "text", ["", "a:b", "a:1:2", "::1", "kafka://a:1", "a:0", "a:65536", "a,,b", "a b:1"]
)
def test_address_that_is_none_is_one_sentence(text: str) -> None:
    with pytest.raises(
        BadAddress, match=r"^'.*' (is no address of a broker; write HOST:PORT|names port).*\.$"
    ):
        parse_addresses(text)
