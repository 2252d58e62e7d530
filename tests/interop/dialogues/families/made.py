"""A topic made at the beginning of a dialogue."""

from tests.interop.dialogues.step import Step

from trivium.messages.api.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest


def made(name: str, partitions: int = 1, **configs: str) -> Step:
    topic = CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=1,
        assignments=[],
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in configs.items()],
    )
    return Step(CreateTopicsRequest(topics=[topic], timeout_ms=10_000), 4)
