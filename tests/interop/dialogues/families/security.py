"""Who may what, and how much: access control lists, quotas, SCRAM users, and tokens where there are none."""

from tests.interop.dialogues.family import Family
from tests.interop.dialogues.words import Pool

from trivium.messages.api.alter_client_quotas import AlterClientQuotasRequest
from trivium.messages.api.alter_client_quotas import EntityData as Entity
from trivium.messages.api.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from trivium.messages.api.create_acls import CreateAclsRequest
from trivium.messages.api.create_delegation_token import CreateDelegationTokenRequest
from trivium.messages.api.delete_acls import DeleteAclsRequest
from trivium.messages.api.describe_acls import DescribeAclsRequest
from trivium.messages.api.describe_client_quotas import DescribeClientQuotasRequest
from trivium.messages.api.describe_delegation_token import DescribeDelegationTokenRequest
from trivium.messages.api.describe_user_scram_credentials import DescribeUserScramCredentialsRequest, UserName
from trivium.messages.api.expire_delegation_token import ExpireDelegationTokenRequest
from trivium.messages.api.renew_delegation_token import RenewDelegationTokenRequest

RESOURCES = Pool(["§a", "§b"], ["", "*", "§" + "x" * 300])
PRINCIPALS = Pool(["User:§u", "User:§v"], ["User:*", "", "§u", "Group:§g", "User:"])
HOSTS = Pool(["*", "127.0.0.1"], ["", "host.example"])
TYPES = Pool([2, 2, 3, 5], [0, 1, 4, 6, 7, 99, -1])
OPERATIONS = Pool([3, 4, 8, 2], [0, 1, 12, 13, 99, -1, 15])
PERMISSIONS = Pool([3, 2], [0, 1, 9])

ACLS = Family(
    "acls",
    {CreateAclsRequest: 6, DescribeAclsRequest: 6, DeleteAclsRequest: 4},
    {
        "resource_type": TYPES,
        "resource_name": RESOURCES,
        "resource_pattern_type": Pool([3, 4], [0, 1, 2, 9]),
        "principal": PRINCIPALS,
        "host": HOSTS,
        "operation": OPERATIONS,
        "permission_type": PERMISSIONS,
        # What asks for everything would meet what other plays have left behind.
        "resource_type_filter": Pool([1, 2, 3], [0, 4, 99]),
        "resource_name_filter": Pool(["§a", "§b", "§abc"], [""]),
        "pattern_type_filter": Pool([1, 2, 3, 4], [0, 9]),
        "principal_filter": Pool([None, "User:§u"], ["User:*", ""]),
        "host_filter": Pool([None, "*"], ["127.0.0.1", ""]),
    },
    extra={
        DescribeAclsRequest: {"operation": Pool([1, 3], [0, 99]), "permission_type": Pool([1, 3], [0, 9])},
        DeleteAclsRequest: {"operation": Pool([1, 3], [0, 99]), "permission_type": Pool([1, 3], [0, 9])},
    },
)


def entity(**names: str | None) -> list[Entity]:
    return [Entity(entity_type=kind.replace("_", "-"), entity_name=name) for kind, name in names.items()]


QUOTAS = Family(
    "quotas",
    {AlterClientQuotasRequest: 6, DescribeClientQuotasRequest: 5},
    {
        "AlterClientQuotasRequestEntryData.entity": Pool(
            [entity(user="§u"), entity(client_id="§c"), entity(user="§u", client_id="§c")],
            [
                entity(),
                entity(user=""),
                entity(nonsense="§u"),
                entity(user="§u", ip="127.0.0.1"),
                entity(ip="§ip"),
            ],
        ),
        "key": Pool(
            ["producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate"],
            ["", "nonsense", "connection_creation_rate"],
        ),
        "value": Pool([1000.0, 5000.0, 12.0], [0.0, -1.0, 0.5, 1e19]),
        "remove": Pool([False, False, True]),
        "validate_only": Pool([False, False, True]),
        "entity_type": Pool(["user", "client-id"], ["ip", "", "nonsense"]),
        "match_type": Pool([0], [1, 2, 3, -1]),
        "match": Pool(["§u", "§c"], [None, ""]),
        "strict": Pool([False, True]),
    },
)

USERS = Family(
    "users",
    {
        AlterUserScramCredentialsRequest: 5,
        DescribeUserScramCredentialsRequest: 4,
        CreateDelegationTokenRequest: 1,
        RenewDelegationTokenRequest: 1,
        ExpireDelegationTokenRequest: 1,
        DescribeDelegationTokenRequest: 1,
    },
    {
        "name": Pool(["§u", "§v"], ["", "§unknown"]),
        "mechanism": Pool([1, 2], [0, 3, -1]),
        "iterations": Pool([4096, 8192], [0, 4095, 16385, -1]),
        "salt": Pool([b"salt"]),
        "salted_password": Pool([b"password"]),
        "ScramCredentialDeletion.name": Pool(["§v"], ["", "§unknown"]),
        "users": Pool([[UserName(name="§u")], [UserName(name="§v"), UserName(name="§u")]]),
        "DescribeUserScramCredentialsRequest.users": Pool(
            [[UserName(name="§u")], [UserName(name="§v"), UserName(name="§u")]],
            [[UserName(name="§unknown")], [UserName(name="§u"), UserName(name="§u")], [UserName(name="")]],
        ),
        "owner_principal_type": Pool(["User", None]),
        "owner_principal_name": Pool(["§u", None]),
        "principal_type": Pool(["User"]),
        "principal_name": Pool(["§u"]),
        "max_lifetime_ms": Pool([-1, 1000]),
        "hmac": Pool([b"secret"], [b""]),
        "renew_period_ms": Pool([1000]),
        "expiry_time_period_ms": Pool([1000]),
    },
)
