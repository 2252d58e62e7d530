"""Adding, finding and removing entries, as Kafka's administrators know it."""

from itertools import count

import pytest

from tests.core.fakes import World
from trivium.core.access import Access
from trivium.core.acls import administration
from trivium.core.acls.administration import AclAdministration
from trivium.core.acls.authorizer import Authorizer
from trivium.core.acls.entry import AccessControlEntry, Operation, PatternType, Permission, ResourceType
from trivium.core.acls.filter import ANY, MATCH, AclFilter
from trivium.core.commands.acls import CreateAcls, CreatedAcl, DeleteAcls, DescribeAcls, NewAcl
from trivium.core.faults import Fault
from trivium.core.metadata import MetadataImage
from trivium.core.metadata_snapshot import snapshot_records

ORDERS = NewAcl(2, "orders", 3, "User:ann", "*", 3, 3)
ALL_ORDERS = NewAcl(2, "ord", 4, "User:ann", "10.0.0.1", 4, 2)
EVERYTHING = NewAcl(2, "*", 3, "User:*", "*", 8, 3)
GROUP = NewAcl(3, "orders", 3, "User:bob", "*", 3, 3)


def entry_of(new: NewAcl) -> AccessControlEntry:
    kind, name, pattern, principal, host, operation, permission = new
    return AccessControlEntry(
        ResourceType(kind),
        name,
        PatternType(pattern),
        principal,
        host,
        Operation(operation),
        Permission(permission),
    )


class Office:
    def __init__(self, access: Access | None = None) -> None:
        self.world = World()
        rules = self.world.image.access_control.rules
        ids = count(1)
        self.access = access or Access(authorizer=Authorizer(rules))
        self.world.add(
            AclAdministration(self.world.cluster, self.access, lambda: next(ids).to_bytes(16, "big")).routes
        )

    def create(self, *new: NewAcl) -> list[CreatedAcl]:
        return self.world.execute(CreateAcls(new))

    def found(self, **wanted: object) -> set[AccessControlEntry]:
        result = self.world.execute(DescribeAcls(AclFilter(**wanted)))  # type: ignore[arg-type]
        assert result.fault is None
        return set(result.entries)


@pytest.fixture
def office() -> Office:
    office = Office()
    assert office.create(ORDERS, ALL_ORDERS, EVERYTHING, GROUP) == [CreatedAcl()] * 4
    return office


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, [ORDERS, ALL_ORDERS, EVERYTHING, GROUP]),
        ({"resource_type": 2}, [ORDERS, ALL_ORDERS, EVERYTHING]),
        ({"resource_name": "orders"}, [ORDERS, GROUP]),
        ({"resource_name": "orders", "pattern_type": MATCH}, [ORDERS, ALL_ORDERS, EVERYTHING, GROUP]),
        ({"resource_name": "other", "pattern_type": MATCH}, [EVERYTHING]),
        ({"resource_name": "*", "pattern_type": MATCH}, [EVERYTHING]),
        ({"resource_name": "ord", "pattern_type": 4}, [ALL_ORDERS]),
        ({"resource_name": "ord", "pattern_type": 3}, []),
        ({"principal": "User:ann"}, [ORDERS, ALL_ORDERS]),
        ({"host": "10.0.0.1"}, [ALL_ORDERS]),
        ({"operation": 3}, [ORDERS, GROUP]),
        ({"permission": 2}, [ALL_ORDERS]),
    ],
)
def test_filter_finds_what_kafka_would(
    office: Office, wanted: dict[str, object], expected: list[NewAcl]
) -> None:
    assert office.found(**wanted) == set(map(entry_of, expected))


def test_entry_that_is_there_is_not_made_twice(office: Office) -> None:
    end = office.world.log("__cluster_metadata").log_end_offset
    assert office.create(ORDERS, ORDERS) == [CreatedAcl()] * 2
    assert office.world.log("__cluster_metadata").log_end_offset == end


