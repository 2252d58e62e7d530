"""DescribeUserScramCredentials (key 50): which SCRAM mechanisms users have, never their secrets.

Served: 0.
"""

from trivium.core.commands.sasl import DescribedScram, DescribeScramCredentials
from trivium.core.faults import Fault
from trivium.messages.api import ApiKey
from trivium.messages.api.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: DescribeUserScramCredentialsRequest, call: Call) -> DescribeScramCredentials:
    return DescribeScramCredentials(None if request.users is None else [each.name for each in request.users])


def to_response(results: list[DescribedScram], call: Call) -> DescribeUserScramCredentialsResponse:
    if any(result.fault is Fault.NOT_AUTHORIZED_CLUSTER for result in results):
        return DescribeUserScramCredentialsResponse(
            throttle_time_ms=0,
            error_code=code_of(Fault.NOT_AUTHORIZED_CLUSTER),
            error_message=None,
            results=[],
        )
    return DescribeUserScramCredentialsResponse(
        throttle_time_ms=0,
        error_code=0,
        error_message=None,
        results=[
            DescribeUserScramCredentialsResult(
                user=result.username,
                error_code=code_of(result.fault),
                error_message=result.message,
                credential_infos=[
                    CredentialInfo(mechanism=facts.mechanism, iterations=facts.iterations)
                    for facts in result.credentials
                ],
            )
            for result in results
        ],
    )


API = Api(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, 0, to_command, to_response)
