"""The configuration file: a ``trivium.toml`` or a Kafka ``server.properties``.

The suffix tells which. A file with another suffix is a ``trivium.toml`` if it is TOML: a properties file with
addresses or paths in it is not.

In ``trivium.toml`` Kafka's names are dotted keys of the table ``[kafka]``. TOML has no place for
``max.connections.per.ip`` beneath a ``max.connections`` that has a value: the longer name takes quotes.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from trivium.log.properties import iter_properties
from trivium.server.configuration.errors import ConfigurationError
from trivium.server.configuration.given import Given
from trivium.server.configuration.names import BROKER_NAMES, find, nearest
from trivium.server.configuration.own_settings import OWN
from trivium.wire.errors import DecodeError

_KAFKA_TABLE: Final = "kafka"


def read_file(path: Path) -> list[Given]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}.") from None
    if path.suffix == ".toml":
        return _from_toml(data, path)
    if path.suffix == ".properties" or not _is_toml(data):
        return _from_properties(data, path)
    return _from_toml(data, path)


def _is_toml(data: bytes) -> bool:
    try:
        tomllib.loads(data.decode())
    except ValueError:
        return False
    return True


def _from_properties(data: bytes, path: Path) -> list[Given]:
    try:
        lines = list(iter_properties(data, str(path)))
    except DecodeError as error:
        raise ConfigurationError(f"{error}.") from None
    return [Given(name, text, f"{path.name} line {number}") for number, name, text in lines]


def _from_toml(data: bytes, path: Path) -> list[Given]:
    try:
        return list(_leaves(tomllib.loads(data.decode()), path))
    except UnicodeDecodeError:
        raise ConfigurationError(f"{path} is not UTF-8, which TOML has to be.") from None
    except tomllib.TOMLDecodeError as error:
        hint = '; write the longer of two such names in quotes: "max.connections.per.ip" = 5'
        is_dotted = "overwrite" in str(error) or "immutable" in str(error)
        raise ConfigurationError(f"{path} is no TOML: {error}{hint if is_dotted else ''}.") from None


def _leaves(tree: dict[str, Any], path: Path) -> Iterator[Given]:
    for key, value in tree.items():
        if key == _KAFKA_TABLE and isinstance(value, dict):
            for name, leaf in _flattened(value, ""):
                given = Given(name, _text(name, leaf, path), f"{path.name} [{_KAFKA_TABLE}]")
                _require_kafkas(given)
                yield given
        else:
            for name, leaf in _flattened({key: value}, ""):
                source = f"{path.name} [{key}]" if isinstance(value, dict) else path.name
                given = Given(name, _text(name, leaf, path), source)
                _require_ours(given)
                yield given


def _flattened(table: dict[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flattened(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _require_ours(given: Given) -> None:
    if given.name in OWN:
        return
    if find(given.name) is not None:
        raise ConfigurationError(
            f"{given.name} ({given.source}) is a name of Kafka's: write it below [kafka]."
        )
    raise ConfigurationError(f"{given.name} ({given.source}) is no setting{nearest(given.name, OWN)}.")


def _require_kafkas(given: Given) -> None:
    if given.name in OWN:
        raise ConfigurationError(
            f"{given.name} ({given.source}) is no name of Kafka's: write it above [kafka]."
        )
    if find(given.name) is None:
        raise ConfigurationError(
            f"{given.name} ({given.source}) is no setting{nearest(given.name, BROKER_NAMES)}."
        )


def _text(name: str, value: object, path: Path) -> str:
    """A TOML value as the text that a flag or a properties file would have."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, list) and all(isinstance(item, str) and "," not in item for item in value):
        return ",".join(value)
    raise ConfigurationError(
        f"{name} in {path} is neither text, number, true or false, nor a list of texts without commas."
    )
