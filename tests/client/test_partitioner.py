"""Keys go where Java's clients send them."""

from hypothesis import given
from hypothesis import strategies as st
from kafka.partitioner.default import murmur2 as reference

from trivium.client.partitioner import StickyPartition, murmur2, partition_for


@given(st.binary(max_size=200))
def test_hash_is_that_of_other_clients(key: bytes) -> None:
    assert murmur2(key) == reference(key) & 0xFFFF_FFFF


def test_hash_of_known_keys_is_java_s() -> None:
    """Signed, as Java prints it."""
    known = {b"21": -973932308, b"foobar": -790332482, b"a-little-bit-long-string": -985981536}
    assert {key: murmur2(key) - (1 << 32) for key in known} == known


@given(st.binary(max_size=50), st.integers(1, 1000))
def test_partition_for_a_key_is_one_that_there_is(key: bytes, count: int) -> None:
    assert 0 <= partition_for(key, count) < count
    assert partition_for(key, count) == partition_for(key, count)


def test_records_without_a_key_stay_in_a_partition_and_then_visit_all() -> None:
    sticky = StickyPartition(3)
    visited = []
    for _ in range(6):
        visited.append(sticky.index)
        sticky.move_on(3)
    assert set(visited) == {0, 1, 2}
    assert visited[:3] == visited[3:]
