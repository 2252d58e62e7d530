"""Room for bytes to come has the size that was asked for, and is nobody else's."""

from typing import Any

import pytest


@pytest.mark.parametrize("size_bytes", [0, 1, 64, 1_000_000])
def test_room_is_a_block_of_its_own_that_can_be_filled(kernel: Any, size_bytes: int) -> None:
    first, second = kernel.room_for(size_bytes), kernel.room_for(size_bytes)
    assert type(first) is bytearray
    first[:] = b"a" * size_bytes
    second[:] = b"b" * size_bytes
    assert first == b"a" * size_bytes
    assert second == b"b" * size_bytes
