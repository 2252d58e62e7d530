"""Holes that others have had, each by its name: here it is closed (S1, S2, S4, S8-S10; rules 4-6).

The matrices find most of them by themselves. A name tells a reader which lesson it was.
"""

import ast
import hmac
import inspect
import struct
import tracemalloc
from base64 import b64encode
from contextlib import suppress
from typing import Final

import pytest

from tests.abuse.city import City, KafkaDoor, Right, everything_of
from tests.abuse.rows import ROWS
from tests.abuse.test_kafka_rights import changes
from tests.abuse.test_sasl import FAILED, NEW, last_message
from tests.core.batches import batch
from tests.core.inhabited import InhabitedWorld
from tests.protocols.kafka import test_login as kafka
from tests.protocols.kafka.conversation import HERE
from trivium.core.acls.entry import AccessControlEntry, Operation, PatternType, Permission, ResourceType
from trivium.core.acls.rules import Rules, Verdict
from trivium.core.commands.sasl import Authenticate
from trivium.core.users import delegation, scram
from trivium.messages import decode
from trivium.messages.api import ApiKey, request_class, response_class
from trivium.messages.errors import ErrorCode
from trivium.messages.extensions import ExtensionKey
from trivium.messages.frames import decode_request
from trivium.protocols.kafka.protocol import KafkaProtocol
from trivium.protocols.kafka.session import KafkaSession
from trivium.records.batch import check_batch, seal
from trivium.records.compression import Compression
from trivium.wire.errors import DecodeError

EIGHT_BYTES: Final = bytes.fromhex("03000003 3c0c00b6")
SMALL: Final = 1 << 20


def peak_bytes(action: object) -> int:
    """The least of three: a thread of somebody else's may allocate in between."""
    assert callable(action)
    peaks = []
    tracemalloc.start()
    try:
        for _ in range(3):
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            with suppress(DecodeError):
                action()
            peaks.append(tracemalloc.get_traced_memory()[1] - before)
    finally:
        tracemalloc.stop()
    return min(peaks)


# -- a length is never an allocation (rule 4) -------------------------------------------------------


def test_kafka_protocol_rs_eight_bytes_do_not_become_gigabytes() -> None:
    """``03 00 00 03 3c 0c 00 b6`` took 3.6 GiB there."""
    for key in ApiKey:
        for cls in (request_class(key), response_class(key)):
            version = max(cls.VERSIONS)
            with suppress(DecodeError):
                decode(cls, version, EIGHT_BYTES)  # what is made at the first use is made now
            assert peak_bytes(lambda cls=cls, version=version: decode(cls, version, EIGHT_BYTES)) < SMALL
    assert peak_bytes(lambda: decode_request(EIGHT_BYTES)) < SMALL


@pytest.mark.parametrize("announced", [0x7FFF_FFFF, 0x7FFF_FFF0, -1, -(2**31)], ids=hex)
@pytest.mark.parametrize(
    "head",
    [
        struct.pack(">hhih", ApiKey.SASL_AUTHENTICATE, 0, 1, -1),
        struct.pack(">hhihB", ApiKey.API_VERSIONS, 3, 1, -1, 0),
        struct.pack(">hhih", ApiKey.SASL_HANDSHAKE, 1, 1, -1),
        struct.pack(">hhi", ApiKey.METADATA, 0, 1),
        b"",
    ],
    ids=["auth bytes", "software name", "mechanism", "client id", "frame"],
)
def test_cve_2022_34917_nobody_without_a_login_makes_the_broker_allocate(head: bytes, announced: int) -> None:
    """Kafka 2.8 to 3.2: a length in a request before the login was reserved."""
    scratch = memoryview(bytearray(1 << 16))

    def speak() -> None:
        session = KafkaSession(
            KafkaProtocol(kafka.Listening()), "10.0.0.7", HERE, lambda: None, sasl=kafka.REQUIRED
        )
        body = head + struct.pack(">i", announced)
        data = struct.pack(">i", len(body)) + body if head else struct.pack(">i", announced)
        session.space(scratch)[: len(data)] = data
        session.received(len(data), scratch)

    with suppress(DecodeError):
        speak()
    assert peak_bytes(speak) < SMALL


