"""An access control for tests that refuses some operations."""

from trivium.core.access import Access, Operation, Resource
from trivium.core.caller import Caller


class Denying(Access):
    """Everything is allowed but these operations, on every resource of their kind or on the one named."""

    def __init__(self, *denied: tuple[Operation, Resource] | tuple[Operation, Resource, str]) -> None:
        super().__init__()
        self._denied = denied

    def allows(self, caller: Caller, operation: Operation, resource: Resource, name: str) -> bool:
        return (operation, resource) not in self._denied and (operation, resource, name) not in self._denied

    _holds = shows = allows