@pytest.mark.parametrize(
    ("new", "sentence"),
    [
        (ORDERS._replace(resource_type=ANY), "Invalid resourceType 1"),
        (ORDERS._replace(resource_type=100), "Invalid resourceType 100"),
        (ORDERS._replace(pattern_type=MATCH), "Invalid patternType 2"),
        (ORDERS._replace(operation=ANY), "Invalid operation 1"),
        (ORDERS._replace(permission=ANY), "Invalid permissionType 1"),
        (ORDERS._replace(resource_name=""), "Resource name should not be empty"),
        (ORDERS._replace(resource_type=4), "The only valid name for the CLUSTER resource is kafka-cluster"),
        (ORDERS._replace(principal="ann"), "Could not parse principal from `ann`"),
    ],
)
def test_entry_that_means_nothing_is_refused_alone(new: NewAcl, sentence: str) -> None:
    office = Office()
    first, second = office.create(new, GROUP)
    assert first.fault is Fault.INVALID_REQUEST
    assert (first.message or "").startswith(sentence)
    assert second == CreatedAcl()
    assert office.found() == {entry_of(GROUP)}


def test_entries_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(administration, "ENTRIES_MAX", 1)
    first, second = Office().create(ORDERS, GROUP)
    assert (first.fault, second.fault) == (None, Fault.POLICY_VIOLATION)


def test_delete_removes_what_its_filters_mean_once(office: Office) -> None:
    results = office.world.execute(
        DeleteAcls([AclFilter(resource_type=2), AclFilter(resource_name="orders"), AclFilter(operation=99)])
    )
    assert [set(result.entries) for result in results] == [
        set(map(entry_of, [ORDERS, ALL_ORDERS, EVERYTHING])),
        set(map(entry_of, [ORDERS, GROUP])),
        set(),
    ]
    assert results[2].fault is Fault.INVALID_REQUEST
    assert office.found() == set()


@pytest.mark.parametrize(
    "wanted", [{"resource_type": 9}, {"pattern_type": 0}, {"operation": 0}, {"permission": 9}]
)
def test_filter_that_means_nothing_is_refused(office: Office, wanted: dict[str, int]) -> None:
    result = office.world.execute(DescribeAcls(AclFilter(**wanted)))  # type: ignore[arg-type]
    assert result.fault is Fault.INVALID_REQUEST


def test_nothing_is_shown_or_stored_without_an_authorizer() -> None:
    office = Office(Access())
    assert office.world.execute(DescribeAcls(AclFilter())).fault is Fault.SECURITY_DISABLED
    assert office.create(ORDERS)[0].fault is Fault.SECURITY_DISABLED
    assert office.world.execute(DeleteAcls([AclFilter()]))[0].fault is Fault.SECURITY_DISABLED
    assert office.world.image.access_control.by_id == {}


def test_entries_decide_after_a_start_as_before(office: Office) -> None:
    """What a snapshot holds makes the same rules."""
    again = MetadataImage()
    for record, _ in snapshot_records(office.world.image):
        again.replay(record)
    assert again.access_control.by_id == office.world.image.access_control.by_id
    for image in (again, office.world.image):
        authorizer = Authorizer(image.access_control.rules)
        access = Access(authorizer=authorizer)
        assert access.authorizer is authorizer
        assert authorizer.may_write_somewhere("User:ann", "10.0.0.1") is False


def test_failed_write_is_told_and_nothing_changes(office: Office) -> None:
    office.world.log("__cluster_metadata").fault = Fault.STORAGE
    (created,) = office.create(ORDERS._replace(resource_name="new"))
    assert created.fault is Fault.STORAGE
    (deleted,) = office.world.execute(DeleteAcls([AclFilter()]))
    assert (deleted.fault, deleted.entries) == (Fault.STORAGE, ())
    assert len(office.found()) == 4
