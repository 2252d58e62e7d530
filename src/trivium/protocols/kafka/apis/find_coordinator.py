"""FindCoordinator (key 10): which broker looks after a group or a transactional id (mission 003.26).

Served: 0-6.
0   groups only
1   key_type: 1 asks for a transactional id (KIP-98)
3   flexible
4   several keys in one request, each with its own error (KIP-699)
5   TRANSACTION_ABORTABLE may be said (KIP-890)
6   key_type 2 asks for a share partition (KIP-932)
"""

from typing import Final

from trivium.core.commands.groups import CoordinatorKind, FindCoordinators, FoundCoordinator
from trivium.messages.api import ApiKey
from trivium.messages.api.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from trivium.messages.errors import ErrorCode
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of

_KINDS: Final = {
    0: CoordinatorKind.GROUP,
    1: CoordinatorKind.TRANSACTION,
    2: CoordinatorKind.SHARE_PARTITION,
}
_SEVERAL_SINCE: Final = 4
_SHARE_SINCE: Final = 6
_NO_NODE: Final = (-1, "", -1)


def to_command(request: FindCoordinatorRequest, call: Call) -> FindCoordinators | FindCoordinatorResponse:
    keys = request.coordinator_keys if call.version >= _SEVERAL_SINCE else [request.key]
    kind = _KINDS.get(request.key_type)
    if kind is None or (kind is CoordinatorKind.SHARE_PARTITION and call.version < _SHARE_SINCE):
        message = f"Nothing of kind {request.key_type} has a coordinator."
        refused = [_coordinator(key, _NO_NODE, ErrorCode.INVALID_REQUEST, message) for key in keys]
        return _response(refused, call)
    return FindCoordinators(kind, keys)


def to_response(results: list[FoundCoordinator], call: Call) -> FindCoordinatorResponse:
    coordinators = []
    for found in results:
        node = _NO_NODE if found.node is None else (found.node.node_id, *call.endpoint(found.node))
        coordinators.append(_coordinator(found.key, node, code_of(found.fault), found.message))
    return _response(coordinators, call)


def _coordinator(key: str, node: tuple[int, str, int], code: int, message: str | None) -> Coordinator:
    node_id, host, port = node
    return Coordinator(
        key=key, node_id=node_id, host=host, port=port, error_code=code, error_message=message or ""
    )


def _response(coordinators: list[Coordinator], call: Call) -> FindCoordinatorResponse:
    if call.version >= _SEVERAL_SINCE:
        return FindCoordinatorResponse(coordinators=coordinators)
    only = coordinators[0]
    return FindCoordinatorResponse(
        error_code=only.error_code,
        # Kafka says NONE in so many letters where nothing is wrong.
        error_message=only.error_message or ErrorCode(only.error_code).name,
        node_id=only.node_id,
        host=only.host,
        port=only.port,
    )


API = Api(ApiKey.FIND_COORDINATOR, 0, 6, to_command, to_response)
