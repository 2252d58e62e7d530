"""CreateTopics (key 19): make topics.

Served: 0-7. From version 5 on the answer tells the settings of the topic, unless the client may not know
them: then ``topic_config_error_code`` says that (KIP-525). From version 6 on a client knows that it has made
too many partitions, and is refused (KIP-599); an older one is made to wait.
"""

from typing import Final

from trivium.core.commands.topics import CreatedTopic, CreateTopics, NewTopic
from trivium.core.config.description import Entry
from trivium.messages.api import ApiKey
from trivium.messages.api.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from trivium.messages.errors import ErrorCode
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of

_QUOTA_ERROR_SINCE: Final = 6


def to_command(request: CreateTopicsRequest, call: Call) -> CreateTopics:
    return CreateTopics(
        [_new(topic) for topic in request.topics],
        request.validate_only,
        request.timeout_ms,
        refuses_debtors=call.version >= _QUOTA_ERROR_SINCE,
    )


def _new(topic: CreatableTopic) -> NewTopic:
    return NewTopic(
        topic.name,
        topic.num_partitions,
        topic.replication_factor,
        {config.name: config.value for config in topic.configs},
        [(each.partition_index, each.broker_ids) for each in topic.assignments],
    )


def to_response(results: list[CreatedTopic], call: Call) -> CreateTopicsResponse:
    return CreateTopicsResponse(topics=[_result(topic) for topic in results])


def _result(topic: CreatedTopic) -> CreatableTopicResult:
    result = CreatableTopicResult(
        name=topic.name,
        topic_id=topic.topic_id,
        error_code=code_of(topic.fault),
        error_message=topic.message,
    )
    if topic.configs is not None:
        result.num_partitions = topic.partitions
        result.replication_factor = topic.replication_factor
        result.configs = [_config(entry) for entry in topic.configs]
    elif topic.fault is None:
        result.topic_config_error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    return result


def _config(entry: Entry) -> CreatableTopicConfigs:
    return CreatableTopicConfigs(
        name=entry.name,
        value=entry.value,
        read_only=entry.definition.is_read_only,
        config_source=entry.source,
        is_sensitive=entry.definition.is_sensitive,
    )


API = Api(ApiKey.CREATE_TOPICS, 0, 7, to_command, to_response)
