"""``trivium group``: who reads what, how far they are behind, and moving them."""

from collections.abc import Iterable
from dataclasses import dataclass

import click

from trivium.cli.connecting import (
    broker_option,
    confirm,
    fail_if_refused,
    json_option,
    reach,
    succeeded,
)
from trivium.cli.group_survey import existing, move, places_of, survey
from trivium.cli.output import printable, write_json, writing
from trivium.cli.starting_point import StartingPoint, starting_point
from trivium.cli.topic_changes import chosen_partitions, yes_option
from trivium.client.admin_groups import delete_groups, list_groups
from trivium.client.cluster import Cluster
from trivium.client.errors import ClientError, Refused
from trivium.client.topology import TopicPartition
from trivium.messages.errors import ErrorCode


@dataclass(frozen=True, slots=True)
class GroupRow:
    group: str
    state: str
    type: str
    protocol: str


@dataclass(frozen=True, slots=True)
class ResetRow:
    topic: str
    partition: int
    before: int | None
    after: int


@click.group("group")
def command() -> None:
    """List, describe, reset and delete groups, consumer and share groups alike.

    \b
    Examples:
      trivium group list
      trivium group describe billing
      trivium group reset billing --topic orders --to earliest --dry-run
      trivium group delete billing
    """


@command.command("list")
@broker_option
@json_option
def list_all(bootstrap: str, as_json: bool) -> None:
    """List all groups and their states.

    \b
    Examples:
      trivium group list
      trivium group list --json | jq -r '.groups[] | select(.state == "Empty") | .group'
    """
    with reach(bootstrap) as cluster:
        rows = [
            GroupRow(group.group_id, group.state, group.group_type, group.protocol_type)
            for group in list_groups(cluster)
        ]
    if as_json:
        write_json({"groups": rows})
    elif rows:
        from trivium.cli.tables import show_table

        show_table("groups", rows)
    else:
        with writing():
            click.echo(
                "There are no groups yet, or none that you may see; "
                "'trivium consume TOPIC --group NAME' makes one."
            )


@command.command()
@click.argument("groups", nargs=-1, required=True, metavar="GROUP...")
@broker_option
@json_option
def describe(groups: tuple[str, ...], bootstrap: str, as_json: bool) -> None:
    """Show the members of groups, what each reads, and how far it is behind.

    \b
    Examples:
      trivium group describe billing
      trivium group describe billing --json | jq '[.groups[].partitions[].lag] | add'
    """
    with reach(bootstrap) as cluster:
        facts = [survey(cluster, group_id) for group_id in dict.fromkeys(groups)]
    if as_json:
        write_json({"groups": facts})
        return
    from trivium.cli.tables import show_table

    for each in facts:
        with writing():
            click.echo(
                printable(
                    f"{each['group']}  {each['state']}, {each['type']}, members {each['members']}, "
                    f"coordinated by broker {each['coordinator']}"
                )
            )
        show_table("partitions", each["partitions"])


@command.command()
@click.argument("group")
@click.option(
    "--topic", "-t", "topics", multiple=True, metavar="TOPIC", help="Which topic; as often as needed."
)
@click.option("--all-topics", is_flag=True, help="Every topic that the group has read.")
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
    "--to",
    "point",
    required=True,
    callback=starting_point,
    metavar="POINT",
    help="earliest, latest, an offset, -N for N before the end, a time such as 2025-06-15T10:30 (UTC), or "
    "how long ago, such as 15m.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@broker_option
@json_option
def reset(
    group: str,
    topics: tuple[str, ...],
    all_topics: bool,
    partitions: tuple[int, ...],
    point: StartingPoint,
    dry_run: bool,
    bootstrap: str,
    as_json: bool,
) -> None:
    """Set where a group goes on reading. Its members must be stopped.

    \b
    Examples:
      trivium group reset billing --topic orders --to earliest
      trivium group reset billing --all-topics --to 2025-06-15T10:30 --dry-run
      trivium group reset billing --topic orders --partition 0 --to 1000
    """
    if bool(topics) == all_topics:
        raise click.UsageError("Say which topics: --topic, or --all-topics.")
    if partitions and len(topics) != 1:
        raise click.UsageError("--partition goes with one --topic.")
    with reach(bootstrap) as cluster:
        before = places_of(cluster, group)
        keys = _keys_to_reset(cluster, group, before, topics, partitions)
        after = point.resolve(cluster, keys)
        if not dry_run:
            move(cluster, group, after)
    rows = [
        ResetRow(key.topic, key.partition, before.get(key), offset) for key, offset in sorted(after.items())
    ]
    if as_json:
        write_json({"group": group, "dry_run": dry_run, "partitions": rows})
        return
    from trivium.cli.tables import show_table

    show_table(printable(f"{group}{' would go on' if dry_run else ' goes on'} from"), rows)


@command.command()
@click.argument("groups", nargs=-1, required=True, metavar="GROUP...")
@click.option("--if-exists", is_flag=True, help="A group that does not exist is no error.")
@yes_option
@broker_option
@json_option
def delete(groups: tuple[str, ...], if_exists: bool, is_sure: bool, bootstrap: str, as_json: bool) -> None:
    """Delete groups and all that they remember. Their members must be stopped.

    \b
    Examples:
      trivium group delete billing
      trivium group delete billing audit --yes
    """
    names = list(dict.fromkeys(groups))
    with reach(bootstrap) as cluster:
        confirm(f"Delete {', '.join(names)} with the offsets?", is_sure)
        outcomes = delete_groups(cluster, names)
        deleted = sorted(succeeded(outcomes))
        if as_json:
            write_json({"deleted": deleted})
        else:
            with writing():
                for name in deleted:
                    click.echo(printable(f"Deleted {name}."))
        fail_if_refused(
            {name: outcome for name, outcome in outcomes.items() if not (if_exists and _is_missing(outcome))}
        )


def _keys_to_reset(
    cluster: Cluster,
    group: str,
    committed: Iterable[TopicPartition],
    topics: tuple[str, ...],
    partitions: tuple[int, ...],
) -> list[TopicPartition]:
    if topics:
        return [
            key for topic in dict.fromkeys(topics) for key in chosen_partitions(cluster, topic, partitions)
        ]
    keys = existing(cluster, sorted(committed))
    if not keys:
        raise ClientError(f"Group {group} has read nothing yet; say of which topic with --topic.")
    return keys


def _is_missing(outcome: Refused | None) -> bool:
    return outcome is not None and outcome.code is ErrorCode.GROUP_ID_NOT_FOUND
