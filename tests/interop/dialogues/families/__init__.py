"""What is talked about, one module for each subject."""

from typing import Final

from tests.interop.dialogues.families.cluster import CLUSTER
from tests.interop.dialogues.families.configs import CONFIGS
from tests.interop.dialogues.families.deliveries import DELIVERIES
from tests.interop.dialogues.families.groups import GROUPS, OFFSETS_OF_NOBODY
from tests.interop.dialogues.families.new_groups import CONSUMERS, SHARES
from tests.interop.dialogues.families.records import RECORDS
from tests.interop.dialogues.families.security import ACLS, QUOTAS, USERS
from tests.interop.dialogues.families.topics import TOPICS
from tests.interop.dialogues.families.transactions import TRANSACTIONS
from tests.interop.dialogues.families.unanswered import UNANSWERED
from tests.interop.dialogues.family import Family

FAMILIES: Final[dict[str, Family]] = {
    each.name: each
    for each in (
        TOPICS,
        RECORDS,
        UNANSWERED,
        CONFIGS,
        GROUPS,
        OFFSETS_OF_NOBODY,
        TRANSACTIONS,
        CONSUMERS,
        SHARES,
        DELIVERIES,
        ACLS,
        QUOTAS,
        USERS,
        CLUSTER,
    )
}