@pytest.mark.parametrize("length", [0x7FFF_FFFF, -1, -(2**31)], ids=hex)
def test_cve_2023_34455_and_43642_chunk_of_snappy_with_any_length_is_refused(city: City, length: int) -> None:
    """snappy-java: the length of a chunk was reserved before it was looked at."""
    topics = [
        {
            "name": "snappy",
            "num_partitions": 1,
            "replication_factor": 1,
            "configs": [{"name": "cleanup.policy", "value": "compact"}],
        }
    ]
    city.kafka.say(ApiKey.CREATE_TOPICS, 4, {"topics": topics, "timeout_ms": 60_000})
    header = check_batch(batch(b"x"))
    framed = b"\x82SNAPPY\0" + struct.pack(">iii", 1, 1, length) + b"\x01\x00a"
    made = bytearray(seal(header, b"", Compression.NONE) + framed)
    records = resealed(made, Compression.SNAPPY)
    data = [{"name": "snappy", "partition_data": [{"index": 0, "records": records}]}]
    asked = {"acks": -1, "timeout_ms": 60_000, "topic_data": data}
    answered = city.kafka.say(ApiKey.PRODUCE, 8, asked)
    assert {code for _, code in answered.errors} == {ErrorCode.INVALID_RECORD}


def resealed(made: bytearray, compression: Compression) -> bytes:
    """The batch with its length, compression and checksum put right."""
    from trivium.records.crc import crc32c

    struct.pack_into(">i", made, 8, len(made) - 12)
    struct.pack_into(">h", made, 21, compression)
    struct.pack_into(">I", made, 17, crc32c(made, 21))
    return bytes(made)


# -- identity ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def world() -> InhabitedWorld:
    made = InhabitedWorld()
    made.found()
    return made


@pytest.mark.parametrize("message", [b"ann\0iggy\0iggy", b"root\0iggy\0iggy", b"Iggy\0iggy\0iggy"])
def test_cve_2017_12610_nobody_becomes_another_by_an_authzid(world: InhabitedWorld, message: bytes) -> None:
    assert world.ask(Authenticate("PLAIN", message), NEW) == FAILED


def test_cve_2017_12610_nor_by_scram(world: InhabitedWorld) -> None:
    assert world.ask(Authenticate("SCRAM-SHA-256", b"n,a=root,n=iggy,r=abc"), NEW) == FAILED


def test_cve_2024_56128_nonce_of_the_last_message_is_the_servers(world: InhabitedWorld) -> None:
    """The proof is right for what it says; only the nonce is the client's alone."""
    begun = world.ask(Authenticate("SCRAM-SHA-256", b"n,,n=iggy,r=abc"), NEW)
    right = last_message("SCRAM-SHA-256", "iggy", "n=iggy,r=abc", "n,,", begun.answer)
    for nonce in ("abc", begun.answer.decode().split(",")[0][2:-1]):
        forged = resigned("iggy", begun.answer.decode(), f"c={right.binding},r={nonce}")
        assert world.ask(Authenticate("SCRAM-SHA-256", forged, begun.exchange), NEW) == FAILED
    good = resigned("iggy", begun.answer.decode(), f"c={right.binding},r={right.nonce}")
    assert world.ask(Authenticate("SCRAM-SHA-256", good, begun.exchange), NEW).logged_in is not None


def resigned(password: str, server_first: str, without_proof: str) -> bytes:
    """A last message whose proof fits what it says, whatever that is."""
    from hashlib import pbkdf2_hmac, sha256

    fields = dict(item.split("=", 1) for item in server_first.split(","))
    from base64 import b64decode

    key = pbkdf2_hmac("sha256", password.encode(), b64decode(fields["s"]), int(fields["i"]))
    client_key = hmac.digest(key, b"Client Key", "sha256")
    said = f"n=iggy,r=abc,{server_first},{without_proof}".encode()
    signature = hmac.digest(sha256(client_key).digest(), said, "sha256")
    proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
    return f"{without_proof},p={b64encode(proof).decode()}".encode()


@pytest.mark.parametrize("module", [scram, delegation], ids=lambda module: module.__name__)
def test_cve_2021_38153_secrets_are_compared_in_equal_time(module: object) -> None:
    source = inspect.getsource(module)  # type: ignore[arg-type]
    assert "hmac.compare_digest(" in source
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq):
            words = ast.unparse(node)
            assert not any(word in words for word in ("stored_key", "secret_of", "digest(")), words


# -- rights ------------------------------------------------------------------------------------------


def test_cve_2018_1288_client_that_says_it_is_a_replica_moves_nothing(city: City) -> None:
    """Kafka: a fetch with a replica's id by anybody let the high watermark run ahead."""
    ann = KafkaDoor(city, "ann")
    city.allow(Right(Operation.READ, ResourceType.TOPIC, "orders"))
    before = city.state()
    partitions = [{"partition": 0, "fetch_offset": 10_000, "partition_max_bytes": 1 << 20}]
    for version, replica in ((11, {"replica_id": 2}), (17, {"replica_state": {"replica_id": 2}})):
        topics = [{"topic": "orders", "topic_id": city.topic_ids["orders"], "partitions": partitions}]
        answered = ann.say(ApiKey.FETCH, version, {"max_bytes": 1 << 20, "topics": topics, **replica})
        assert answered.errors, version
    city.allow()
    assert changes(before, city.state()) == []


