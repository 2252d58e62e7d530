"""R15, simulated for consumer groups: members of both protocols join, leave, pause and die; answers are lost;
topics come, grow and go; the broker restarts, crashes, loses a disk.

One seed is one history. Held against the coordinator:

    alone     no partition is read by two clients at a time. A client reads what it was told to, until it is
              told otherwise; one that was not answered for longer than it may be silent reads nothing
    fenced    nobody commits for a partition that another one reads
    kept      after a restart a group is what it was before
    alive     once the trouble is over, all partitions are shared among all that live

``python -m tests.core.groups.consumer_simulation SEED STEPS`` runs one history and says what it was made of.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.core.groups.coordinated import CALLER
from tests.core.groups.troubled_group import GROUP, TroubledGroup, main
from trivium.core.commands.consumer_groups import (
    ConsumerBeat,
    ConsumerHeartbeat,
    DescribeConsumerGroups,
    DescribedConsumerGroup,
)
from trivium.core.commands.groups import (
    Heartbeat,
    Joined,
    JoinGroup,
    LeaveGroup,
    Leaver,
    Protocol,
    Synced,
    SyncGroup,
)
from trivium.core.commands.offsets import CommitOffsets, OffsetToCommit
from trivium.core.faults import Fault
from trivium.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartition,
    decode_assignment,
    encode_assignment,
    encode_subscription,
)
from trivium.messages.stored.metadata_topics import PartitionRecord

CLIENTS_MAX = 50
TOPIC = "shared-0"
PARTITIONS_MAX = 48
SESSION_MS = 10_000
REBALANCE_MS = 8000
SILENCE_MS = min(SESSION_MS, REBALANCE_MS)
"""A client that has not been answered for so long reads nothing any more: it may have been sent away."""
TICK_MS = 1500
STATIC = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.min.session.timeout.ms": "1",
    "group.consumer.session.timeout.ms": str(SESSION_MS),
    "group.consumer.assignment.interval.ms": "1000",
}
AWAY = -2
LEAVING = -1

Part = tuple[str, int]


@dataclass(eq=False)
class Client:
    """What all clients know of themselves, and the answer they wait for."""

    name: str
    instance_id: str | None
    regex: str | None = None
    member_id: str = ""
    epoch: int = 0
    reads: frozenset[Part] = frozenset()
    waiting: list[Any] | None = None
    sent_at_ms: int = 0
    heard_at_ms: int = 0
    """When the last request was sent that it has an answer to."""
    is_paused: bool = False
    patience: int = 0
    target: frozenset[Part] = frozenset()
    gives_up_until_ms: int | None = None
    """Until then it must have given up what it was told to."""
    wants_full: bool = True
    owes_answer: bool = False
    """It was told what to read, and has not said yet that it does."""
    step: str = "join"
    is_classic: bool = False
    joined: Joined | None = None
    assignments: list[tuple[str, bytes]] = field(default_factory=list)

    def begin_anew(self) -> None:
        self.reads = self.target = frozenset()
        self.epoch, self.step, self.wants_full = 0, "join", True
        self.gives_up_until_ms, self.owes_answer = None, False

    def may_read(self, now_ms: int) -> bool:
        """Who was not answered for too long, or was too slow to give up, may have been sent away."""
        is_late = self.gives_up_until_ms is not None and now_ms > self.gives_up_until_ms
        return now_ms - self.heard_at_ms <= SILENCE_MS and not is_late


class ConsumerSimulation(TroubledGroup[Client]):
    tick_ms = TICK_MS
    syncs = 0.6

    def __init__(self, seed: int) -> None:
        super().__init__(seed, STATIC, TOPIC, 12)
        self.classic_share = self.random.choice((0.0, 0.3, 0.8))
        """Of how many clients speak the classic protocol: in some histories a group is often left to them."""
        self.topics_made = 0
        self.last_epoch = 0

    @property
    def now_ms(self) -> int:
        return self.world.clock.monotonic_ms()

    # -- the history -----------------------------------------------------------------------------

    def _something_happens(self) -> None:
        lot = self.random.random()
        if lot < 0.12 and len(self.clients) < CLIENTS_MAX:
            self._start_client()
        elif lot < 0.17 and self.clients:
            self._leave(self.random.choice(self.clients))
        elif lot < 0.20 and self.clients:
            self._die()
        elif lot < 0.27 and self.clients:
            self._pause_or_go_on()
        elif lot < 0.285:
            self._return_static()
        elif lot < 0.31:
            self._change_topics()
        elif lot < 0.32:
            self._sync()
            before = self._described()
            self._restart("restarts")
            after = self._described()
            assert after == before, f"{before} became {after}"
        elif lot < 0.335:
            self._lose_unsynced()
            self._restart("crashes")
        elif lot < 0.345:
            self._lose_unsynced()
            self.world.storage.sync(Fault.STORAGE)
            self.seen["failed syncs"] += 1

    def _calm_down(self) -> None:
        """Everybody wakes up, nothing fails: the group finds together."""
        for client in self.clients:
            client.is_paused = False
        if not self.clients:
            self._start_client()
        for _ in range(150):
            for client in self.clients:
                self._look(client, is_calm=True)
            self._sync()
            self.groups.pass_time(TICK_MS // 2)
            self._check()
            if self._is_shared():
                return
        raise AssertionError(f"{self._described()} {self.clients}")

    def _is_shared(self) -> bool:
        # Classic clients never subscribe to more than the one topic.
        read = Counter(part for client in self.clients for part in client.reads)
        wanted = {(TOPIC, number) for number in self.world.image.topics.by_name[TOPIC].partitions}
        return set(read) >= wanted and set(read.values()) == {1}

    def _change_topics(self) -> None:
        topics = self.world.image.topics.by_name
        topic, made = topics[TOPIC], [name for name in topics if name.startswith("shared-") and name != TOPIC]
        lot = self.random.random()
        if lot < 0.3 and len(topic.partitions) < PARTITIONS_MAX:
            one = topic.partitions[0]
            grown = PartitionRecord(
                partition_id=len(topic.partitions),
                topic_id=topic.topic_id,
                replicas=list(one.replicas),
                isr=list(one.isr),
                removing_replicas=[],
                adding_replicas=[],
                leader=one.leader,
                leader_epoch=0,
                partition_epoch=0,
                directories=list(one.directories),
            )
            self.world.cluster.commit([(grown, 1)], lambda _fault: None)
            self.seen["partitions"] += 1
        elif lot < 0.6 or not made:
            self.topics_made += 1
            self.world.create_topic(f"shared-{self.topics_made}", 3)
            self.seen["topics"] += 1
        else:
            gone = self.random.choice(made)
            self.groups.delete_topic(gone)
            for client in self.clients:
                # Nothing can be read any more, whoever was told so.
                client.reads = frozenset(part for part in client.reads if part[0] != gone)
            self.seen["topics deleted"] += 1

    # -- clients ---------------------------------------------------------------------------------

    def _start_client(self) -> None:
        self.started += 1
        name = f"consumer-{self.started}"
        instance_id = f"static-{self.started}" if self.random.random() < 0.3 else None
        if self.random.random() < self.classic_share:
            self.clients.append(Client(name, instance_id, is_classic=True))
        else:
            regex = "shared-.*" if self.random.random() < 0.5 else None
            self.clients.append(Client(name, instance_id, regex, member_id=name))

    def _return_static(self) -> None:
        """A static member starts again while its former self is still there or has left for now; perhaps it
        speaks the other protocol then.
        """
        static = [client for client in self.clients if client.instance_id is not None]
        if static:
            before = self.random.choice(static)
            self.clients.remove(before)
            if not before.is_classic and self.random.random() < 0.7:
                self._beat(before, AWAY)
            self.started += 1
            if self.random.random() < self.classic_share:
                self.clients.append(Client(before.name, before.instance_id, is_classic=True))
            else:
                member_id = f"{before.name}-again-{self.started}"
                self.clients.append(Client(before.name, before.instance_id, before.regex, member_id))
            self.seen["static returns"] += 1

    def _leave(self, client: Client) -> None:
        self.clients.remove(client)
        if client.is_classic:
            self.world.submit(LeaveGroup(GROUP, [Leaver(client.member_id, client.instance_id)]), CALLER)
        else:
            self._beat(client, LEAVING)
        self.seen["leaves"] += 1

    def _beat(self, client: Client, epoch: int) -> None:
        self.world.submit(
            ConsumerHeartbeat(GROUP, client.member_id, epoch, instance_id=client.instance_id), CALLER
        )

    def _look(self, client: Client, *, is_calm: bool = False) -> None:
        if not client.may_read(self.now_ms) and (client.reads or client.target):
            client.begin_anew()
            client.waiting = None
        if client.waiting is not None:
            if not client.waiting:
                self._take_up(client, 0.2)
                client.patience += 1
                if client.patience < 6:
                    return
                client.waiting, client.wants_full = None, True
                if client.is_classic:
                    client.begin_anew()
            elif not is_calm and self.random.random() < 0.03:
                # The answer is lost on the way.
                client.waiting, client.wants_full = None, True
                if client.is_classic:
                    client.begin_anew()
            else:
                [answer] = client.waiting
                client.waiting = None
                self._hear(client, answer)
        client.patience = 0
        self._speak(client, is_calm=is_calm)

    def _hear(self, client: Client, answer: Any) -> None:
        before_ms, client.heard_at_ms = client.heard_at_ms, client.sent_at_ms
        if isinstance(answer, ConsumerBeat):
            self._hear_beat(client, answer, before_ms)
        elif isinstance(answer, Joined):
            self._hear_joined(client, answer)
        elif isinstance(answer, Synced):
            self._hear_synced(client, answer)
        elif answer is not None:
            self._lose_place(client, answer)

    def _lose_place(self, client: Client, fault: Fault) -> None:
        if fault in (Fault.UNKNOWN_MEMBER_ID, Fault.FENCED_INSTANCE_ID):
            client.member_id = ""
        client.begin_anew()

    def _speak(self, client: Client, *, is_calm: bool) -> None:
        client.sent_at_ms = self.now_ms
        if not client.is_classic:
            self._speak_consumer(client, is_calm=is_calm)
        elif client.step == "join":
            self._join(client)
        elif client.step == "sync":
            assert client.joined is not None
            client.waiting = self._submit(
                SyncGroup(
                    GROUP,
                    client.member_id,
                    client.instance_id,
                    client.epoch,
                    "consumer",
                    "range",
                    client.assignments,
                )
            )
        else:
            client.waiting = self._submit(
                Heartbeat(GROUP, client.member_id, client.instance_id, client.epoch)
            )
        self._commit(client)

    def _submit(self, command: Any) -> list[Any]:
        return self.world.submit(command, CALLER)

    # -- clients that speak the consumer protocol --------------------------------------------------

    def _hear_beat(self, client: Client, beat: ConsumerBeat, before_ms: int) -> None:
        if beat.fault in (Fault.FENCED_MEMBER_EPOCH, Fault.UNKNOWN_MEMBER_ID, Fault.GROUP_ID_NOT_FOUND):
            client.begin_anew()
            self.seen["fenced"] += 1
        elif beat.fault is not None:
            client.wants_full = True
            if beat.fault is Fault.FENCED_INSTANCE_ID:
                client.begin_anew()
        else:
            client.epoch, client.wants_full = beat.member_epoch, False
            if client.epoch > self.last_epoch:
                self.last_epoch = client.epoch
                self.seen["epochs"] += 1
            if beat.assignment is not None:
                client.owes_answer = True
                names = {topic.topic_id: topic.name for topic in self.world.image.topics}
                client.target = frozenset(
                    (names[topic_id], number)
                    for topic_id, numbers in beat.assignment.items()
                    if topic_id in names
                    for number in numbers
                )
                if client.reads - client.target and client.gives_up_until_ms is None:
                    client.gives_up_until_ms = before_ms + REBALANCE_MS

    def _speak_consumer(self, client: Client, *, is_calm: bool) -> None:
        late = client.gives_up_until_ms is not None and self.now_ms + 2 * TICK_MS > client.gives_up_until_ms
        self._take_up(client, 1.0 if is_calm or late else 0.6)
        full = client.wants_full or client.epoch == 0
        says = full or client.owes_answer or client.gives_up_until_ms is not None
        owned = self._by_topic_id(client.reads) if says else None
        client.owes_answer = client.reads != client.target
        client.waiting = self._submit(
            ConsumerHeartbeat(
                GROUP,
                client.member_id,
                client.epoch,
                instance_id=client.instance_id,
                rebalance_timeout_ms=REBALANCE_MS if full else None,
                topic_names=(() if client.regex else (TOPIC,)) if full else None,
                topic_regex=client.regex if full else None,
                owned={} if client.epoch == 0 else owned,
            )
        )

    def _take_up(self, client: Client, chance: float) -> None:
        """Read what it was told to, at last, and nothing else. After an answer was lost it waits for the next
        one before it reads anything new.
        """
        if client.reads != client.target and self.random.random() < chance:
            client.reads = client.reads & client.target if client.wants_full else client.target
            client.gives_up_until_ms = None

    def _by_topic_id(self, parts: frozenset[Part]) -> dict[bytes, list[int]]:
        owned: dict[bytes, list[int]] = {}
        for name, number in sorted(parts):
            topic = self.world.image.topics.by_name.get(name)
            if topic is not None:
                owned.setdefault(topic.topic_id, []).append(number)
        return owned

    # -- clients that speak the classic protocol, eagerly: they give up everything before they join ---------

    def _join(self, client: Client) -> None:
        client.reads = client.target = frozenset()
        subscription = encode_subscription(ConsumerProtocolSubscription(topics=[TOPIC]), 1)
        client.waiting = self._submit(
            JoinGroup(
                GROUP,
                client.member_id,
                client.instance_id,
                SESSION_MS,
                REBALANCE_MS,
                "consumer",
                [Protocol("range", subscription)],
                wants_member_id=True,
            )
        )

    def _hear_joined(self, client: Client, joined: Joined) -> None:
        if joined.fault in (Fault.UNKNOWN_MEMBER_ID, Fault.FENCED_INSTANCE_ID):
            client.member_id = ""
        elif joined.fault is Fault.MEMBER_ID_REQUIRED:
            client.member_id = joined.member_id
        elif joined.fault is None:
            client.member_id, client.epoch, client.joined = joined.member_id, joined.generation, joined
            client.step, client.assignments = "sync", []
            numbers = sorted(self.world.image.topics.by_name[TOPIC].partitions)
            for at, member in enumerate(joined.members):
                parts = TopicPartition(topic=TOPIC, partitions=numbers[at :: len(joined.members)])
                assignment = ConsumerProtocolAssignment(assigned_partitions=[parts])
                client.assignments.append((member.member_id, encode_assignment(assignment, 1)))
            if joined.members:
                self.seen["generations"] += 1

    def _hear_synced(self, client: Client, synced: Synced) -> None:
        if synced.fault is not None:
            self._lose_place(client, synced.fault)
            return
        client.step = "run"
        if synced.assignment:
            _, assignment = decode_assignment(synced.assignment)
            client.reads = client.target = frozenset(
                (each.topic, number) for each in assignment.assigned_partitions for number in each.partitions
            )

    # -- what is checked -------------------------------------------------------------------------

    def _check(self) -> None:
        readers: dict[Part, Client] = {}
        for client in self.clients:
            if not client.may_read(self.now_ms):
                continue
            for part in client.reads:
                other = readers.setdefault(part, client)
                assert other is client, f"{part} is read by {other} and {client}"

    def _commit(self, client: Client) -> None:
        if not client.reads or self.random.random() < 0.5:
            return
        part = self.random.choice(sorted(client.reads))
        replies = self._submit(
            CommitOffsets(
                GROUP, [OffsetToCommit(*part, 1)], client.member_id, client.instance_id, client.epoch
            )
        )
        if replies:
            self.seen["refused commits"] += 1
            return
        self.seen["commits"] += 1
        others = [
            other
            for other in self.clients
            if other is not client and part in other.reads and other.may_read(self.now_ms)
        ]
        assert not others, f"{client} commits for {part}, which {others} read"

    def _described(self) -> DescribedConsumerGroup:
        return self.world.execute(DescribeConsumerGroups([GROUP]), CALLER)[0]

    def _forget_what_was_asked(self) -> None:
        for client in self.clients:
            if client.waiting is not None:
                client.waiting, client.wants_full = None, True
                if client.is_classic:
                    client.begin_anew()


if __name__ == "__main__":
    main(ConsumerSimulation)
