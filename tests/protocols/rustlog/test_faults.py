"""Every fault of the core has words for a RustLog client."""

import pytest

from trivium.core.faults import Fault
from trivium.protocols.rustlog.faults import error_of, sentence
from trivium.protocols.rustlog.messages import Problem


@pytest.mark.parametrize("fault", Fault)
def test_every_fault_becomes_an_error_with_words(fault: Fault) -> None:
    error = error_of(fault, topic="t")
    assert error.problem is not Problem.OTHER or error.detail
    assert sentence(fault)[0].isupper()
    assert sentence(fault).endswith(".")


def test_what_the_core_has_said_wins() -> None:
    assert error_of(Fault.STORAGE, "The disk is full.", topic="t").detail == "The disk is full."


@pytest.mark.parametrize("fault", [Fault.UNKNOWN_TOPIC, Fault.UNKNOWN_PARTITION])
def test_unknown_topic_and_partition_look_alike(fault: Fault) -> None:
    assert error_of(fault, topic="t").problem is Problem.PARTITION_NOT_FOUND
