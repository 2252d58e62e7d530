"""Client telemetry (KIP-714): what clients are asked for, and which pushes are taken."""

from itertools import count

import pytest

from tests.core.fakes import World
from trivium.core.caller import Caller
from trivium.core.commands.telemetry import GetSubscription, PushMetrics, Subscription
from trivium.core.faults import Fault
from trivium.core.metadata_configs import ConfigType
from trivium.core.telemetry import CLIENTS_MAX, UNPACKED_BYTES_MAX, Telemetry
from trivium.messages.stored.metadata_topics import ConfigRecord
from trivium.records.compression import Compression, compress
from trivium.wire.uuid_text import ZERO_UUID

BYTES_MAX = 1_000
DEFAULT_INTERVAL_MS = 300_000
JAVA = Caller(host="10.0.0.9", client_id="app-1", software_name="apache-kafka-java", software_version="4.3.1")


class Office:
    """A world with telemetry, and a receiver that keeps what it gets."""

    def __init__(self) -> None:
        self.world = World()
        numbers = count(1)
        self.received: list[bytes] = []
        self.telemetry = Telemetry(
            self.world.cluster,
            lambda: next(numbers).to_bytes(16, "little"),
            BYTES_MAX,
            lambda caller, client_id, metrics: self.received.append(metrics),
        )
        self.world.add(self.telemetry.routes)

    def subscribe(self, name: str, **settings: str) -> None:
        records = [
            (
                ConfigRecord(
                    resource_type=ConfigType.CLIENT_METRICS,
                    resource_name=name,
                    name=key.replace("_", "."),
                    value=value,
                ),
                0,
            )
            for key, value in settings.items()
        ]
        self.world.cluster.commit(records, lambda _fault: None)

    def get(self, client_id: bytes = ZERO_UUID, caller: Caller = JAVA) -> Subscription:
        return self.world.execute(GetSubscription(client_id), caller)

    def push(
        self,
        asked: Subscription,
        metrics: bytes = b"otlp",
        *,
        is_last: bool = False,
        compression: int = 0,
        subscription_id: int | None = None,
    ) -> Fault | None:
        number = asked.subscription_id if subscription_id is None else subscription_id
        command = PushMetrics(asked.client_instance_id, number, is_last, compression, metrics)
        return self.world.execute(command, JAVA)


def test_client_without_subscriptions_gets_an_id_and_nothing_to_do() -> None:
    asked = Office().get()
    assert asked.fault is None
    assert asked.client_instance_id != ZERO_UUID
    assert (asked.metrics, asked.push_interval_ms, asked.push_bytes_max) == (
        [],
        DEFAULT_INTERVAL_MS,
        BYTES_MAX,
    )


def test_client_keeps_the_id_that_it_has() -> None:
    assert Office().get(b"x" * 16).client_instance_id == b"x" * 16


def test_all_subscriptions_that_match_are_joined() -> None:
    office = Office()
    office.subscribe("one", metrics="org.apache.a,org.apache.b", interval_ms="60000")
    office.subscribe("two", metrics="org.apache.b,org.apache.c", interval_ms="5000", match="client_id=app-.*")
    office.subscribe("other", metrics="org.apache.z", match="client_software_name=librdkafka")
    asked = office.get()
    assert asked.metrics == ["org.apache.a", "org.apache.b", "org.apache.c"]
    assert asked.push_interval_ms == 5_000


def test_all_metrics_are_one_star() -> None:
    office = Office()
    office.subscribe("all", metrics="*")
    office.subscribe("some", metrics="org.apache.a")
    assert office.get().metrics == ["*"]


@pytest.mark.parametrize(
    ("match", "matches"),
    [
        ("client_software_name=apache-kafka-java,client_software_version=4\\..*", True),
        ("client_software_name=apache-kafka-java,client_software_version=3\\..*", False),
        ("client_source_address=10\\.0\\.0\\.9", True),
        ("client_id=app", False),
    ],
)
def test_patterns_must_all_match_as_a_whole(match: str, matches: bool) -> None:
    office = Office()
    office.subscribe("one", metrics="m", match=match)
    assert office.get().metrics == (["m"] if matches else [])


def test_client_may_not_ask_again_before_its_interval() -> None:
    office = Office()
    asked = office.get()
    assert office.get(asked.client_instance_id).fault is Fault.THROTTLED
    office.world.clock.advance(DEFAULT_INTERVAL_MS)
    assert office.get(asked.client_instance_id).fault is None


def test_push_is_taken_once_an_interval_and_unpacked() -> None:
    office = Office()
    office.subscribe("one", metrics="m", interval_ms="1000")
    asked = office.get()
    assert office.push(asked) is Fault.THROTTLED
    office.world.clock.advance(1_000)
    assert office.push(asked, compress(Compression.ZSTD, b"metrics"), compression=4) is None
    assert office.push(asked) is Fault.THROTTLED
    assert office.received == [b"metrics"]
    assert office.telemetry.pushes == 1


def test_last_push_may_come_early_and_nothing_after_it() -> None:
    office = Office()
    asked = office.get()
    assert office.push(asked, is_last=True) is None
    assert office.push(asked, is_last=True) is Fault.INVALID_REQUEST


def test_push_for_another_subscription_is_refused_and_the_client_may_ask_at_once() -> None:
    office = Office()
    asked = office.get()
    office.world.clock.advance(DEFAULT_INTERVAL_MS)
    assert office.push(asked, subscription_id=asked.subscription_id ^ 1) is Fault.UNKNOWN_SUBSCRIPTION_ID
    assert office.get(asked.client_instance_id).fault is None


def test_change_of_subscriptions_is_learned_with_the_next_push() -> None:
    office = Office()
    office.subscribe("one", metrics="m", interval_ms="1000")
    asked = office.get()
    office.world.clock.advance(1_000)
    office.subscribe("two", metrics="n")
    assert office.push(asked) is Fault.UNKNOWN_SUBSCRIPTION_ID
    assert office.get(asked.client_instance_id).metrics == ["m", "n"]


@pytest.mark.parametrize("compression", [5, -1, 99])
def test_unknown_compression_is_refused(compression: int) -> None:
    office = Office()
    asked = office.get()
    assert office.push(asked, is_last=True, compression=compression) is Fault.UNSUPPORTED_COMPRESSION


def test_push_above_the_limit_is_refused() -> None:
    """``telemetry.max.bytes``."""
    office = Office()
    assert office.push(office.get(), bytes(BYTES_MAX + 1), is_last=True) is Fault.TELEMETRY_TOO_LARGE
    assert office.push(office.get(), bytes(BYTES_MAX), is_last=True) is None


def test_bomb_is_refused() -> None:
    """S4: unpacked within a bound."""
    office = Office()
    bomb = compress(Compression.ZSTD, bytes(UNPACKED_BYTES_MAX + 1))
    assert len(bomb) <= BYTES_MAX
    assert office.push(office.get(), bomb, is_last=True, compression=4) is Fault.INVALID_RECORD
    assert office.received == []


@pytest.mark.parametrize("client_id", [ZERO_UUID, bytes(15) + b"\x01"])
def test_push_of_nobody_is_an_invalid_request(client_id: bytes) -> None:
    office = Office()
    assert office.push(Subscription(client_instance_id=client_id)) is Fault.INVALID_REQUEST


def test_clients_that_are_remembered_are_bounded() -> None:
    office = Office()
    first = office.get(b"f" * 16)
    for number in range(CLIENTS_MAX):
        office.get(number.to_bytes(16, "big") if number else b"n" * 16)
    assert office.get(first.client_instance_id).fault is None
