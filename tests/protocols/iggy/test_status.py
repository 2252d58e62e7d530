"""Every fault of the core, and every flaw of messages, has a code of Iggy's (002.30)."""

from trivium.core.faults import Fault
from trivium.protocols.iggy.status import REFUSED_RIGHTS, STATUS, STATUS_BY_NAME, STATUS_OF_FLAW, Status
from trivium.records.iggy import Flaw


def test_status_is_there_for_every_fault() -> None:
    assert set(STATUS) == set(Fault)


def test_status_is_there_for_every_flaw() -> None:
    assert set(STATUS_OF_FLAW) == set(Flaw)


def test_status_that_makes_clients_log_in_again_means_nothing_else() -> None:
    assert [fault for fault, status in STATUS.items() if status is Status.UNAUTHENTICATED] == [
        Fault.NOT_AUTHENTICATED
    ]


def test_status_of_something_named_is_one_that_only_old_clients_know() -> None:
    assert [int(status) for status in STATUS_BY_NAME.values()] == [1010, 2011, 5003]


def test_status_of_missing_rights_is_the_same_for_everything() -> None:
    assert {fault.name for fault in Fault if fault.name.startswith("NOT_AUTHORIZED")} == {
        fault.name for fault in REFUSED_RIGHTS
    }
