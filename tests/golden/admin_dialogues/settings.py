"""Settings of topics, brokers, groups and loggers: changed, and read."""

from tests.golden.admin_dialogues.wording import (
    APPEND,
    BROKER,
    BROKER_LOGGER,
    CLIENT_METRICS,
    DELETE,
    GROUP,
    SET,
    SUBTRACT,
    TOPIC,
    create,
    new,
)
from tests.golden.admin_player import Ask

from trivium.messages.api.alter_configs import AlterableConfig as ReplacedConfig
from trivium.messages.api.alter_configs import AlterConfigsRequest
from trivium.messages.api.alter_configs import AlterConfigsResource as ReplacedResource
from trivium.messages.api.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from trivium.messages.api.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from trivium.messages.api.list_config_resources import ListConfigResourcesRequest


def changes(ask: Ask) -> None:
    """Changing settings."""
    ask("made", create(new("a", configs={"retention.ms": "60000"})), 7)

    def alter(
        label: str,
        resource_type: int,
        name: str,
        *operations: tuple[str, int, str | None],
        validate_only: bool = False,
        version: int = 1,
    ) -> None:
        request = IncrementalAlterConfigsRequest(
            resources=[
                AlterConfigsResource(
                    resource_type=resource_type,
                    resource_name=name,
                    configs=[
                        AlterableConfig(name=key, config_operation=operation, value=value)
                        for key, operation, value in operations
                    ],
                )
            ],
            validate_only=validate_only,
        )
        ask(label, request, version)

    def look(label: str, resource_type: int, name: str, *keys: str, version: int = 4) -> None:
        request = DescribeConfigsRequest(
            resources=[
                DescribeConfigsResource(
                    resource_type=resource_type, resource_name=name, configuration_keys=list(keys)
                )
            ],
            include_synonyms=version > 0,
        )
        ask(label, request, version)

    alter(
        "set", TOPIC, "a", ("segment.ms", SET, "5000"), ("min.cleanable.dirty.ratio", SET, ".50"), version=0
    )
    look("after set", TOPIC, "a", "segment.ms", "min.cleanable.dirty.ratio", "retention.ms")
    alter("delete", TOPIC, "a", ("retention.ms", DELETE, None))
    look("after delete", TOPIC, "a", "retention.ms")
    alter("delete what is not set", TOPIC, "a", ("flush.ms", DELETE, None))
    alter("append", TOPIC, "a", ("cleanup.policy", APPEND, "compact"))
    look("after append", TOPIC, "a", "cleanup.policy")
    alter("append again", TOPIC, "a", ("cleanup.policy", APPEND, "compact"))
    alter("subtract", TOPIC, "a", ("cleanup.policy", SUBTRACT, "delete"))
    look("after subtract", TOPIC, "a", "cleanup.policy")
    alter("subtract the last", TOPIC, "a", ("cleanup.policy", SUBTRACT, "compact"))
    look("after subtracting the last", TOPIC, "a", "cleanup.policy")
    alter("append to a number", TOPIC, "a", ("segment.ms", APPEND, "1"))
    alter("subtract from a number", TOPIC, "a", ("segment.ms", SUBTRACT, "1"))
    alter("append nonsense", TOPIC, "a", ("cleanup.policy", APPEND, "shred"))
    alter("set to nothing", TOPIC, "a", ("segment.ms", SET, None))
    alter("set unknown", TOPIC, "a", ("no.such", SET, "1"))
    alter("delete unknown", TOPIC, "a", ("no.such", DELETE, None))
    alter("append to unknown", TOPIC, "a", ("no.such", APPEND, "1"))
    alter("set wrong", TOPIC, "a", ("segment.ms", SET, "0"))
    alter("set wrong, only checked", TOPIC, "a", ("segment.ms", SET, "x"), validate_only=True)
    alter("set, only checked", TOPIC, "a", ("segment.ms", SET, "77"), validate_only=True)
    look("after checks", TOPIC, "a", "segment.ms")
    alter("one right, one wrong", TOPIC, "a", ("flush.ms", SET, "10"), ("segment.ms", SET, "x"))
    look("after one wrong", TOPIC, "a", "flush.ms", "segment.ms")
    alter("a key twice", TOPIC, "a", ("flush.ms", SET, "10"), ("flush.ms", SET, "11"))
    alter(
        "wrong together", TOPIC, "a", ("min.compaction.lag.ms", SET, "9"), ("max.compaction.lag.ms", SET, "5")
    )
    alter("unknown topic", TOPIC, "unknown", ("segment.ms", SET, "5"))
    alter("impossible topic", TOPIC, "a b", ("segment.ms", SET, "5"))
    alter("no topic", TOPIC, "", ("segment.ms", SET, "5"))
    alter("no kind of resource", 99, "a", ("segment.ms", SET, "5"))

    alter("broker", BROKER, "1", ("log.retention.ms", SET, "7000000"))
    alter(
        "all brokers", BROKER, "", ("log.retention.ms", SET, "8000000"), ("message.max.bytes", SET, "2000000")
    )
    look("topic below brokers", TOPIC, "a", "retention.ms", "max.message.bytes", "segment.ms")
    look("broker after both", BROKER, "1", "log.retention.ms", "message.max.bytes", "log.retention.hours")
    look("all brokers after both", BROKER, "", "log.retention.ms", "message.max.bytes", "log.segment.bytes")
    alter("broker, wrong value", BROKER, "1", ("log.retention.ms", SET, "soon"))
    alter("broker, out of range", BROKER, "1", ("log.cleaner.threads", SET, "-1"))
    alter("broker, read-only", BROKER, "1", ("broker.rack", SET, "r1"))
    alter("broker, read-only for all", BROKER, "", ("node.id", SET, "5"))
    alter("all brokers, per broker only", BROKER, "", ("listeners", SET, "PLAINTEXT://:1"))
    alter("broker, unknown setting", BROKER, "1", ("no.such", SET, "1"))
    alter("broker, unknown setting for all", BROKER, "", ("no.such", SET, "1"))
    alter("other broker", BROKER, "2", ("log.retention.ms", SET, "1"))
    alter("no broker", BROKER, "one", ("log.retention.ms", SET, "1"))
    alter("broker, append", BROKER, "1", ("log.cleanup.policy", APPEND, "compact"))
    alter("broker, append to a number", BROKER, "1", ("log.retention.ms", APPEND, "1"))
    alter("broker, set to nothing", BROKER, "1", ("log.retention.ms", SET, None))
    alter(
        "broker, delete",
        BROKER,
        "1",
        ("log.retention.ms", DELETE, None),
        ("log.cleanup.policy", DELETE, None),
    )
    look("broker after delete", BROKER, "1", "log.retention.ms", "log.cleanup.policy")
    alter(
        "all brokers, delete",
        BROKER,
        "",
        ("log.retention.ms", DELETE, None),
        ("message.max.bytes", DELETE, None),
    )
    look("all brokers after delete", BROKER, "", "log.retention.ms")
    alter("broker, only checked", BROKER, "1", ("log.segment.bytes", SET, "10"), validate_only=True)

    alter("group", GROUP, "g", ("consumer.session.timeout.ms", SET, "50000"))
    look("group after set", GROUP, "g", "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms")
    alter("group, out of bounds", GROUP, "g", ("consumer.session.timeout.ms", SET, "5"))
    alter("group, unknown setting", GROUP, "g", ("no.such", SET, "5"))
    alter("group without name", GROUP, "", ("consumer.session.timeout.ms", SET, "50000"))
    alter("group, delete", GROUP, "g", ("consumer.session.timeout.ms", DELETE, None))
    alter(
        "subscription",
        CLIENT_METRICS,
        "s",
        ("interval.ms", SET, "5000"),
        ("metrics", SET, "org.apache.kafka."),
    )
    look("subscription after set", CLIENT_METRICS, "s")
    alter("subscription, wrong", CLIENT_METRICS, "s", ("interval.ms", SET, "5"))
    alter("subscription, wrong match", CLIENT_METRICS, "s", ("match", SET, "nonsense"))
    alter("subscription, unknown match", CLIENT_METRICS, "s", ("match", SET, "a=b"))
    alter("subscription, match", CLIENT_METRICS, "s", ("match", SET, "client_id=x.*"))
    alter("subscription, unknown setting", CLIENT_METRICS, "s", ("no.such", SET, "5"))
    alter("subscription without name", CLIENT_METRICS, "", ("interval.ms", SET, "5000"))

    def resources(label: str, types: list[int], version: int = 1) -> None:
        ask(label, ListConfigResourcesRequest(resource_types=types), version)

    alter("another group", GROUP, "h", ("consumer.session.timeout.ms", SET, "50000"))
    resources("resources", [])
    resources("resources of topics and groups", [TOPIC, GROUP])
    resources("resources of brokers", [BROKER, BROKER_LOGGER])
    resources("resources of subscriptions", [CLIENT_METRICS])
    resources("resources, first version", [], 0)
    resources("resources of no kind", [3])

    def replace(
        label: str,
        resource_type: int,
        name: str,
        configs: dict[str, str | None],
        *,
        validate_only: bool = False,
        version: int = 2,
    ) -> None:
        request = AlterConfigsRequest(
            resources=[
                ReplacedResource(
                    resource_type=resource_type,
                    resource_name=name,
                    configs=[ReplacedConfig(name=key, value=value) for key, value in configs.items()],
                )
            ],
            validate_only=validate_only,
        )
        ask(label, request, version)

    replace("replaced", TOPIC, "a", {"retention.ms": "9"}, version=0)
    look("after replacing", TOPIC, "a", "retention.ms", "segment.ms", "min.cleanable.dirty.ratio")
    replace("replaced, only checked", TOPIC, "a", {}, validate_only=True)
    look("after checked replacing", TOPIC, "a", "retention.ms")
    replace("replaced, wrong", TOPIC, "a", {"retention.ms": "x"})
    replace("replaced, unknown setting", TOPIC, "a", {"no.such": "x"})
    replace("replaced by nothing", TOPIC, "a", {"retention.ms": None})
    replace("replaced of unknown topic", TOPIC, "unknown", {"retention.ms": "9"})
    replace("replaced of a broker, read-only", BROKER, "1", {"node.id": "9"})
    replace("replaced of other broker", BROKER, "2", {"log.retention.ms": "9"})
    replace("replaced of a logger", BROKER_LOGGER, "1", {"root": "INFO"})
    replace("replaced of a group", GROUP, "h", {})
    replace("replaced of no kind", 99, "h", {})
    ask(
        "a resource twice",
        IncrementalAlterConfigsRequest(
            resources=[
                AlterConfigsResource(
                    resource_type=TOPIC,
                    resource_name="a",
                    configs=[AlterableConfig(name="flush.ms", config_operation=SET, value=value)],
                )
                for value in ("1", "2")
            ],
            validate_only=False,
        ),
        1,
    )


