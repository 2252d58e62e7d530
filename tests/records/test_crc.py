"""Checksums: mission 001.31."""

import google_crc32c
import pytest

from trivium.records.crc import crc32, crc32c


@pytest.mark.parametrize(
    ("data", "castagnoli", "ieee"),
    [(b"", 0, 0), (b"123456789", 0xE3069283, 0xCBF43926), (bytes(32), 0x8A9136AA, 0x190A55AD)],
)
def test_checksums_of_known_bytes_are_those_of_their_standards(
    data: bytes, castagnoli: int, ieee: int
) -> None:
    assert (crc32c(data), crc32(data)) == (castagnoli, ieee)


@pytest.mark.parametrize("size_bytes", [65_535, 65_536, 65_537, 200_000])
def test_crc32c_in_pieces_is_the_same_as_in_one(size_bytes: int) -> None:
    data = bytes(index * 7 % 251 for index in range(size_bytes))
    whole = google_crc32c.value(data)
    assert whole == crc32c(data)
    assert whole == crc32c(memoryview(bytearray(b"??" + data + b"??")), 2, size_bytes + 2)
    assert whole != crc32c(data[:-1] + b"\xff")
