"""Reading requests: the protocol's vectors, and everything that can be wrong with them (002.15-002.19)."""

import pytest

from trivium.protocols.iggy.body import Body, PartitioningKind, StrategyKind
from trivium.protocols.iggy.key_hash import hash_key
from trivium.protocols.iggy.status import Rejected, Status
from trivium.wire.errors import DecodeError


def test_identifier_by_number_and_by_name_is_read() -> None:
    assert Body(bytes.fromhex("01047B000000")).identifier() == 123
    assert Body(bytes.fromhex("020773747265616D31")).identifier() == "stream1"


@pytest.mark.parametrize(
    ("data", "status"),
    [
        ("0904" + "01000000", Status.INVALID_COMMAND),
        ("0102" + "0100", Status.INVALID_FORMAT),
        ("0200", Status.INVALID_FORMAT),
    ],
)
def test_identifier_that_is_none_is_rejected(data: str, status: Status) -> None:
    with pytest.raises(Rejected) as rejected:
        Body(bytes.fromhex(data)).identifier()
    assert rejected.value.status == status


@pytest.mark.parametrize("data", ["", "01", "0104", "010401", "0105616263", "0205616263", "0202fffe"])
def test_identifier_that_is_cut_or_no_text_cannot_be_decoded(data: str) -> None:
    with pytest.raises(DecodeError):
        Body(bytes.fromhex(data)).identifier()


def test_partitioning_of_each_kind_is_read() -> None:
    assert Body(bytes.fromhex("0100")).partitioning().kind is PartitioningKind.BALANCED
    assert Body(bytes.fromhex("020407000000")).partitioning().partition == 7
    assert Body(bytes.fromhex("03026b31")).partitioning().key == b"k1"
    assert Body(bytes.fromhex("0300")).partitioning().key == b""


@pytest.mark.parametrize("data", ["010161", "02020100", "0400"])
def test_partitioning_whose_length_its_kind_does_not_allow_is_rejected(data: str) -> None:
    with pytest.raises(Rejected) as rejected:
        Body(bytes.fromhex(data)).partitioning()
    assert rejected.value.status == Status.INVALID_COMMAND


def test_strategy_is_read_and_an_unknown_one_rejected() -> None:
    assert Body(bytes.fromhex("010200000000000000")).strategy() == (StrategyKind.OFFSET, 2)
    with pytest.raises(Rejected):
        Body(bytes.fromhex("060200000000000000")).strategy()


def test_consumer_of_no_kind_is_rejected() -> None:
    assert Body(bytes.fromhex("02020167")).consumer() == (True, "g")
    with pytest.raises(Rejected):
        Body(bytes.fromhex("03020167")).consumer()


def test_key_hash_is_that_of_the_reference() -> None:
    """XXH32 with seed 0, by Iggy's recorded choices and by the algorithm's published vectors."""
    known = {b"key": 3017358048, b"user-1": 2755638957, b"\1\0\0\0": 4089149075, b"c1": 2497150693}
    assert {key: hash_key(key) for key in known} == known
    assert hash_key(b"") == 0x02CC5D05
    assert hash_key(b"Nobody inspects the spammish repetition") == 0xE2293B2F
