"""PING, GET_STATS, GET_SNAPSHOT_FILE, GET_CLUSTER_METADATA, GET_ME, GET_CLIENT, GET_CLIENTS.

Statistics are written as Iggy 0.8 has them for everybody: older clients stop reading before what is new.

    stats      process u32 | cpu f32 | machine's cpu f32 | memory, machine's memory, available u64 each
               | run time, start, read bytes, written bytes, size of messages u64 each
               | streams, topics, partitions, segments u32 each | messages u64 | clients, groups u32 each
               | host, operating system, its version, kernel, server version as long text
               | server version u32 | caches u32, none | threads u32 | disk free, disk total u64 each

    cluster    name | nodes u32 | per node: name, ip | ports of TCP, QUIC, HTTP, WebSocket u16 each
               | role u8 | status u8
"""

import struct
from typing import Final

from trivium.core.commands.clients import DescribeClient, DescribeMe, ListClients, MeasureNode
from trivium.core.commands.placement import DescribeDirectories
from trivium.protocols.iggy.body import Body
from trivium.protocols.iggy.commands.snapshot import SnapshotKind, kinds_wanted, snapshot
from trivium.protocols.iggy.exchange import EMPTY, Call, Exchange, ask
from trivium.protocols.iggy.layout import client, client_details, long_text
from trivium.protocols.iggy.status import Rejected, Status
from trivium.protocols.iggy.zip_archive import ZipCompression, zip_archive

SERVER_VERSION: Final = "0.8.0"
"""The Iggy server that this door behaves like; clients decide by it what they may ask."""
_SERVER_VERSION_NUMBER: Final = 8_000
"""Three decimal digits for each part of the version."""

_STATS: Final = struct.Struct("<IffQQQQQQQQIIIIQII")
_STATS_END: Final = struct.Struct("<IIIQQ")
_NO_CACHES: Final = 0

CLUSTER_NAME: Final = "single-node"
NODE_NAME: Final = "iggy-node"
"""Both as Iggy's own server says them."""
_NODE_END: Final = struct.Struct("<HHHHBB")
_LEADER: Final = 0
_HEALTHY: Final = 0
_NO_PORT: Final = 0


def ping(_body: Body, _call: Call) -> Exchange:
    return EMPTY
    yield


def get_stats(_body: Body, call: Call) -> Exchange:
    figures = yield from ask(MeasureNode())
    call.require(figures.fault)
    disks = yield from ask(DescribeDirectories(()))
    call.require(disks.fault)
    machine, log = figures.machine, figures.log
    texts = (
        machine.hostname,
        machine.os_name,
        machine.os_version,
        machine.kernel_version,
        SERVER_VERSION,
    )
    return b"".join(
        (
            _STATS.pack(
                machine.process_id,
                machine.cpu_percent,
                machine.machine_cpu_percent,
                machine.memory_bytes,
                machine.machine_memory_bytes,
                machine.available_memory_bytes,
                machine.run_time_us,
                machine.started_at_us,
                machine.read_bytes,
                machine.written_bytes,
                log.size_bytes,
                log.streams_count,
                log.topics_count,
                log.partitions_count,
                log.segments_count,
                log.messages_count,
                log.clients_count,
                log.groups_count,
            ),
            *map(long_text, texts),
            _STATS_END.pack(
                _SERVER_VERSION_NUMBER,
                _NO_CACHES,
                machine.threads_count,
                sum(each.usable_bytes for each in disks.directories if each.fault is None),
                sum(each.total_bytes for each in disks.directories if each.fault is None),
            ),
        )
    )


def get_snapshot_file(body: Body, call: Call) -> Exchange:
    try:
        compression = ZipCompression(body.uint8())
        kinds = kinds_wanted([SnapshotKind(each) for each in body.take(body.uint8())])
    except ValueError:
        raise Rejected(Status.INVALID_COMMAND) from None
    files = yield from snapshot(kinds, call)
    return zip_archive(files, compression)


def get_cluster_metadata(_body: Body, call: Call) -> Exchange:
    call.client.dialect.asked_for_cluster()
    host, port = call.client.here
    return (
        long_text(CLUSTER_NAME)
        + struct.pack("<I", 1)
        + long_text(NODE_NAME)
        + long_text(host)
        + _NODE_END.pack(port, _NO_PORT, _NO_PORT, _NO_PORT, _LEADER, _HEALTHY)
    )
    yield


def get_me(_body: Body, call: Call) -> Exchange:
    described = yield from ask(DescribeMe())
    call.require(described.fault)
    return EMPTY if described.client is None else client_details(described.client, call)


def get_client(body: Body, call: Call) -> Exchange:
    client_id = body.u32()
    described = yield from ask(DescribeClient(client_id))
    call.require_or_hide(described.fault)
    if described.fault is None and client_id == 0:
        raise Rejected(Status.INVALID_CLIENT_ID)
    return EMPTY if described.client is None else client_details(described.client, call)


def get_clients(_body: Body, call: Call) -> Exchange:
    listed = yield from ask(ListClients())
    call.require(listed.fault)
    return b"".join(client(each, call) for each in listed.clients)
