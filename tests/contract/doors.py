"""The doors that the contract is held against. A protocol joins here."""

from collections.abc import Mapping
from typing import Final

from tests.contract import iggy_door, kafka_door, rustlog_door
from tests.contract.door import Door

_ALL: Final[list[Door]] = [kafka_door, iggy_door, rustlog_door]

DOORS: Final[Mapping[str, Door]] = {door.name: door for door in _ALL}