def settings(ask: Ask) -> None:
    """Reading settings: everything, and what is asked for."""
    ask("made", create(new("a", configs={"retention.ms": "60000"})), 7)

    def look(
        label: str, resource_type: int, name: str, keys: list[str] | None = None, version: int = 4
    ) -> None:
        request = DescribeConfigsRequest(
            resources=[
                DescribeConfigsResource(
                    resource_type=resource_type, resource_name=name, configuration_keys=keys
                )
            ],
            include_synonyms=version > 0,
        )
        ask(label, request, version)

    look("topic", TOPIC, "a")
    look("topic, first version", TOPIC, "a", version=1)
    look("one setting", TOPIC, "a", ["retention.ms"])
    look("one that there is not", TOPIC, "a", ["no.such"])
    look("unknown topic", TOPIC, "unknown")
    look("impossible topic", TOPIC, "a b")
    look("no topic", TOPIC, "")
    look("some of the broker", BROKER, "1", ["log.segment.bytes", "num.partitions", "ssl.key.password"])
    look("other broker", BROKER, "2", ["num.partitions"])
    look("no broker", BROKER, "one")
    look("all brokers", BROKER, "")
    look("group", GROUP, "g")
    look("no group", GROUP, "")
    look("subscription", CLIENT_METRICS, "s")
    look("no subscription", CLIENT_METRICS, "")
    look("other logger", BROKER_LOGGER, "2")
    look("no logger", BROKER_LOGGER, "")
