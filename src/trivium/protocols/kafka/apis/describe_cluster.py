"""DescribeCluster (key 60): brokers and controller of the cluster.

Served: 0-2. Who asks for controllers is told that this is the door of brokers (KIP-919).
"""

from typing import Final

from trivium.core.commands.cluster import DescribeCluster, DescribedCluster
from trivium.messages.api import ApiKey
from trivium.messages.api.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from trivium.messages.errors import ErrorCode
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.operations import bits_of

_BROKERS: Final = 1
_CONTROLLERS: Final = 2


def to_command(request: DescribeClusterRequest, call: Call) -> DescribeCluster | DescribeClusterResponse:
    if request.endpoint_type == _CONTROLLERS:
        return _refused(
            ErrorCode.MISMATCHED_ENDPOINT_TYPE,
            "The request was sent to an endpoint of type BROKER, "
            "but we wanted an endpoint of type CONTROLLER",
        )
    if request.endpoint_type != _BROKERS:
        return _refused(
            ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, f"Unsupported endpoint type {request.endpoint_type}"
        )
    return DescribeCluster(
        with_operations=request.include_cluster_authorized_operations,
        with_fenced=request.include_fenced_brokers,
    )


def _refused(code: ErrorCode, message: str) -> DescribeClusterResponse:
    return DescribeClusterResponse(
        throttle_time_ms=0, error_code=code, error_message=message, cluster_id="", brokers=[]
    )


def to_response(result: DescribedCluster, call: Call) -> DescribeClusterResponse:
    brokers = []
    for node in result.nodes:
        host, port = call.endpoint(node)
        brokers.append(
            DescribeClusterBroker(
                broker_id=node.node_id, host=host, port=port, rack=node.rack, is_fenced=node.is_fenced
            )
        )
    return DescribeClusterResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        cluster_id=result.cluster_id,
        controller_id=result.controller_id,
        brokers=brokers,
        cluster_authorized_operations=bits_of(result.operations),
    )


API = Api(ApiKey.DESCRIBE_CLUSTER, 0, 2, to_command, to_response)
