"""Shipped for tests, ours and our users': a broker in the test's process, a disk that crashes on demand.

Nothing is imported before it is used: the pytest plugin lives here, and loads with every run of pytest.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trivium.testing.broker import Broker
    from trivium.testing.pipelines import run_pipeline

__all__ = ["Broker", "run_pipeline"]


def __getattr__(name: str) -> Any:
    if name == "Broker":
        from trivium.testing.broker import Broker

        return Broker
    if name == "run_pipeline":
        from trivium.testing.pipelines import run_pipeline

        return run_pipeline
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
