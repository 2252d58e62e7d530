"""Client quotas over the wire, in every version."""

import pytest

from tests.core.fakes import World
from tests.core.rights import Denying
from tests.protocols.kafka.administrator import versions
from tests.protocols.kafka.conversation import Conversation
from trivium.core.access import Access, Operation, Resource
from trivium.core.broker import Broker
from trivium.core.quotas.administration import QuotaAdministration
from trivium.messages.api.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    AlterClientQuotasResponse,
    EntityData,
    OpData,
)
from trivium.messages.api.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)
from trivium.messages.errors import ErrorCode
from trivium.protocols.kafka.protocol import KafkaProtocol


def conversation(access: Access | None = None) -> Conversation:
    world = World()
    routes = QuotaAdministration(world.cluster).routes
    return Conversation(KafkaProtocol(Broker(access or world.access, [routes])))


def altering(key: str, value: float, *, remove: bool = False) -> AlterClientQuotasRequest:
    return AlterClientQuotasRequest(
        entries=[
            AlterClientQuotasRequestEntryData(
                entity=[EntityData(entity_type="user", entity_name=None)],
                ops=[OpData(key=key, value=value, remove=remove)],
            )
        ],
        validate_only=False,
    )


DESCRIBING = DescribeClientQuotasRequest(
    components=[ComponentData(entity_type="user", match_type=1, match=None)], strict=True
)


@pytest.mark.parametrize("version", versions(AlterClientQuotasRequest))
def test_limit_is_set_described_and_lifted(version: int) -> None:
    talk = conversation()
    answer = talk.ask(altering("producer_byte_rate", 1024.0), version, AlterClientQuotasResponse)
    assert [each.error_code for each in answer.entries] == [0]
    described = talk.ask(DESCRIBING, version, DescribeClientQuotasResponse)
    assert described.error_code == 0
    (entry,) = described.entries or []
    assert [(each.entity_type, each.entity_name) for each in entry.entity] == [("user", None)]
    assert [(each.key, each.value) for each in entry.values] == [("producer_byte_rate", 1024.0)]
    talk.ask(altering("producer_byte_rate", 0.0, remove=True), version, AlterClientQuotasResponse)
    assert talk.ask(DESCRIBING, version, DescribeClientQuotasResponse).entries == []


@pytest.mark.parametrize("version", versions(AlterClientQuotasRequest))
def test_refusals_are_kafkas(version: int) -> None:
    """S10."""
    (bad,) = conversation().ask(altering("nonsense", 1.0), version, AlterClientQuotasResponse).entries
    assert (bad.error_code, bad.error_message) == (
        ErrorCode.INVALID_REQUEST,
        "Invalid configuration key nonsense",
    )
    talk = conversation(
        Denying((Operation.ALTER_CONFIGS, Resource.CLUSTER), (Operation.DESCRIBE_CONFIGS, Resource.CLUSTER))
    )
    (refused,) = talk.ask(altering("producer_byte_rate", 1.0), version, AlterClientQuotasResponse).entries
    assert refused.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    described = talk.ask(DESCRIBING, version, DescribeClientQuotasResponse)
    assert described.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert described.entries is None
