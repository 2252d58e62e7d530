"""``trivium topic create|delete|alter|records``: what changes topics."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import click

from trivium.cli.connecting import (
    broker_option,
    confirm,
    fail_if_refused,
    json_option,
    reach,
    succeeded,
)
from trivium.cli.output import printable, write_json, writing
from trivium.cli.starting_point import StartingPoint, starting_point
from trivium.client.admin_configs import Resource, ResourceType, alter_configs
from trivium.client.admin_topics import (
    BROKER_DEFAULT,
    NewTopic,
    add_partitions,
    create_topics,
    delete_topics,
)
from trivium.client.cluster import Cluster
from trivium.client.errors import Refused, settled
from trivium.client.offsets import delete_records, offset_ranges
from trivium.client.topology import TopicPartition
from trivium.messages.errors import ErrorCode
from trivium.wire.uuid_text import uuid_to_text

yes_option = click.option("--yes", "-y", "is_sure", is_flag=True, help="Do not ask.")


@dataclass(frozen=True, slots=True)
class CreatedRow:
    topic: str
    topic_id: str
    partitions: int
    replicas: int


@dataclass(frozen=True, slots=True)
class OffsetsRow:
    partition: int
    start: int
    end: int
    records: int


def _settings(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """NAME=VALUE, as often as it is given."""
    settings = {}
    for value in values:
        name, sign, setting = value.partition("=")
        if not sign or not name:
            raise click.BadParameter(
                f"'{value}' is no setting; write NAME=VALUE, such as retention.ms=86400000."
            )
        settings[name] = setting
    return settings


@click.command()
@click.argument("topics", nargs=-1, required=True, metavar="TOPIC...")
@click.option(
    "--partitions", "-p", type=click.IntRange(1), metavar="N", help="As the broker has it, unless given."
)
@click.option("--replicas", type=click.IntRange(1, 32767), metavar="N", help="The same.")
@click.option(
    "--config", "-c", "settings", multiple=True, callback=_settings, metavar="NAME=VALUE", help="A setting."
)
@click.option("--if-not-exists", is_flag=True, help="A topic that exists is no error.")
@click.option("--dry-run", is_flag=True, help="Only check whether it could be done.")
@broker_option
@json_option
def create(
    topics: tuple[str, ...],
    partitions: int | None,
    replicas: int | None,
    settings: dict[str, str],
    if_not_exists: bool,
    dry_run: bool,
    bootstrap: str,
    as_json: bool,
) -> None:
    """Create topics.

    \b
    Examples:
      trivium topic create orders
      trivium topic create orders payments --partitions 6 --config retention.ms=86400000
    """
    wanted = [
        NewTopic(name, partitions or BROKER_DEFAULT, replicas or BROKER_DEFAULT, settings)
        for name in dict.fromkeys(topics)
    ]
    with reach(bootstrap) as cluster:
        outcomes = create_topics(cluster, wanted, validate_only=dry_run)
        rows = [
            CreatedRow(name, uuid_to_text(made.topic_id), made.partitions, made.replication_factor)
            for name, made in succeeded(outcomes).items()
        ]
        _report(
            {"created": rows, "dry_run": dry_run},
            [
                f"{'Could create' if dry_run else 'Created'} {row.topic}: "
                f"{_count(row.partitions, 'partition')}, {_count(row.replicas, 'replica')}."
                for row in rows
            ],
            as_json,
        )
        allowed = ErrorCode.TOPIC_ALREADY_EXISTS if if_not_exists else None
        fail_if_refused(_without(outcomes, allowed))


@click.command()
@click.argument("topics", nargs=-1, required=True, metavar="TOPIC...")
@click.option("--if-exists", is_flag=True, help="A topic that does not exist is no error.")
@yes_option
@broker_option
@json_option
def delete(topics: tuple[str, ...], if_exists: bool, is_sure: bool, bootstrap: str, as_json: bool) -> None:
    """Delete topics with all their records.

    \b
    Examples:
      trivium topic delete orders
      trivium topic delete orders payments --yes
    """
    names = list(dict.fromkeys(topics))
    with reach(bootstrap) as cluster:
        confirm(f"Delete {', '.join(names)} with all records?", is_sure)
        outcomes = delete_topics(cluster, names)
        deleted = sorted(succeeded(outcomes))
        _report({"deleted": deleted}, [f"Deleted {name}." for name in deleted], as_json)
        allowed = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if if_exists else None
        fail_if_refused(_without(outcomes, allowed))


@click.command()
@click.argument("topic")
@click.option(
    "--partitions", "-p", type=click.IntRange(1), metavar="N", help="How many it shall have in total."
)
@click.option(
    "--set", "-s", "settings", multiple=True, callback=_settings, metavar="NAME=VALUE", help="Set a setting."
)
@click.option("--unset", "-u", multiple=True, metavar="NAME", help="Let a setting be the default again.")
@click.option("--dry-run", is_flag=True, help="Only check whether it could be done.")
@broker_option
@json_option
def alter(
    topic: str,
    partitions: int | None,
    settings: dict[str, str],
    unset: tuple[str, ...],
    dry_run: bool,
    bootstrap: str,
    as_json: bool,
) -> None:
    """Give a topic more partitions, or other settings.

    \b
    Examples:
      trivium topic alter orders --partitions 6
      trivium topic alter orders --set retention.ms=86400000 --unset segment.bytes
    """
    changes: dict[str, str | None] = {**settings, **dict.fromkeys(unset)}
    if partitions is None and not changes:
        raise click.UsageError("Say what to change: --partitions, --set or --unset.")
    with reach(bootstrap) as cluster:
        if changes:
            resource = Resource(ResourceType.TOPIC, topic)
            settled(alter_configs(cluster, {resource: changes}, validate_only=dry_run)[resource])
        if partitions is not None:
            settled(add_partitions(cluster, {topic: partitions}, validate_only=dry_run)[topic])
    done = f"{printable(topic)} {'could be' if dry_run else 'is'} changed."
    _report(
        {"topic": topic, "partitions": partitions, "settings": changes, "dry_run": dry_run}, [done], as_json
    )


@click.command()
@click.argument("topic")
@click.option(
    "--partition",
    "-p",
    "partitions",
    type=click.IntRange(0),
    multiple=True,
    metavar="N",
    help="Only this one.",
)
@click.option(
    "--delete-before",
    callback=starting_point,
    metavar="POINT",
    help="Delete what lies before: an offset, a time such as 2025-06-15, how long ago such as 7d, or latest.",
)
@yes_option
@broker_option
@json_option
def records(
    topic: str,
    partitions: tuple[int, ...],
    delete_before: StartingPoint | None,
    is_sure: bool,
    bootstrap: str,
    as_json: bool,
) -> None:
    """Show which offsets a topic has, or delete its oldest records.

    \b
    Examples:
      trivium topic records orders
      trivium topic records orders --delete-before 7d
      trivium topic records orders --partition 0 --delete-before 1000
      trivium topic records orders --delete-before latest --yes
    """
    with reach(bootstrap) as cluster:
        keys = chosen_partitions(cluster, topic, partitions)
        if delete_before is not None:
            offsets = delete_before.resolve(cluster, keys)
            confirm(f"Delete the oldest records of {topic}?", is_sure)
            fail_if_refused(delete_records(cluster, offsets))
        rows = [
            OffsetsRow(key.partition, start, end, end - start)
            for key, (start, end) in sorted(offset_ranges(cluster, keys).items())
        ]
    if as_json:
        write_json({"topic": topic, "partitions": rows})
        return
    from trivium.cli.tables import show_table

    show_table(printable(topic), rows)


def chosen_partitions(cluster: Cluster, topic: str, partitions: Iterable[int]) -> list[TopicPartition]:
    """These partitions of a topic, or all; one that it does not have is an error."""
    keys = cluster.topic(topic).partition_keys()
    chosen = [TopicPartition(topic, partition) for partition in dict.fromkeys(partitions)]
    for key in chosen:
        cluster.leader(key)
    return chosen or keys


def _report(facts: Mapping[str, Any], lines: Iterable[str], as_json: bool) -> None:
    if as_json:
        write_json(facts)
        return
    with writing():
        for line in lines:
            click.echo(printable(line))


def _without(outcomes: Mapping[str, object], allowed: ErrorCode | None) -> dict[str, object]:
    return {
        name: outcome
        for name, outcome in outcomes.items()
        if not (isinstance(outcome, Refused) and outcome.code is allowed)
    }


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
