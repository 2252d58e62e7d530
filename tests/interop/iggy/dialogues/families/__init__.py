"""What is talked about, one module for each subject."""

from typing import Final

from tests.interop.iggy.dialogues.families.groups import GROUPS
from tests.interop.iggy.dialogues.families.malformed import MALFORMED
from tests.interop.iggy.dialogues.families.messages import MESSAGES
from tests.interop.iggy.dialogues.families.offsets import OFFSETS
from tests.interop.iggy.dialogues.families.topics import TOPICS
from tests.interop.iggy.dialogues.families.users import USERS
from tests.interop.iggy.dialogues.family import Family

FAMILIES: Final[dict[str, Family]] = {
    each.name: each for each in (TOPICS, MESSAGES, GROUPS, OFFSETS, USERS, MALFORMED)
}
