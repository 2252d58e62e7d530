"""DescribeClientQuotas (key 48): limits of users, client ids and addresses. Served: 0-1."""

from trivium.core.commands.quotas import DescribedQuotas, DescribeQuotas, QuotaComponent
from trivium.messages.api import ApiKey
from trivium.messages.api.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: DescribeClientQuotasRequest, call: Call) -> DescribeQuotas:
    return DescribeQuotas(
        [QuotaComponent(each.entity_type, each.match_type, each.match) for each in request.components],
        request.strict,
    )


def to_response(result: DescribedQuotas, call: Call) -> DescribeClientQuotasResponse:
    return DescribeClientQuotasResponse(
        throttle_time_ms=0,
        error_code=code_of(result.fault),
        error_message=result.message,
        entries=None
        if result.limits is None
        else [
            EntryData(
                entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
                values=[ValueData(key=key, value=value) for key, value in limits.items()],
            )
            for entity, limits in result.limits.items()
        ],
    )


API = Api(ApiKey.DESCRIBE_CLIENT_QUOTAS, 0, 1, to_command, to_response)
