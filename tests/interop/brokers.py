"""``trivium serve`` for foreign clients, restarted under them at the address that they know."""

from pathlib import Path

from tests.server.serving import Served


class Restartable(Served):
    def __init__(self, directory: Path, *flags: str) -> None:
        super().__init__(directory, "--set", "group.initial.rebalance.delay.ms=0", *flags)

    def restart(self, *, killed: bool) -> None:
        if killed:
            self.kill()
        else:
            assert self.stop() == 0
        self.start()
