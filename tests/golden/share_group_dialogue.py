"""What members of share groups (KIP-932) may say to a broker: dialogues as in ``group_dialogue``.

Kafka begins to read a topic for a group in its own time, so members beat until they have what they are to
read, and epochs are not compared. Neither are sentences: ours say more.
"""

import time
from collections.abc import Callable
from typing import Any, Final

from tests.golden.group_dialogue import UNKNOWN_ID, Talk

from trivium.messages.api.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from trivium.messages.api.consumer_group_describe import ConsumerGroupDescribeRequest
from trivium.messages.api.delete_groups import DeleteGroupsRequest
from trivium.messages.api.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
)
from trivium.messages.api.describe_groups import DescribeGroupsRequest
from trivium.messages.api.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
)
from trivium.messages.api.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from trivium.messages.api.list_groups import ListGroupsRequest
from trivium.messages.api.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from trivium.messages.api.share_acknowledge import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from trivium.messages.api.share_fetch import AcknowledgementBatch as FetchAcknowledgementBatch
from trivium.messages.api.share_fetch import FetchPartition, FetchTopic, ForgottenTopic, ShareFetchRequest
from trivium.messages.api.share_group_describe import ShareGroupDescribeRequest
from trivium.messages.api.share_group_heartbeat import ShareGroupHeartbeatRequest
from trivium.records.batch import build_batch, iter_batches, iter_records
from trivium.records.record import Record

_GROUP_RESOURCE: Final = 32
_TIMESTAMP_MS: Final = 1_750_000_000_000
GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)
NEW, LAST = 0, -1
BEAT_PAUSE_SECONDS: Final = 0.1

Mark = tuple[int, int, list[int]]


