"""Where a cluster is and who one is there, in one value: for those who connect later, or from elsewhere."""

from contextlib import AbstractContextManager
from dataclasses import dataclass

from trivium.client.cluster import Cluster
from trivium.client.idle_clusters import borrowed
from trivium.client.security import PLAINTEXT, Security


@dataclass(frozen=True, slots=True)
class Door:
    bootstrap: str
    """``HOST:PORT[,HOST:PORT…]``."""

    security: Security = PLAINTEXT

    def connect(self, *, client_id: str = "trivium") -> Cluster:
        """Reached: nobody there, or not let in, is an error at once."""
        return Cluster.connect(self.bootstrap, client_id=client_id, security=self.security)

    def borrow(
        self, *, client_id: str = "trivium", patience_s: float = 0.0
    ) -> AbstractContextManager[Cluster]:
        """The same for a short while, from a process that comes back soon; a broker that is away is waited
        for so long."""
        return borrowed(self.bootstrap, client_id=client_id, security=self.security, patience_s=patience_s)
