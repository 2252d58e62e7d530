"""Range assignment: every partition once, in runs, the first members one more."""

from hypothesis import given
from hypothesis import strategies as st

from trivium.client.assignor import assign_ranges
from trivium.client.topology import TopicPartition

TOPICS = ("orders", "payments", "clicks")


def indexes(assigned: dict[str, list[TopicPartition]], topic: str) -> dict[str, list[int]]:
    return {
        member: [key.partition for key in keys if key.topic == topic] for member, keys in assigned.items()
    }


def test_ranges_give_the_first_members_one_more() -> None:
    assigned = assign_ranges({"c": ["orders"], "a": ["orders"], "b": ["orders"]}, {"orders": 8})
    assert indexes(assigned, "orders") == {"a": [0, 1, 2], "b": [3, 4, 5], "c": [6, 7]}


def test_ranges_go_only_to_members_who_want_the_topic() -> None:
    assigned = assign_ranges(
        {"a": ["orders"], "b": ["orders", "payments"], "c": ["missing"]}, {"orders": 1, "payments": 2}
    )
    assert indexes(assigned, "orders") == {"a": [0], "b": [], "c": []}
    assert indexes(assigned, "payments") == {"a": [], "b": [0, 1], "c": []}
    assert assigned["c"] == []


@given(
    st.dictionaries(st.text(max_size=5), st.lists(st.sampled_from(TOPICS), max_size=4), max_size=8),
    st.dictionaries(st.sampled_from(TOPICS), st.integers(0, 20)),
)
def test_ranges_assign_every_wanted_partition_exactly_once(
    subscriptions: dict[str, list[str]], counts: dict[str, int]
) -> None:
    """R15: nobody reads what another reads, and nothing is left out."""
    assigned = assign_ranges(subscriptions, counts)
    given_out = [key for keys in assigned.values() for key in keys]
    wanted = {topic for topics in subscriptions.values() for topic in topics}
    assert sorted(given_out) == sorted(
        TopicPartition(topic, index) for topic in wanted for index in range(counts.get(topic, 0))
    )
    for member, keys in assigned.items():
        assert {key.topic for key in keys} <= set(subscriptions[member])
