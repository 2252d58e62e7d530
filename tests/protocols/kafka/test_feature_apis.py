"""Feature levels on the wire: ApiVersions lists them, UpdateFeatures changes them."""

import pytest

from tests.core.test_features import world_at
from tests.protocols.kafka.conversation import Conversation, protocol_of
from trivium.messages.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from trivium.messages.api.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from trivium.messages.errors import ErrorCode

INTRODUCTION = ApiVersionsRequest(client_software_name="client", client_software_version="1")


@pytest.mark.parametrize("version", range(5))
def test_levels_are_listed_since_version_3(version: int) -> None:
    answer = Conversation(protocol_of(world_at())).ask(INTRODUCTION, version, ApiVersionsResponse)
    finalized = {each.name: each.max_version_level for each in answer.finalized_features}
    supported = {each.name: (each.min_version, each.max_version) for each in answer.supported_features}
    if version < 3:
        assert (finalized, supported) == ({}, {})
        return
    assert finalized == {
        "metadata.version": 30,
        "group.version": 1,
        "share.version": 1,
        "transaction.version": 2,
    }
    assert answer.finalized_features_epoch >= 0
    # A feature whose lowest level is 0 has no words before version 4.
    assert supported["metadata.version"] == (7, 30)
    assert supported.get("transaction.version") == ((0, 2) if version >= 4 else None)


def lowering(version: int, level: int) -> UpdateFeaturesRequest:
    fields = {"upgrade_type": 2} if version >= 1 else {"allow_downgrade": True}
    return UpdateFeaturesRequest(
        feature_updates=[FeatureUpdateKey(feature="transaction.version", max_version_level=level, **fields)]
    )


@pytest.mark.parametrize("version", range(3))
def test_level_is_lowered_and_the_next_answer_says_so(version: int) -> None:
    conversation = Conversation(protocol_of(world_at()))
    answer = conversation.ask(lowering(version, 1), version, UpdateFeaturesResponse)
    assert answer.error_code == 0
    results = [(each.feature, each.error_code) for each in answer.results]
    assert results == ([("transaction.version", 0)] if version < 2 else [])
    listed = conversation.ask(INTRODUCTION, 4, ApiVersionsResponse)
    assert ("transaction.version", 1) in [
        (each.name, each.max_version_level) for each in listed.finalized_features
    ]


@pytest.mark.parametrize("version", range(3))
def test_level_that_cannot_be_had_is_told_why(version: int) -> None:
    conversation = Conversation(protocol_of(world_at()))
    answer = conversation.ask(lowering(version, 9), version, UpdateFeaturesResponse)
    assert answer.error_code == ErrorCode.INVALID_UPDATE_VERSION
    assert "transaction.version" in (answer.error_message or "")


def test_upgrade_type_that_nobody_knows_is_refused() -> None:
    update = FeatureUpdateKey(feature="transaction.version", max_version_level=1, upgrade_type=9)
    answer = Conversation(protocol_of(world_at())).ask(
        UpdateFeaturesRequest(feature_updates=[update]), 1, UpdateFeaturesResponse
    )
    assert answer.error_code == ErrorCode.INVALID_UPDATE_VERSION
