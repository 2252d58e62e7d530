"""Settings from the environment: ``TRIVIUM_LISTEN_KAFKA``, ``TRIVIUM_KAFKA_NUM_PARTITIONS``.

Our own names in capitals, and Kafka's behind ``TRIVIUM_KAFKA_`` with underscores for dots. ``TRIVIUM_CONFIG``
names the file. An empty variable says nothing. A name that is none of these is a mistake, except those that
other parts read, and those that Kubernetes makes up: a service called ``trivium`` gives a ``TRIVIUM_PORT``
to everybody in its name space.
"""

import re
from collections.abc import Mapping
from typing import Final

from trivium.server.configuration.errors import ConfigurationError
from trivium.server.configuration.given import Given
from trivium.server.configuration.names import BROKER_NAMES, find, nearest
from trivium.server.configuration.own_settings import FLAGS, OWN

CONFIG_VARIABLE: Final = "TRIVIUM_CONFIG"

_PREFIX: Final = "TRIVIUM_"
_KAFKA_PREFIX: Final = "TRIVIUM_KAFKA_"
_OF_OTHER_PARTS: Final = frozenset(
    (
        CONFIG_VARIABLE,
        "TRIVIUM_BOOTSTRAP",
        "TRIVIUM_BROKER",
        "TRIVIUM_KERNEL",
        "TRIVIUM_MASTER",
        "TRIVIUM_PASSWORD",
        "TRIVIUM_PASSWORD_FILE",
        "TRIVIUM_TLS_CA",
        "TRIVIUM_USER",
    )
)
_OF_KUBERNETES: Final = (
    r"TRIVIUM_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)"
)


def variable_of(name: str) -> str:
    """The variable for a setting, ours or Kafka's."""
    return (_PREFIX if name in OWN else _KAFKA_PREFIX) + re.sub(r"[.-]", "_", name).upper()


_OWN_VARIABLES: Final = {variable_of(name): name for name in OWN}
_AFTER_FLAGS: Final = {_PREFIX + flag[2:].replace("-", "_").upper(): name for name, flag in FLAGS.items()}
"""What somebody might write who knows the flags."""


def from_environment(environ: Mapping[str, str]) -> list[Given]:
    return [
        Given(_name(variable), text, variable)
        for variable, text in sorted(environ.items())
        if variable.startswith(_PREFIX)
        and text
        and variable not in _OF_OTHER_PARTS
        and not re.fullmatch(_OF_KUBERNETES, variable)
    ]


def _name(variable: str) -> str:
    if variable in _OWN_VARIABLES:
        return _OWN_VARIABLES[variable]
    if variable.startswith(_KAFKA_PREFIX):
        name = variable.removeprefix(_KAFKA_PREFIX).replace("_", ".").lower()
        if find(name) is not None:
            return name
    meant = _AFTER_FLAGS.get(variable)
    known = [*_OWN_VARIABLES, *map(variable_of, BROKER_NAMES)] if meant is None else [variable_of(meant)]
    raise ConfigurationError(f"{variable} in the environment is no setting{nearest(variable, known)}.")
