"""UUID text as Kafka writes it into partition.metadata and meta.properties."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.wire.errors import DecodeError, EncodeError
from trivium.wire.uuid_text import ZERO_UUID, uuid_from_text, uuid_to_text


def test_uuid_text_known_value_is_url_safe_base64() -> None:
    # A topic id and its text, as a Kafka 4.3.1 broker wrote them.
    assert uuid_to_text(bytes.fromhex("d34c32fe2d65413093a93731be2fa96b")) == "00wy_i1lQTCTqTcxvi-paw"
    assert uuid_to_text(ZERO_UUID) == "AAAAAAAAAAAAAAAAAAAAAA"


@given(st.binary(min_size=16, max_size=16))
def test_uuid_text_round_trip_keeps_bytes(uuid: bytes) -> None:
    assert uuid_from_text(uuid_to_text(uuid)) == uuid


def test_uuid_text_with_padding_is_taken() -> None:
    """Directories that other tools have made, and that Kafka opens, pad the text (mission 001.53)."""
    assert uuid_from_text("00wy_i1lQTCTqTcxvi-paw==") == uuid_from_text("00wy_i1lQTCTqTcxvi-paw")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "AAAAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAB",
        "AAAAAAAAAAAAAAAAAAAA+/",
        "AAAAAAAAAAAAAAAAAAAA==",
        "ÄAAAAAAAAAAAAAAAAAAAAA",
    ],
)
def test_uuid_text_other_spellings_are_refused(text: str) -> None:
    with pytest.raises(DecodeError):
        uuid_from_text(text)


def test_uuid_of_wrong_size_is_refused() -> None:
    with pytest.raises(EncodeError):
        uuid_to_text(b"short")
