"""Keys go to the partitions that Kafka's Java clients choose: one by one, and a column at once.

Mission 003.17: both forms of the kernel agree, also about columns that lie.
"""

import struct
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.records.test_kernel import outcome
from trivium.client.partitioner import partition_for
from trivium.records.record import Blobs

KEYS = st.lists(st.none() | st.binary(max_size=40), max_size=20)


def column(keys: list[bytes | None]) -> Blobs:
    ends = [0]
    for key in keys:
        ends.append(ends[-1] + len(key or b""))
    bits = sum(1 << at for at, key in enumerate(keys) if key is not None)
    validity = bits.to_bytes(len(keys) // 8 + 1, "little")
    return Blobs(validity, struct.pack(f"<{len(ends)}i", *ends), b"".join(key or b"" for key in keys))


@given(keys=KEYS, count=st.integers(1, 2**31 - 1))
def test_column_of_keys_goes_where_each_key_goes(kernel: Any, keys: list[bytes | None], count: int) -> None:
    found = struct.unpack(f"<{len(keys)}i", kernel.partitions_of(column(keys), len(keys), count))
    assert list(found) == [-1 if key is None else partition_for(key, count) for key in keys]


@given(
    blobs=st.builds(
        Blobs,
        st.none() | st.binary(max_size=4),
        st.binary(max_size=40),
        st.binary(max_size=9),
        st.integers(-2, 50),
    ),
    rows_count=st.integers(-2, 2**40),
    count=st.integers(-2, 3),
)
def test_columns_that_lie_are_refused_alike(
    both_kernels: tuple[Any, Any], blobs: Blobs, rows_count: int, count: int
) -> None:
    compiled, interpreted = (outcome(form.partitions_of, blobs, rows_count, count) for form in both_kernels)
    assert compiled == interpreted
