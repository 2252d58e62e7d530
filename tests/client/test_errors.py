"""Every error is a sentence."""

import pytest

from trivium.client.errors import Refused, settled
from trivium.messages.errors import ErrorCode


@pytest.mark.parametrize("code", list(ErrorCode))
def test_refusal_of_every_code_is_a_sentence_that_names_its_subject(code: ErrorCode) -> None:
    text = str(Refused(code, "topic orders"))
    assert text.endswith(".")
    assert "orders" in text or code in (
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.SECURITY_DISABLED,
        ErrorCode.TOPIC_DELETION_DISABLED,
    )
    assert "{" not in text


def test_refusal_passes_on_what_the_broker_says() -> None:
    refusal = Refused(ErrorCode.INVALID_CONFIG, "topic orders", "retention.ms must be a number.")
    assert str(refusal) == (
        "The broker refused topic orders with INVALID_CONFIG. It says: retention.ms must be a number."
    )


def test_refusal_survives_braces_in_names() -> None:
    assert "{subject}" in str(Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "topic {subject}"))


def test_settled_gives_the_value_or_raises_the_refusal() -> None:
    assert settled(5) == 5
    with pytest.raises(Refused):
        settled(Refused(ErrorCode.UNKNOWN_SERVER_ERROR, "x"))
