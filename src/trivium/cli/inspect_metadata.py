"""The metadata log of a directory, for ``trivium inspect``: what the cluster is, and how its topics are set.

The log gives record values, the core makes an image of them; this is where the two meet until a broker
does the same. Secrets never become facts: a SCRAM user is shown by mechanism and iterations, and the
value of a setting that may be a password is withheld (S15).
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console
from rich.markup import escape

from trivium.cli.tables import show_rows
from trivium.core.metadata import MetadataImage
from trivium.core.metadata_configs import ConfigType
from trivium.log.faults import LogError
from trivium.log.files import Files
from trivium.log.metadata_log import METADATA_DIRECTORY, has_metadata_log, read_metadata_log
from trivium.log.settings import LogSettings
from trivium.log.topic_settings import topic_settings
from trivium.messages.stored.metadata_log import decode_metadata_record
from trivium.wire.errors import DecodeError
from trivium.wire.uuid_text import uuid_to_text

_SECRET: Final = re.compile(r"password|secret|jaas|credential|keystore|truststore|private", re.IGNORECASE)
_WITHHELD: Final = "(withheld)"


def load_metadata(files: Files, path: str, now_ms: int) -> MetadataImage | None:
    """The image of the metadata log in a log directory; None if it has none."""
    if not has_metadata_log(files, path):
        return None
    image = MetadataImage()
    for place, value in read_metadata_log(files, path, now_ms=now_ms):
        try:
            _, _, record = decode_metadata_record(value)
            image.replay(record)
        except DecodeError as error:
            raise LogError(f"{METADATA_DIRECTORY} is damaged at {place}: {error}") from error
    return image


def settings_from(image: MetadataImage | None, broker_id: int) -> Callable[[str], LogSettings]:
    """The settings of a topic's logs on a broker, as far as the metadata log knows them.

    What a broker's own configuration file says is not in it: where that differs from the defaults, so
    do the logs from what is shown.
    """
    if image is None:
        # Not knowing better: a log that may have been compacted may have gaps, and that is no damage.
        return lambda _topic: LogSettings(compact=True)
    configs = image.configs
    return lambda topic: topic_settings(configs.of_topic(topic), configs.of_broker(broker_id))


# -- facts -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TopicRow:
    name: str
    topic_id: str
    partitions: int
    replicas: int
    configs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ConfigRow:
    resource: str
    name: str
    configs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class UserRow:
    user: str
    mechanism: str
    iterations: int


@dataclass(frozen=True, slots=True)
class AccessRow:
    permission: str
    principal: str
    host: str
    operation: str
    resource: str
    pattern: str
    name: str


@dataclass(frozen=True, slots=True)
class QuotaRow:
    entity: Mapping[str, str | None]
    limits: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class TokenRow:
    token_id: str
    owner: str
    requester: str
    expiration_timestamp: int


@dataclass(frozen=True, slots=True)
class BrokerRow:
    broker_id: int
    broker_epoch: int
    fenced: bool
    rack: str | None
    listeners: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FeatureRow:
    feature: str
    level: int


def survey_metadata(image: MetadataImage, path: str) -> dict[str, Any]:
    """Everything about a cluster that is no secret, ready for JSON."""
    return {
        "directory": path,
        "next_producer_id": image.producer_ids.next_id,
        "features": [FeatureRow(name, level) for name, level in sorted(image.features.levels.items())],
        "brokers": list(_brokers(image)),
        "topics": list(_topics(image)),
        "configs": list(_configs(image)),
        "users": list(_users(image)),
        "access": sorted(_access(image), key=repr),
        "quotas": sorted(_quotas(image), key=repr),
        "tokens": list(_tokens(image)),
    }


def _brokers(image: MetadataImage) -> Iterator[BrokerRow]:
    for broker in image.brokers:
        listeners = {name: f"{at.host}:{at.port}" for name, at in broker.listeners.items()}
        yield BrokerRow(broker.broker_id, broker.broker_epoch, broker.is_fenced, broker.rack, listeners)


def _topics(image: MetadataImage) -> Iterator[TopicRow]:
    for name, topic in sorted(image.topics.by_name.items()):
        replicas = max((len(partition.replicas) for partition in topic.partitions.values()), default=0)
        configs = _without_secrets(image.configs.of_topic(name))
        yield TopicRow(name, uuid_to_text(topic.topic_id), len(topic.partitions), replicas, configs)


def _configs(image: MetadataImage) -> Iterator[ConfigRow]:
    """Settings of everything but topics, which have theirs in their own row."""
    for (kind, name), configs in sorted(image.configs.by_resource.items()):
        if kind is not ConfigType.TOPIC:
            resource = kind.name.lower().replace("_", "-")
            yield ConfigRow(resource, name or "(all)", _without_secrets(configs))


def _users(image: MetadataImage) -> Iterator[UserRow]:
    for user, credentials in sorted(image.scram.by_user.items()):
        for mechanism, credential in sorted(credentials.items()):
            yield UserRow(user, mechanism.name.replace("_", "-"), credential.iterations)


def _access(image: MetadataImage) -> Iterator[AccessRow]:
    for entry in image.access_control.by_id.values():
        yield AccessRow(
            entry.permission.name,
            entry.principal,
            entry.host,
            entry.operation.name,
            entry.resource_type.name,
            entry.pattern_type.name,
            entry.resource_name,
        )


def _quotas(image: MetadataImage) -> Iterator[QuotaRow]:
    for entity, limits in image.quotas.by_entity.items():
        yield QuotaRow(dict(entity), limits)


def _tokens(image: MetadataImage) -> Iterator[TokenRow]:
    for token in image.tokens.by_id.values():
        yield TokenRow(token.token_id, token.owner, token.requester, token.expiration_timestamp)


def _without_secrets(configs: Mapping[str, str]) -> Mapping[str, str]:
    return {name: _WITHHELD if _SECRET.search(name) else value for name, value in sorted(configs.items())}


# -- tables ----------------------------------------------------------------------------------------


def show_metadata(console: Console, facts: dict[str, Any]) -> None:
    console.print(
        f"[bold]{escape(facts['directory'])}[/bold]  metadata, next producer id {facts['next_producer_id']:,}"
    )
    for title in ("features", "brokers", "topics", "configs", "users", "access", "quotas", "tokens"):
        if facts[title]:
            show_rows(console, title, facts[title])
