"""How many dialogues of each family are held, and from which seed on.

Both are taken out of the environment: programs of ours that other tests start know no such settings, and
refuse them.
"""

import os
from typing import Final

COUNT: Final = int(os.environ.pop("TRIVIUM_DIALOGUES", "3"))
FIRST: Final = int(os.environ.pop("TRIVIUM_DIALOGUES_FIRST", "0"))
