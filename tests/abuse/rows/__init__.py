"""What every API of Kafka's door needs, and where its answer says so: the table that the matrix is made of.

Written from Kafka's documentation of its authorizations, and from what its broker does where that is silent;
not from our own rows. An API that is served and is not here fails a test.
"""

from collections.abc import Mapping
from typing import Final

from tests.abuse.rows import administration, groups, records, removing, transactions
from tests.abuse.rows.row import Row
from trivium.messages.api import ApiKey

ROWS: Final[tuple[Row, ...]] = (
    *records.ROWS,
    *groups.ROWS,
    *transactions.ROWS,
    *administration.ROWS,
    *removing.ROWS,
)

FREE: Final[Mapping[int, str]] = {
    ApiKey.API_VERSIONS: "it is asked before a login",
    ApiKey.SASL_HANDSHAKE: "it is the login",
    ApiKey.SASL_AUTHENTICATE: "it is the login",
    ApiKey.DESCRIBE_CLUSTER: "who may connect may know where else to",
    ApiKey.GET_TELEMETRY_SUBSCRIPTIONS: "clients tell of themselves",
    ApiKey.PUSH_TELEMETRY: "clients tell of themselves",
    ApiKey.RENEW_DELEGATION_TOKEN: "who has the secret may try; see the test of tokens",
    ApiKey.EXPIRE_DELEGATION_TOKEN: "who has the secret may try; see the test of tokens",
}
"""What needs no right, and why."""
