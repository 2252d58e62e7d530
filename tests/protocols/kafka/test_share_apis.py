"""ShareFetch and ShareAcknowledge on the wire (KIP-932)."""

import pytest

from tests.core.groups.share.sharing import Sharing
from tests.protocols.kafka.conversation import Conversation, protocol_of
from trivium.messages.api.share_acknowledge import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
)
from trivium.messages.api.share_fetch import FetchPartition, FetchTopic, ShareFetchRequest, ShareFetchResponse
from trivium.messages.errors import ErrorCode

MEMBER_ID = "AAAAAAAAAAAAAAAAAAAAAA"
UNHEARD = b"u" * 16


@pytest.mark.parametrize("version", [1, 2])
def test_refused_partition_names_no_leader(version: int) -> None:
    """franz-go would ask the node of that number from now on, and read nothing more where there is none."""
    conversation = Conversation(protocol_of(Sharing().world))
    wanted = FetchPartition(partition_index=0, acknowledgement_batches=[])
    fetched = conversation.ask(
        ShareFetchRequest(
            group_id="g",
            member_id=MEMBER_ID,
            share_session_epoch=0,
            max_wait_ms=0,
            min_bytes=0,
            max_records=1,
            batch_size=1,
            topics=[FetchTopic(topic_id=UNHEARD, partitions=[wanted])],
            forgotten_topics_data=[],
        ),
        version,
        ShareFetchResponse,
    )
    refused = fetched.responses[0].partitions[0]
    assert refused.error_code == ErrorCode.UNKNOWN_TOPIC_ID
    assert (refused.current_leader.leader_id, refused.current_leader.leader_epoch) == (-1, -1)
    marks = AcknowledgementBatch(first_offset=0, last_offset=0, acknowledge_types=[1])
    part = AcknowledgePartition(partition_index=0, acknowledgement_batches=[marks])
    acknowledged = conversation.ask(
        ShareAcknowledgeRequest(
            group_id="g",
            member_id=MEMBER_ID,
            share_session_epoch=1,
            topics=[AcknowledgeTopic(topic_id=UNHEARD, partitions=[part])],
        ),
        version,
        ShareAcknowledgeResponse,
    )
    leader = acknowledged.responses[0].partitions[0].current_leader
    assert (leader.leader_id, leader.leader_epoch) == (-1, -1)
