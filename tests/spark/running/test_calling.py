"""Mistakes in the function of a flow are a sentence with the line, no traceback."""

import re
from typing import Any

import pytest

from trivium.pipeline.flow import Flow
from trivium.spark.running.calling import called
from trivium.spark.running.errors import CannotRun


def test_function_that_fails_is_named_with_its_line() -> None:
    def clean(orders: Any) -> Any:
        return orders.no_such_method()

    line = clean.__code__.co_firstlineno + 1
    where = re.escape(f"({__file__}, line {line})")
    said = f"The function of the flow clean fails with AttributeError, .*no_such_method.* {where}"
    with pytest.raises(CannotRun, match=said):
        called(Flow("clean", function=clean), ["orders"])  # type: ignore[list-item]


@pytest.mark.parametrize(("given", "said"), [(None, "nothing"), ([1], "a list")])
def test_function_that_gives_no_frame_is_told_so(given: Any, said: str) -> None:
    with pytest.raises(CannotRun, match=f"gives {said} instead of a DataFrame; return one"):
        called(Flow("clean", function=lambda: given), [])
