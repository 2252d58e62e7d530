"""``simple``: every partition has a reader, every member something to read, and as evenly as it can be."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from trivium.core.groups.assignors.simple import assign_simply
from trivium.core.groups.assignors.subscriber import Parts, Subscriber

T, U = b"t" * 16, b"u" * 16
BOTH = frozenset((T, U))


def subscribers(
    count: int, topic_ids: frozenset[bytes] = BOTH, held: dict[str, Parts] | None = None
) -> dict[str, Subscriber]:
    names = [f"m{number:03}" for number in range(count)]
    return {name: Subscriber(topic_ids, (held or {}).get(name, frozenset())) for name in names}


@given(st.integers(1, 12), st.integers(1, 6), st.integers(0, 6))
def test_partitions_are_shared_evenly_and_nobody_is_idle(members: int, first: int, second: int) -> None:
    partitions = {T: list(range(first)), U: list(range(second))}
    given_ = assign_simply(subscribers(members), partitions)
    readers = Counter(part for parts in given_.values() for part in parts)
    assert set(readers) == {(topic_id, number) for topic_id in partitions for number in partitions[topic_id]}
    assert all(given_.values())
    assert max(readers.values()) - min(readers.values()) <= 1
    loads = [len(parts) for parts in given_.values()]
    assert max(loads) - min(loads) <= 1


@given(st.integers(1, 12), st.integers(1, 6))
def test_nothing_moves_as_long_as_nothing_changes(members: int, first: int) -> None:
    partitions = {T: list(range(first)), U: []}
    before = assign_simply(subscribers(members), partitions)
    assert assign_simply(subscribers(members, held=before), partitions) == before


def test_member_reads_only_what_it_subscribes_to() -> None:
    mixed = {"a": Subscriber(frozenset((T,)), frozenset()), "b": Subscriber(frozenset((U,)), frozenset())}
    assert assign_simply(mixed, {T: [0], U: [0, 1]}) == {
        "a": frozenset(((T, 0),)),
        "b": frozenset(((U, 0), (U, 1))),
    }


def test_member_whose_topics_are_not_there_has_nothing() -> None:
    assert assign_simply(subscribers(1, frozenset()), {}) == {"m000": frozenset()}