class ShareTalk:
    """Speaks for members of the group ``g`` that read the topic ``two``."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.topic_id = talk.topic_id("two")
        self._set("share.auto.offset.reset", "earliest")
        self._set("share.assignment.interval.ms", "0")

    def _set(self, name: str, value: str) -> None:
        self.ask(
            f"{name}={value}",
            IncrementalAlterConfigsRequest(
                resources=[
                    AlterConfigsResource(
                        resource_type=_GROUP_RESOURCE,
                        resource_name="g",
                        configs=[AlterableConfig(name=name, config_operation=0, value=value)],
                    )
                ],
                validate_only=False,
            ),
            1,
        )

    def ask(self, label: str, request: Any, version: int) -> Any:
        answer = self.talk.ask(label, request, version)
        self.talk.answers[label] = plain(self.talk.answers[label])
        return answer

    # -- members ---------------------------------------------------------------------------------

    def beat(
        self,
        label: str,
        member: str = "m",
        epoch: int = NEW,
        topics: list[str] | None = None,
        *,
        group: str = "g",
        rack: str | None = None,
    ) -> Any:
        request = ShareGroupHeartbeatRequest(
            group_id=group,
            member_id=member,
            member_epoch=epoch,
            rack_id=rack,
            subscribed_topic_names=topics,
        )
        return self.ask(label, request, 1)

    def settle(self, member: str = "m") -> int:
        """Join, and beat until the member may read; its epoch then."""
        request = ShareGroupHeartbeatRequest(
            group_id="g", member_id=member, member_epoch=NEW, subscribed_topic_names=["two"]
        )
        while True:
            answer = self.talk.question(request, 1)
            assert not answer.error_code, answer.error_message
            if answer.assignment is not None and answer.assignment.topic_partitions:
                return int(answer.member_epoch)
            time.sleep(BEAT_PAUSE_SECONDS)
            request.member_epoch = answer.member_epoch

    # -- records ---------------------------------------------------------------------------------

    def produce(self, count: int, partition: int = 0) -> None:
        records = [Record(number, _TIMESTAMP_MS, None, b"v") for number in range(count)]
        data = PartitionProduceData(index=partition, records=build_batch(records))
        request = ProduceRequest(
            acks=-1, timeout_ms=10_000, topic_data=[TopicProduceData(name="two", partition_data=[data])]
        )
        self.talk.question(request, 9)

    def fetch(
        self,
        label: str,
        epoch: int,
        parts: dict[int, list[Mark]] | None = None,
        *,
        member: str | None = "m",
        group: str | None = "g",
        forgotten: list[int] | None = None,
        records: int = 500,
        mode: int = 0,
        renews: bool = False,
        limits: bool = True,
        version: int = 2,
    ) -> Any:
        parts = {0: []} if parts is None else parts
        request = ShareFetchRequest(
            group_id=group,
            member_id=member,
            share_session_epoch=epoch,
            max_wait_ms=300 if limits else 0,
            min_bytes=1 if limits else 0,
            max_bytes=1 << 20 if limits else 0,
            max_records=records if limits else 0,
            batch_size=500,
            share_acquire_mode=mode,
            is_renew_ack=renews,
            topics=[
                FetchTopic(
                    topic_id=self.topic_id,
                    partitions=[
                        FetchPartition(
                            partition_index=number,
                            acknowledgement_batches=[
                                FetchAcknowledgementBatch(
                                    first_offset=first, last_offset=last, acknowledge_types=kinds
                                )
                                for first, last, kinds in marks
                            ],
                        )
                        for number, marks in parts.items()
                    ],
                )
            ]
            if parts
            else [],
            forgotten_topics_data=[ForgottenTopic(topic_id=self.topic_id, partitions=forgotten)]
            if forgotten
            else [],
        )
        return self.ask(label, request, version)

    def acknowledge(
        self,
        label: str,
        epoch: int,
        *marks: Mark,
        member: str = "m",
        partition: int = 0,
        topic_id: bytes | None = None,
        renews: bool = False,
        version: int = 2,
    ) -> Any:
        batches = [
            AcknowledgementBatch(first_offset=first, last_offset=last, acknowledge_types=kinds)
            for first, last, kinds in marks
        ]
        part = AcknowledgePartition(partition_index=partition, acknowledgement_batches=batches)
        topic = AcknowledgeTopic(topic_id=topic_id or self.topic_id, partitions=[part])
        request = ShareAcknowledgeRequest(
            group_id="g",
            member_id=member,
            share_session_epoch=epoch,
            is_renew_ack=renews,
            topics=[topic] if marks else [],
        )
        return self.ask(label, request, version)

    # -- administrators --------------------------------------------------------------------------

    def offsets(
        self, label: str, topics: dict[str, list[int]] | None = None, *, group: str = "g", version: int = 1
    ) -> Any:
        wanted = (
            None
            if topics is None
            else [
                DescribeShareGroupOffsetsRequestTopic(topic_name=name, partitions=numbers)
                for name, numbers in topics.items()
            ]
        )
        asked = DescribeShareGroupOffsetsRequestGroup(group_id=group, topics=wanted)
        return self.ask(label, DescribeShareGroupOffsetsRequest(groups=[asked]), version)

    def alter(
        self, label: str, offset: int, partition: int = 0, topic: str = "two", *, group: str = "g"
    ) -> Any:
        part = AlterShareGroupOffsetsRequestPartition(partition_index=partition, start_offset=offset)
        asked = AlterShareGroupOffsetsRequestTopic(topic_name=topic, partitions=[part])
        return self.ask(label, AlterShareGroupOffsetsRequest(group_id=group, topics=[asked]), 0)

    def delete(self, label: str, *topics: str, group: str = "g") -> Any:
        named = [DeleteShareGroupOffsetsRequestTopic(topic_name=name) for name in topics]
        return self.ask(label, DeleteShareGroupOffsetsRequest(group_id=group, topics=named), 0)


_SENTENCES: Final = ("error_message", "acknowledge_error_message")
_EPOCHS: Final = ("member_epoch", "group_epoch", "assignment_epoch")


def plain(answer: Any) -> Any:
    """What can be compared: no sentences, no epochs, and what was acquired record by record."""
    if isinstance(answer, list):
        return [plain(each) for each in answer]
    if not isinstance(answer, dict):
        return answer
    kept = {name: plain(value) for name, value in answer.items() if name not in (*_SENTENCES, *_EPOCHS)}
    if "acquired_records" in kept:
        kept["acquired_records"] = [
            [offset, each["delivery_count"]]
            for each in kept["acquired_records"]
            for offset in range(each["first_offset"], each["last_offset"] + 1)
        ]
    if "records" in kept:
        found = kept["records"]
        data = bytes.fromhex(found) if isinstance(found, str) else bytes(found or b"")
        kept["records"] = [record.offset for at, _ in iter_batches(data) for record in iter_records(data, at)]
    return kept


# -- the dialogues ---------------------------------------------------------------------------------


def members(talk: Talk) -> None:
    share = ShareTalk(talk)
    share.beat("a group without a name", group="", topics=["two"])
    share.beat("a member without a name", "", topics=["two"])
    share.beat("nothing to read")
    share.beat("an empty list to read", topics=[])
    share.beat("an epoch that is none", epoch=-2)
    share.beat("a rack without a name", topics=["two"], rack="")
    share.beat("a group that is not there", epoch=3)
    share.beat("leaving what is not there", epoch=LAST)
    unknown = ShareGroupDescribeRequest(group_ids=["nope", ""], include_authorized_operations=True)
    share.ask("describing what is not there", unknown, 1)
    epoch = share.settle()
    share.beat("living on", epoch=epoch)
    share.beat("the same topics again", epoch=epoch, topics=["two"])
    share.beat("an epoch too far", epoch=epoch + 5)
    share.beat("a stranger", "stranger", 1)
    describe = ShareGroupDescribeRequest(group_ids=["g"], include_authorized_operations=True)
    share.ask("describing", describe, 1)
    share.ask("listing", ListGroupsRequest(states_filter=[], types_filter=[]), 5)
    share.ask("listing share groups", ListGroupsRequest(states_filter=["stable"], types_filter=["Share"]), 5)
    share.ask("listing classic groups", ListGroupsRequest(states_filter=[], types_filter=["classic"]), 5)
    share.ask("describing a classic group", DescribeGroupsRequest(groups=["g"]), 6)
    consumer = ConsumerGroupDescribeRequest(group_ids=["g"], include_authorized_operations=False)
    share.ask("describing a consumer group", consumer, 1)
    share.ask("deleting a group with members", DeleteGroupsRequest(groups_names=["g"]), 2)
    share.beat("leaving", epoch=LAST)
    share.ask("describing an empty group", describe, 1)
    share.ask("deleting", DeleteGroupsRequest(groups_names=["g"]), 2)
    share.ask("deleting again", DeleteGroupsRequest(groups_names=["g"]), 2)


def reading(talk: Talk) -> None:
    share = ShareTalk(talk)
    share.settle()
    for _ in range(3):
        share.produce(5)
    share.fetch("no member", NEW, member="")
    share.fetch("no group", NEW, group=None)
    share.fetch("a member with a long name", NEW, member="x" * 37)
    share.fetch("the next request of nothing", 1)
    share.fetch("the last request of nothing", LAST, {})
    share.acknowledge("acknowledging in no session", 1, (0, 0, [ACCEPT]))
    share.acknowledge("acknowledging in a new session", NEW, (0, 0, [ACCEPT]))
    share.fetch("a new session that acknowledges", NEW, {0: [(0, 0, [ACCEPT])]})
    share.fetch("three records of a batch", NEW, records=3)
    share.fetch("another epoch", 5)
    share.fetch("three more", 1, records=3, version=1)
    share.fetch("two and not one more", 2, records=2, mode=1)
    share.fetch("the rest", 3)
    share.fetch("nothing", 4)
    share.acknowledge("accepting", 5, (0, 2, [ACCEPT]))
    share.acknowledge("accepting again", 6, (0, 2, [ACCEPT]))
    share.acknowledge("accepting twice", 7, (3, 4, [ACCEPT]), (4, 4, [ACCEPT]))
    share.acknowledge("the wrong way round", 8, (4, 3, [ACCEPT]))
    share.acknowledge("too many kinds", 9, (3, 4, [ACCEPT] * 3))
    share.acknowledge("a kind that is none", 10, (3, 4, [9]))
    share.acknowledge("no kind", 11, (3, 4, []))
    share.acknowledge("renewing without saying so", 12, (3, 4, [RENEW]))
    share.acknowledge("renewing", 13, (3, 4, [RENEW]), renews=True)
    share.acknowledge("renewing before there was such a thing", 14, (3, 4, [RENEW]), version=1)
    share.acknowledge("no such partition", 15, (3, 4, [ACCEPT]), partition=7)
    share.acknowledge("no such topic", 16, (3, 4, [ACCEPT]), topic_id=UNKNOWN_ID)
    share.acknowledge("a partition that nobody has read", 17, (3, 4, [ACCEPT]), partition=1)
    share.acknowledge("records that nobody has read", 18, (90, 94, [ACCEPT]))
    share.acknowledge("each its own", 19, (3, 6, [RELEASE, RELEASE, REJECT, GAP]))
    share.offsets("where it stands", {"two": [0, 1]})
    share.offsets("where it stands, in older words", {"two": [0, 1]}, version=0)
    share.fetch("renewing and reading", 20, {0: [(7, 7, [RENEW])]}, renews=True)
    share.fetch("renewing with a fetch", 20, {0: [(7, 7, [RENEW])]}, renews=True, limits=False)
    share.fetch("released records", 21)
    share.fetch("accepting with a fetch", 22, {0: [(3, 4, [ACCEPT])]})
    share.fetch("no such partition to read", 23, {5: []})
    share.fetch("and forgotten again", 24, {}, forgotten=[5])
    share.fetch("another member", NEW, member="n")
    share.acknowledge("records of another", 1, (7, 8, [ACCEPT]), member="n")
    share.fetch("the last request", LAST, {0: [(7, 8, [ACCEPT])]})
    share.fetch("nothing more", 25)
    share.fetch("the heir", 2, member="n")
    share.acknowledge("accepting all", 3, (9, 14, [ACCEPT]), member="n")
    share.acknowledge("the end of the heir", LAST, member="n")


def standing(talk: Talk) -> None:
    share = ShareTalk(talk)
    share.produce(10)
    share.settle()
    share.offsets("before anybody has read", {"two": [0, 1]})
    share.offsets("a group that is not there", group="nope")
    share.offsets("topics of a group that is not there", {"two": [0]}, group="nope")
    share.offsets("a group without a name", group="")
    share.alter("altering a group with members", 3)
    share.delete("deleting of a group with members", "two")
    share.beat("leaving", epoch=LAST)
    share.alter("altering", 3)
    share.offsets("after altering", {"two": [0]})
    share.alter("no such partition", 3, 9)
    share.alter("no such topic", 3, topic="nope")
    share.alter("a topic that nobody has read", 0, topic="t")
    share.alter("a group that is new", 3, group="fresh")
    share.alter("altering a group without a name", 3, group="")
    share.delete("deleting", "t")
    share.delete("deleting what is not there", "nope")
    share.delete("deleting of a group that is not there", "two", group="nope")
    share.offsets("what is left")
    share.delete("deleting the rest", "two")
    share.offsets("nothing is left")


def half_done(talk: Talk) -> None:
    """Leaves a state behind in which every kind of record is."""
    share = ShareTalk(talk)
    share.settle()
    share.produce(10)
    share.fetch("reading", NEW)
    share.acknowledge(
        "saying something", 1, (0, 1, [ACCEPT]), (3, 3, [REJECT]), (4, 5, [RELEASE]), (7, 7, [ACCEPT])
    )


SHARE_DIALOGUES: Final[dict[str, Callable[[Talk], None]]] = {
    "share_members": members,
    "share_reading": reading,
    "share_standing": standing,
}
