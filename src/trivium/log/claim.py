"""Making a log directory and claiming it: whose it is stands in ``meta.properties``, for good."""

import os.path
from collections.abc import Callable
from uuid import UUID

from trivium.log.faults import DirectoryRefused
from trivium.log.files import Files
from trivium.log.names import LOCK, META_PROPERTIES, TEMPORARY
from trivium.log.properties import MetaProperties, read_meta, write_meta
from trivium.wire.errors import DecodeError


def make(files: Files, path: str) -> None:
    """Make the directory and what is missing above it, each durable before the next."""
    if not files.exists(path):
        parent = os.path.dirname(path)
        if parent and parent != path:
            make(files, parent)
        files.make_directory(path)
        files.sync_directory(parent or ".")


def identify(
    files: Files, path: str, node_id: int, cluster_id: str | None, new_id: Callable[[], UUID]
) -> MetaProperties:
    """Read whose directory this is, or claim a new one."""
    file = f"{path}/{META_PROPERTIES}"
    if not files.exists(file):
        # What a crash while claiming it may leave behind, and what a fresh file system has, is ours.
        foreign = [
            name for name in files.list(path) if name not in (LOCK, META_PROPERTIES + TEMPORARY, "lost+found")
        ]
        if foreign:
            raise DirectoryRefused(
                f"{path} is not empty and no log directory ({foreign[0]} is there); choose an empty one"
            )
        if cluster_id is None:
            raise DirectoryRefused(f"{path} has no {META_PROPERTIES}; is it a log directory?")
        meta = MetaProperties(node_id, cluster_id, new_id())
        write_meta(files, file, meta)
        return meta
    try:
        meta = read_meta(files, file)
    except DecodeError as error:
        raise DirectoryRefused(str(error)) from error
    if cluster_id is not None and meta.cluster_id != cluster_id:
        raise DirectoryRefused(f"{path} belongs to cluster {meta.cluster_id}, not {cluster_id}")
    if cluster_id is not None and meta.node_id != node_id:
        raise DirectoryRefused(f"{path} belongs to node {meta.node_id}, this is node {node_id}")
    return meta
