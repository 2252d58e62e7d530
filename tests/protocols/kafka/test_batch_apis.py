"""Our own requests on the wire: transactions prepared, batches committed, queries described (ADR 11)."""

from typing import Any

import pytest

from tests.core.transactions.coordinated import Coordinated
from tests.protocols.kafka.conversation import Conversation
from trivium.messages.codec import decode, encode
from trivium.messages.errors import ErrorCode
from trivium.messages.extensions import ExtensionKey
from trivium.messages.extensions.commit_batch import (
    CommitBatchRequest,
    CommitBatchResponse,
    PreparedTransaction,
)
from trivium.messages.extensions.describe_queries import (
    DescribedQuery,
    DescribeQueriesRequest,
    DescribeQueriesResponse,
)
from trivium.messages.extensions.prepare_transaction import (
    PrepareTransactionRequest,
    PrepareTransactionResponse,
)
from trivium.messages.schema import Message
from trivium.protocols.kafka.protocol import KafkaProtocol
from trivium.wire.errors import DecodeError

PREPARED = PreparedTransaction(transactional_id="q-0", producer_id=7, producer_epoch=1)
SHOWN: list[tuple[Message, str]] = [
    (
        PrepareTransactionRequest(transactional_id="q-0", producer_id=7, producer_epoch=1),
        "04712d30 0000000000000007 0001 00",
    ),
    (
        PrepareTransactionResponse(throttle_time_ms=0, error_code=90, error_message="no"),
        "00000000 005a 036e6f 00",
    ),
    (
        CommitBatchRequest(query_id="q", batch_id=3, prepared=[PREPARED]),
        "0271 0000000000000003 02 04712d30 0000000000000007 0001 00 00",
    ),
    (
        CommitBatchResponse(
            throttle_time_ms=0, error_code=0, error_message=None, last_batch_id=3, was_repeated=True
        ),
        "00000000 0000 00 0000000000000003 01 00",
    ),
    (DescribeQueriesRequest(query_ids=["q"]), "02 0271 00"),
    (
        DescribeQueriesResponse(
            throttle_time_ms=0,
            queries=[DescribedQuery(error_code=0, query_id="q", last_batch_id=3, committed_at_ms=9)],
        ),
        "00000000 02 0000 0271 0000000000000003 0000000000000009 00 00",
    ),
]


@pytest.mark.parametrize(("message", "shown"), SHOWN, ids=lambda each: type(each).__name__)
def test_message_has_its_form_and_comes_back(message: Message, shown: str) -> None:
    data = bytes.fromhex(shown)
    assert encode(message, 0) == data
    assert decode(type(message), 0, data) == (message, len(data))


@pytest.mark.parametrize(("message", "shown"), SHOWN, ids=lambda each: type(each).__name__)
def test_message_that_is_cut_anywhere_cannot_be_read(message: Message, shown: str) -> None:
    """S1."""
    data = bytes.fromhex(shown)
    for end in range(len(data)):
        with pytest.raises(DecodeError):
            decode(type(message), 0, data[:end])


def test_messages_of_all_extensions_are_shown_here() -> None:
    of_users = {ExtensionKey.ALTER_USER, ExtensionKey.DESCRIBE_USERS}  # test_user_apis
    assert {message.API_KEY for message, _ in SHOWN} | of_users == set(ExtensionKey)


def prepared_by(world: Coordinated) -> dict[str, Any]:
    client = world.init("q-0")
    client.send(b"row")
    return {
        "transactional_id": "q-0",
        "producer_id": client.producer_id,
        "producer_epoch": client.epoch,
    }


def test_batch_is_prepared_committed_and_described() -> None:
    world = Coordinated()
    wire = Conversation(KafkaProtocol(world.broker))
    part = prepared_by(world)
    assert wire.ask(PrepareTransactionRequest(**part), 0, PrepareTransactionResponse).error_code == 0
    request = CommitBatchRequest(query_id="q", batch_id=3, prepared=[PreparedTransaction(**part)])
    for was_repeated in (False, True):
        answer = wire.ask(request, 0, CommitBatchResponse)
        assert (answer.error_code, answer.last_batch_id, answer.was_repeated) == (0, 3, was_repeated)
    described = wire.ask(DescribeQueriesRequest(query_ids=["q", "p"]), 0, DescribeQueriesResponse)
    assert [(each.query_id, each.last_batch_id) for each in described.queries] == [("q", 3), ("p", -1)]
    assert world.committed() == [b"row"]


def test_refusal_has_kafkas_code_and_a_sentence() -> None:
    world = Coordinated()
    wire = Conversation(KafkaProtocol(world.broker))
    part = {**prepared_by(world), "producer_epoch": 99}
    refused = wire.ask(PrepareTransactionRequest(**part), 0, PrepareTransactionResponse)
    assert refused.error_code == ErrorCode.PRODUCER_FENCED
    request = CommitBatchRequest(query_id="q", batch_id=0, prepared=[PreparedTransaction(**part)])
    answer = wire.ask(request, 0, CommitBatchResponse)
    assert answer.error_code == ErrorCode.PRODUCER_FENCED
    assert answer.error_message == refused.error_message == "q-0 has been ended, or is used by somebody else."
