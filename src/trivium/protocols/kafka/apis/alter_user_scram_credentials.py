"""AlterUserScramCredentials (key 51): set and remove SCRAM credentials.

Served: 0. The password has been salted by the client; it never comes here.
"""

from trivium.core.commands.sasl import (
    AlteredScram,
    AlterScramCredentials,
    ScramDeletion,
    ScramUpsertion,
)
from trivium.messages.api import ApiKey
from trivium.messages.api.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: AlterUserScramCredentialsRequest, call: Call) -> AlterScramCredentials:
    return AlterScramCredentials(
        [ScramDeletion(each.name, each.mechanism) for each in request.deletions],
        [
            ScramUpsertion(
                each.name, each.mechanism, each.iterations, bytes(each.salt), bytes(each.salted_password)
            )
            for each in request.upsertions
        ],
    )


def to_response(results: list[AlteredScram], call: Call) -> AlterUserScramCredentialsResponse:
    return AlterUserScramCredentialsResponse(
        throttle_time_ms=0,
        results=[
            AlterUserScramCredentialsResult(
                user=result.username, error_code=code_of(result.fault), error_message=result.message
            )
            for result in results
        ],
    )


API = Api(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, 0, to_command, to_response)
