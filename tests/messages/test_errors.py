"""Error codes: mission 001.51, 003.12-003.14, where Kafka's numbers win."""

import pytest
from kio.schema.errors import ErrorCode as KioErrorCode

from trivium.messages.errors import ErrorCode


def test_error_codes_are_kafkas_in_number_name_and_retriability() -> None:
    ours = {(int(code), code.name, code.is_retriable) for code in ErrorCode}
    kafkas = {(int(code), code.name.upper(), code.retriable) for code in KioErrorCode}
    assert ours == kafkas


@pytest.mark.parametrize(
    ("code", "name", "is_retriable"),
    [
        (1, "OFFSET_OUT_OF_RANGE", False),
        (9, "REPLICA_NOT_AVAILABLE", True),
        (48, "INVALID_TXN_STATE", False),
        (49, "INVALID_PRODUCER_ID_MAPPING", False),
        (50, "INVALID_TRANSACTION_TIMEOUT", False),
        (51, "CONCURRENT_TRANSACTIONS", True),
        (52, "TRANSACTION_COORDINATOR_FENCED", False),
        (53, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED", False),
        (54, "SECURITY_DISABLED", False),
        (55, "OPERATION_NOT_ATTEMPTED", False),
    ],
)
def test_error_code_where_a_document_errs_is_kafkas(code: int, name: str, is_retriable: bool) -> None:
    """003.12 and 003.14 name these otherwise."""
    assert (ErrorCode(code).name, ErrorCode(code).is_retriable) == (name, is_retriable)


def test_error_code_of_the_future_is_an_unknown_server_error() -> None:
    assert ErrorCode.of(12_345) is ErrorCode.UNKNOWN_SERVER_ERROR
    assert ErrorCode.of(3) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
