"""``trivium group`` on a broker."""

from contextlib import ExitStack
from typing import Final
from uuid import uuid4

import pytest
from tests.cli.commands import complaint, facts, misuse, output
from tests.client.live import eventually, fill

from trivium.client.admin_topics import delete_topics
from trivium.client.cluster import Cluster
from trivium.client.group import GroupConsumer
from trivium.messages.api.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from trivium.messages.errors import ErrorCode

LEAVING: Final = -1
"""The epoch of a member that goes."""


@pytest.fixture
def group(bootstrap: str, cluster: Cluster, topic: str, name: str) -> str:
    """A group that has read two of three records in the first partition."""
    fill(cluster, topic, b"a", b"b", b"c")
    group_id = f"{name}-group"
    output("consume", topic, "--group", group_id, "--max", "2", "--broker", bootstrap)
    return group_id


def lags(bootstrap: str, group: str) -> list[tuple[int, int | None, int | None, int | None]]:
    (described,) = facts("group", "describe", group, "--broker", bootstrap)["groups"]
    return [(row["partition"], row["committed"], row["end"], row["lag"]) for row in described["partitions"]]


def test_group_is_listed_with_its_state(bootstrap: str, group: str) -> None:
    rows = {row["group"]: row for row in facts("group", "list", "--broker", bootstrap)["groups"]}
    assert rows[group] == {"group": group, "state": "Empty", "type": "classic", "protocol": "consumer"}
    assert group in output("group", "list", "--broker", bootstrap)


def test_description_tells_how_far_a_group_is_behind(bootstrap: str, group: str) -> None:
    assert lags(bootstrap, group) == [(0, 2, 3, 1), (1, 0, 0, 0)]
    shown = output("group", "describe", group, "--broker", bootstrap)
    assert f"{group}  Empty, classic, members 0" in shown


def test_description_tells_who_reads_what(bootstrap: str, topic: str, group: str) -> None:
    with (
        Cluster.connect(bootstrap, client_id="reader-1") as other,
        GroupConsumer(other, group, [topic]) as consumer,
    ):
        consumer.poll(0)
        (described,) = facts("group", "describe", group, "--broker", bootstrap)["groups"]
    assert (described["state"], described["members"], described["assignor"]) == ("Stable", 1, "range")
    assert {(row["member"], row["host"]) for row in described["partitions"]} == {("reader-1", "127.0.0.1")}


def test_description_of_a_group_survives_the_topic_it_read(
    bootstrap: str, cluster: Cluster, topic: str, group: str
) -> None:
    delete_topics(cluster, [topic])
    assert all(end is None and lag is None for _, _, end, lag in lags(bootstrap, group))


def test_missing_group_is_one_sentence(bootstrap: str) -> None:
    said = complaint("group", "describe", "nobody", "--broker", bootstrap)
    assert said == "There is no group nobody; 'trivium group list' shows what there is."


@pytest.mark.parametrize(
    ("options", "committed"),
    [
        (("--to", "earliest"), [0, 0]),
        (("--to", "latest"), [3, 0]),
        (("--to", "1"), [1, 0]),
        (("--to", "-1"), [2, 0]),
        (("--to", "-99"), [0, 0]),
        (("--to", "@2500"), [2, 0]),
        (("-p", "0", "--to", "latest"), [3, 0]),
        (("--to", "earliest", "--dry-run"), [2, 0]),
    ],
)
def test_group_is_moved_where_it_is_told(
    bootstrap: str, topic: str, group: str, options: tuple[str, ...], committed: list[int]
) -> None:
    before = facts("group", "reset", group, "--topic", topic, *options, "--broker", bootstrap)["partitions"]
    assert before[0]["before"] == 2
    assert [offset for _, offset, _, _ in lags(bootstrap, group)] == committed


def test_group_is_moved_in_all_topics_that_it_has_read(bootstrap: str, group: str) -> None:
    shown = output("group", "reset", group, "--all-topics", "--to", "earliest", "--broker", bootstrap)
    assert f"{group} goes on from" in shown
    assert [offset for _, offset, _, _ in lags(bootstrap, group)] == [0, 0]


def test_group_may_be_moved_before_it_has_read_anything(bootstrap: str, topic: str, name: str) -> None:
    output("group", "reset", f"{name}-new", "--topic", topic, "--to", "latest", "--broker", bootstrap)
    said = complaint(
        "group", "reset", f"{name}-none", "--all-topics", "--to", "latest", "--broker", bootstrap
    )
    assert "has read nothing yet" in said