def test_cve_2018_17196_right_to_a_topic_is_none_to_a_transaction(city: City) -> None:
    """Kafka: a crafted produce request without the transactional id went past its check. Nor does the right
    to another id let anybody write to an open transaction.
    """
    ann = KafkaDoor(city, "ann")
    own = Right(Operation.ALL, ResourceType.TRANSACTIONAL_ID, "mine")
    city.allow(Right(Operation.WRITE, ResourceType.TOPIC, "orders"), own)
    before = city.state()
    for named in (None, "mine", ""):
        for sequence in (0, 1):
            records = city.transactional_batch(sequence)
            data = [{"name": "orders", "partition_data": [{"index": 0, "records": records}]}]
            asked = {"transactional_id": named, "acks": -1, "timeout_ms": 60_000, "topic_data": data}
            for version in (3, 8, 12):
                assert ann.say(ApiKey.PRODUCE, version, asked).errors, (named, sequence, version)
                assert named == "mine" or city.kafka.say(ApiKey.PRODUCE, version, asked).errors
    city.allow()
    assert changes(before, city.state()) == []


def test_cve_2023_50976_every_api_of_transactions_asks_for_a_right_on_them() -> None:
    """Redpanda and others left some out. What each answers is in the matrix."""
    gated = {
        row.key
        for row in ROWS
        if any(need.rights[0].resource_type is ResourceType.TRANSACTIONAL_ID for need in row.needs)
    }
    assert gated == {
        ApiKey.PRODUCE,
        ApiKey.FIND_COORDINATOR,
        ApiKey.INIT_PRODUCER_ID,
        ApiKey.ADD_PARTITIONS_TO_TXN,
        ApiKey.ADD_OFFSETS_TO_TXN,
        ApiKey.END_TXN,
        ApiKey.TXN_OFFSET_COMMIT,
        ApiKey.DESCRIBE_TRANSACTIONS,
        ApiKey.LIST_TRANSACTIONS,
        ExtensionKey.PREPARE_TRANSACTION,
        ExtensionKey.COMMIT_BATCH,
        ExtensionKey.DESCRIBE_QUERIES,
    }


def test_cve_2024_27309_one_list_that_goes_leaves_the_others_in_force() -> None:
    """Kafka: of two entries about a resource, the one that was left did not count any more."""
    entries = [
        AccessControlEntry(
            ResourceType.TOPIC, "t", PatternType.LITERAL, principal, "*", Operation.READ, permission
        )
        for principal, permission in (
            ("User:ann", Permission.DENY),
            ("User:*", Permission.ALLOW),
            ("User:bob", Permission.DENY),
        )
    ]
    rules = Rules(entries)
    rules.remove(entries[0])

    def verdict(name: str) -> Verdict:
        return rules.verdict(f"User:{name}", "10.0.0.7", Operation.READ, ResourceType.TOPIC, "t")

    assert (verdict("ann"), verdict("bob")) == (Verdict.ALLOWED, Verdict.DENIED)
    rules.remove(entries[1])
    assert (verdict("ann"), verdict("bob")) == (Verdict.NOTHING_APPLIES, Verdict.DENIED)


# -- settings that were code -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sasl.jaas.config", "com.sun.security.auth.module.JndiLoginModule required x=1;"),
        ("sasl.jaas.config", "com.sun.security.auth.module.LdapLoginModule required x=1;"),
        ("listener.name.external.plain.sasl.jaas.config", "org.evil.Module required;"),
        ("sasl.oauthbearer.token.endpoint.url", "file:///etc/passwd"),
        ("sasl.oauthbearer.jwks.endpoint.url", "http://127.0.0.1:1/"),
        ("sasl.login.callback.handler.class", "org.evil.Handler"),
    ],
)
def test_cve_2023_25194_and_2025_27817_to_27819_no_login_module_and_no_url_comes_from_a_client(
    city: City, name: str, value: str
) -> None:
    """Refused, or kept as a word that nobody reads: the way in is the one that it was."""
    before = [listener.sasl for listener in city.configuration.listeners]
    for broker in ("", str(city.node.cluster.node_id)):
        configs = [{"name": name, "config_operation": 0, "value": value}]
        resources = [{"resource_type": 4, "resource_name": broker, "configs": configs}]
        city.kafka.say(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, {"resources": resources})
    assert [listener.sasl for listener in city.configuration.listeners] == before
    everything = [everything_of(kind) for kind in ResourceType]
    city.allow(*everything)
    assert not KafkaDoor(city, "ann").say(ApiKey.LIST_GROUPS, 0, {}).errors
    city.allow()
