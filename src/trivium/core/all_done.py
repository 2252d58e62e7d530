"""Waiting for several things at once."""

from trivium.core.faults import Fault
from trivium.core.ports import Done


class AllDone:
    """Calls back once, when everything that was begun is done: with the first fault, if there was one."""

    def __init__(self, done: Done) -> None:
        self._done = done
        self._open = 1
        self._fault: Fault | None = None

    def begin(self) -> Done:
        """One thing more to wait for."""
        self._open += 1
        return self._one_done

    def all_begun(self, fault: Fault | None = None) -> None:
        """Nothing is added any more; ``fault`` if that is because something could not be begun."""
        self._one_done(fault)

    def _one_done(self, fault: Fault | None) -> None:
        self._fault = self._fault or fault
        self._open -= 1
        if not self._open:
            self._done(self._fault)
