"""Sharing the partitions of topics among the members of a group. Pure functions: they know no group.

subscriber    what they are told, and what they give back
uniform       as evenly as possible, and nothing moves that need not
range         neighbouring partitions, the same numbers of every topic
"""

from typing import Final

from trivium.core.groups.assignors.range import assign_ranges
from trivium.core.groups.assignors.subscriber import Assignor
from trivium.core.groups.assignors.uniform import assign_uniformly

ASSIGNORS: Final[dict[str, Assignor]] = {"uniform": assign_uniformly, "range": assign_ranges}
"""By the names that members and settings use."""
