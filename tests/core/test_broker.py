"""Rooms of the broker: opened by the first command that is for them, and once."""

from typing import Any

import pytest

from trivium.core.access import Access
from trivium.core.broker import Broker
from trivium.core.caller import Caller
from trivium.core.commands.command import Reply, Routes
from trivium.core.commands.features import DescribeFeatures, UpdateFeatures
from trivium.core.commands.telemetry import GetSubscription


class House:
    def __init__(self) -> None:
        self.opened: list[str] = []
        self.broker = Broker(Access(), rooms={"features": self.features, "telemetry": self.telemetry})

    def features(self) -> Routes:
        self.opened.append("features")
        return {DescribeFeatures: _answer("features"), UpdateFeatures: _answer("update")}

    def telemetry(self) -> Routes:
        self.opened.append("telemetry")
        return {GetSubscription: _answer("subscription")}

    def ask(self) -> list[object]:
        answers: list[Any] = []
        self.broker.execute(DescribeFeatures(), Caller(), answers.append)
        return answers


def _answer(text: str) -> Any:
    def handle(_command: object, _caller: Caller, reply: Reply[object]) -> None:
        reply(text)

    return handle


def test_room_is_opened_by_the_first_command_of_its_module() -> None:
    house = House()
    assert house.opened == []
    assert house.ask() == ["features"]
    assert house.opened == ["features"]


def test_room_stays_open() -> None:
    house = House()
    assert house.ask() + house.ask() == ["features", "features"]
    house.broker.open("features")
    assert house.opened == ["features"]


def test_room_with_a_handler_that_is_there_already_is_refused() -> None:
    house = House()
    broker = Broker(Access(), [{UpdateFeatures: _answer("other")}], {"features": house.features})
    with pytest.raises(ValueError, match="UpdateFeatures"):
        broker.open("features")
