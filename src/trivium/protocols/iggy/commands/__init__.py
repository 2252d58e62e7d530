"""Which code is which command. All codes of Iggy 0.5 to 0.8 are served."""

from typing import Final

from trivium.protocols.iggy.code import Code
from trivium.protocols.iggy.commands import (
    groups,
    messages,
    offsets,
    partitions,
    polling,
    streams,
    system,
    tokens,
    topics,
    users,
)
from trivium.protocols.iggy.exchange import Handler

HANDLERS: Final[dict[int, Handler]] = {
    Code.PING: system.ping,
    Code.GET_STATS: system.get_stats,
    Code.GET_SNAPSHOT_FILE: system.get_snapshot_file,
    Code.GET_CLUSTER_METADATA: system.get_cluster_metadata,
    Code.GET_ME: system.get_me,
    Code.GET_CLIENT: system.get_client,
    Code.GET_CLIENTS: system.get_clients,
    Code.GET_USER: users.get_user,
    Code.GET_USERS: users.get_users,
    Code.CREATE_USER: users.create_user,
    Code.DELETE_USER: users.delete_user,
    Code.UPDATE_USER: users.update_user,
    Code.UPDATE_PERMISSIONS: users.update_permissions,
    Code.CHANGE_PASSWORD: users.change_password,
    Code.LOGIN_USER: users.login_user,
    Code.LOGOUT_USER: users.logout_user,
    Code.GET_PERSONAL_ACCESS_TOKENS: tokens.get_tokens,
    Code.CREATE_PERSONAL_ACCESS_TOKEN: tokens.create_token,
    Code.DELETE_PERSONAL_ACCESS_TOKEN: tokens.delete_token,
    Code.LOGIN_WITH_PERSONAL_ACCESS_TOKEN: tokens.login_with_token,
    Code.POLL_MESSAGES: polling.poll_messages,
    Code.SEND_MESSAGES: messages.send_messages,
    Code.FLUSH_UNSAVED_BUFFER: messages.flush_unsaved_buffer,
    Code.GET_CONSUMER_OFFSET: offsets.get_consumer_offset,
    Code.STORE_CONSUMER_OFFSET: offsets.store_consumer_offset,
    Code.DELETE_CONSUMER_OFFSET: offsets.delete_consumer_offset,
    Code.GET_STREAM: streams.get_stream,
    Code.GET_STREAMS: streams.get_streams,
    Code.CREATE_STREAM: streams.create_stream,
    Code.DELETE_STREAM: streams.delete_stream,
    Code.UPDATE_STREAM: streams.update_stream,
    Code.PURGE_STREAM: streams.purge_stream,
    Code.GET_TOPIC: topics.get_topic,
    Code.GET_TOPICS: topics.get_topics,
    Code.CREATE_TOPIC: topics.create_topic,
    Code.DELETE_TOPIC: topics.delete_topic,
    Code.UPDATE_TOPIC: topics.update_topic,
    Code.PURGE_TOPIC: topics.purge_topic,
    Code.CREATE_PARTITIONS: partitions.create_partitions,
    Code.DELETE_PARTITIONS: partitions.delete_partitions,
    Code.DELETE_SEGMENTS: partitions.delete_segments,
    Code.GET_CONSUMER_GROUP: groups.get_group,
    Code.GET_CONSUMER_GROUPS: groups.get_groups,
    Code.CREATE_CONSUMER_GROUP: groups.create_group,
    Code.DELETE_CONSUMER_GROUP: groups.delete_group,
    Code.JOIN_CONSUMER_GROUP: groups.join_group,
    Code.LEAVE_CONSUMER_GROUP: groups.leave_group,
}

OPEN_TO_ALL: Final = frozenset((Code.PING, Code.LOGIN_USER, Code.LOGIN_WITH_PERSONAL_ACCESS_TOKEN))
"""What somebody may ask who has not logged in."""
