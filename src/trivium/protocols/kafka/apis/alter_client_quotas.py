"""AlterClientQuotas (key 49): set and lift limits of users, client ids and addresses. Served: 0-1."""

from trivium.core.commands.quotas import AlteredQuotas, AlterQuotas, QuotaChange
from trivium.messages.api import ApiKey
from trivium.messages.api.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    AlterClientQuotasResponseEntryData,
    EntityData,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: AlterClientQuotasRequest, call: Call) -> AlterQuotas:
    return AlterQuotas(
        [
            QuotaChange(
                [(part.entity_type, part.entity_name) for part in entry.entity],
                {each.key: None if each.remove else each.value for each in entry.ops},
            )
            for entry in request.entries
        ],
        request.validate_only,
    )


def to_response(results: list[AlteredQuotas], call: Call) -> AlterClientQuotasResponse:
    return AlterClientQuotasResponse(
        throttle_time_ms=0,
        entries=[
            AlterClientQuotasResponseEntryData(
                error_code=code_of(result.fault),
                error_message=result.message,
                entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in result.entity],
            )
            for result in results
        ],
    )


API = Api(ApiKey.ALTER_CLIENT_QUOTAS, 0, 1, to_command, to_response)