def test_group_with_members_is_neither_moved_nor_deleted(bootstrap: str, topic: str, group: str) -> None:
    with Cluster.connect(bootstrap) as other, GroupConsumer(other, group, [topic]) as consumer:
        consumer.poll(0)
        for command in (("reset", group, "--topic", topic, "--to", "earliest"), ("delete", group, "--yes")):
            said = complaint("group", *command, "--broker", bootstrap)
            assert said == f"The group {group} has members at work; stop them first."


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--to", "earliest"), "Say which topics"),
        (("--topic", "a", "--all-topics", "--to", "earliest"), "Say which topics"),
        (
            ("--topic", "a", "--topic", "b", "-p", "0", "--to", "earliest"),
            "--partition goes with one --topic",
        ),
        (("--topic", "a"), "Missing option '--to'"),
    ],
)
def test_reset_that_is_not_clear_is_a_wrong_command(
    bootstrap: str, options: tuple[str, ...], sentence: str
) -> None:
    assert sentence in misuse("group", "reset", "g", *options, "--broker", bootstrap)


def test_deleted_group_is_gone(bootstrap: str, group: str) -> None:
    assert "say --yes" in misuse("group", "delete", group, "--broker", bootstrap)
    assert output("group", "delete", group, "--yes", "--broker", bootstrap) == f"Deleted {group}.\n"
    assert "There is no group" in complaint("group", "delete", group, "--yes", "--broker", bootstrap)
    assert facts("group", "delete", group, "-y", "--if-exists", "--broker", bootstrap) == {"deleted": []}


# -- share groups ----------------------------------------------------------------------------------


class Sharer:
    """A member of a share group that reads nothing."""

    def __init__(self, cluster: Cluster, group_id: str, topic: str) -> None:
        self._cluster, self._group_id, self._topic = cluster, group_id, topic
        self._member_id = str(uuid4())
        self._epoch = 0

    def beat(self) -> None:
        answer = self._cluster.call(
            self._cluster.coordinator(self._group_id),
            ShareGroupHeartbeatRequest(
                group_id=self._group_id,
                member_id=self._member_id,
                member_epoch=self._epoch,
                subscribed_topic_names=[self._topic],
            ),
            ShareGroupHeartbeatResponse,
            codes=lambda response: [response.error_code],
        )
        assert answer.error_code == ErrorCode.NONE
        self._epoch = answer.member_epoch

    def __enter__(self) -> "Sharer":
        self.beat()
        return self

    def __exit__(self, *_: object) -> None:
        self._epoch = LEAVING
        self.beat()


def test_share_group_is_described_moved_and_deleted(
    bootstrap: str, cluster: Cluster, topic: str, name: str
) -> None:
    """Issue 6: what ``group list`` shows, the other commands know, too."""
    fill(cluster, topic, b"a", b"b", b"c")
    group_id = f"{name}-shares"
    with Cluster.connect(bootstrap, client_id="sharer-1") as other, Sharer(other, group_id, topic):
        (described,) = facts("group", "describe", group_id, "--broker", bootstrap)["groups"]
        assert (described["state"], described["type"], described["members"]) == ("Stable", "share", 1)
        said = complaint("group", "reset", group_id, "--topic", topic, "--to", "1", "--broker", bootstrap)
        assert said == f"The group {group_id} has members at work; stop them first."
    output("group", "reset", group_id, "--topic", topic, "-p", "0", "--to", "1", "--broker", bootstrap)
    assert lags(bootstrap, group_id) == [(0, 1, 3, 2)]
    moved = facts("group", "reset", group_id, "--all-topics", "--to", "latest", "--broker", bootstrap)
    assert [(row["before"], row["after"]) for row in moved["partitions"]] == [(1, 3)]
    assert f"{group_id}  Empty, share, members 0" in output(
        "group", "describe", group_id, "--broker", bootstrap
    )
    output("group", "delete", group_id, "--yes", "--broker", bootstrap)
    assert "There is no group" in complaint("group", "describe", group_id, "--broker", bootstrap)


def test_partition_of_a_share_group_is_shown_with_all_of_its_members(
    bootstrap: str, topic: str, name: str
) -> None:
    """Three members of two partitions: one of these is read by two at a time."""
    group_id, names = f"{name}-shares", ("one", "two", "three")
    with ExitStack() as stack:
        clusters = [stack.enter_context(Cluster.connect(bootstrap, client_id=each)) for each in names]
        sharers = [stack.enter_context(Sharer(cluster, group_id, topic)) for cluster in clusters]

        def shown() -> set[str]:
            for sharer in sharers:
                sharer.beat()
            (described,) = facts("group", "describe", group_id, "--broker", bootstrap)["groups"]
            return {each for row in described["partitions"] for each in (row["member"] or "").split(", ")}

        eventually(shown, set(names))
