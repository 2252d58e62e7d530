"""What an administrator may ask a broker, right and wrong, told once and held twice (see ``admin_player``).

A dialogue is a function of ``Ask``. It begins on an empty broker with node id 1, one log directory and the
settings in ``admin_player.STATIC``.
"""

from collections.abc import Callable

from tests.golden.admin_dialogues.cluster import cluster
from tests.golden.admin_dialogues.settings import changes, settings
from tests.golden.admin_dialogues.topics import lookups, partitions, records, topics
from tests.golden.admin_player import Ask

DIALOGUES: dict[str, Callable[[Ask], None]] = {
    each.__name__: each for each in (topics, partitions, records, lookups, changes, settings, cluster)
}
