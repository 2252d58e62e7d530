"""What every assignor promises, and what each of them adds to it (R15; KIP-848)."""

from collections import Counter
from collections.abc import Mapping

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trivium.core.groups.assignors import ASSIGNORS
from trivium.core.groups.assignors.range import assign_ranges
from trivium.core.groups.assignors.subscriber import Parts, Subscriber
from trivium.core.groups.assignors.uniform import assign_uniformly

A, B, C = (bytes(15) + bytes([number]) for number in (1, 2, 3))
TOPICS = (A, B, C)


def parts(topic_id: bytes, *numbers: int) -> Parts:
    return frozenset((topic_id, number) for number in numbers)


def readers(*names: str, topics: tuple[bytes, ...] = (A,)) -> dict[str, Subscriber]:
    return {name: Subscriber(frozenset(topics), frozenset()) for name in names}


def holding(subscribers: Mapping[str, Subscriber], given: Mapping[str, Parts]) -> dict[str, Subscriber]:
    """The same subscribers after they were given this; new ones hold nothing yet."""
    return {
        name: subscriber._replace(held=given.get(name, frozenset()))
        for name, subscriber in subscribers.items()
    }


subscriptions = st.dictionaries(
    st.integers(0, 30).map(lambda number: f"m{number:02}"),
    st.builds(
        Subscriber,
        st.frozensets(st.sampled_from((*TOPICS, b"gone"))),
        st.frozensets(st.tuples(st.sampled_from((*TOPICS, b"gone")), st.integers(0, 25)), max_size=30),
        st.none() | st.sampled_from(("x", "y")),
    ),
    max_size=20,
)
partitions = st.dictionaries(
    st.sampled_from(TOPICS), st.integers(0, 20).map(lambda count: list(range(count)))
)


@pytest.mark.parametrize("name", ASSIGNORS)
@given(subscribers=subscriptions, there=partitions)
def test_every_partition_with_a_reader_is_given_to_exactly_one(
    name: str, subscribers: dict[str, Subscriber], there: dict[bytes, list[int]]
) -> None:
    given_to = ASSIGNORS[name](subscribers, there)
    assert given_to.keys() == subscribers.keys()
    times = Counter(part for each in given_to.values() for part in each)
    assert set(times.values()) <= {1}
    wanted = {topic_id for subscriber in subscribers.values() for topic_id in subscriber.topic_ids}
    assert set(times) == {(topic_id, n) for topic_id in wanted & there.keys() for n in there[topic_id]}
    for member_id, each in given_to.items():
        assert {topic_id for topic_id, _ in each} <= subscribers[member_id].topic_ids


@example(
    names=[str(number) for number in range(12)],
    counts=[7, 0, 7],
    held=[(TOPICS[0], number) for number in (0, 2, 4, 5, 6, 3, 7, 1)],
)
@given(
    names=st.lists(st.integers(0, 99).map(str), min_size=1, max_size=30, unique=True),
    counts=st.lists(st.integers(0, 30), min_size=3, max_size=3),
    held=st.lists(st.tuples(st.sampled_from(TOPICS), st.integers(0, 30)), max_size=60),
)
def test_uniform_with_equal_subscriptions_differs_by_one_at_most_and_moves_no_more_than_it_must(
    names: list[str], counts: list[int], held: list[tuple[bytes, int]]
) -> None:
    there = {topic: list(range(count)) for topic, count in zip(TOPICS, counts, strict=True)}
    owned: dict[str, set[tuple[bytes, int]]] = {name: set() for name in names}
    for at, part in enumerate(dict.fromkeys(held)):
        owned[names[at * at % len(names)]].add(part)
    subscribers = {name: Subscriber(frozenset(TOPICS), frozenset(owned[name])) for name in names}
    after = assign_uniformly(subscribers, there)
    sizes = [len(each) for each in after.values()]
    assert max(sizes) - min(sizes) <= 1
    total, share = sum(counts), sum(counts) // len(names)
    before = {name: {part for part in owned[name] if part[1] in there[part[0]]} for name in names}
    kept = sum(len(after[name] & before[name]) for name in names)
    # As many as possible may keep one more than the others.
    room = total - share * len(names)
    larger = sorted((len(each) > share for each in before.values()), reverse=True)[:room]
    assert kept == sum(min(len(each), share) for each in before.values()) + sum(larger)


def test_uniform_keeps_the_first_partitions_of_a_member() -> None:
    alone = assign_uniformly(readers("one"), {A: [0, 1]})
    both = assign_uniformly(holding(readers("one", "two"), alone), {A: [0, 1]})
    assert both == {"one": parts(A, 0), "two": parts(A, 1)}


def test_uniform_with_different_subscriptions_is_as_even_as_they_allow() -> None:
    subscribers = readers("both", topics=(A, B)) | readers("a", topics=(A,))
    given_to = assign_uniformly(subscribers, {A: list(range(6)), B: list(range(4))})
    assert {name: len(each) for name, each in given_to.items()} == {"both": 5, "a": 5}


def test_uniform_gives_what_a_member_may_not_read_any_more_to_others() -> None:
    subscribers = readers("one", topics=(B,)) | readers("two", topics=(A,))
    subscribers["one"] = subscribers["one"]._replace(held=parts(A, 0, 1))
    assert assign_uniformly(subscribers, {A: [0, 1], B: [0]}) == {"one": parts(B, 0), "two": parts(A, 0, 1)}


def test_range_gives_neighbours_and_the_same_numbers_of_every_topic() -> None:
    given_to = assign_ranges(readers("one", "two", topics=(A, B)), {A: [0, 1, 2], B: [0, 1, 2]})
    assert given_to == {
        "one": parts(A, 0, 1) | parts(B, 0, 1),
        "two": parts(A, 2) | parts(B, 2),
    }


def test_range_leaves_members_beyond_the_last_partition_without_any() -> None:
    assert assign_ranges(readers("one", "two"), {A: [0]}) == {"one": parts(A, 0), "two": frozenset()}


def test_range_places_static_members_first_and_by_their_own_name() -> None:
    def shared(member_id: str) -> Parts:
        static = {member_id: Subscriber(frozenset({A}), frozenset(), "name")}
        return assign_ranges(readers("a") | static, {A: [0, 1, 2]})[member_id]

    assert shared("before") == shared("z-after") == parts(A, 0, 1)
