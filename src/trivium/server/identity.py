"""Who a node is: what its configuration says, else what its directories say, else somebody new."""

import uuid
from collections.abc import Sequence

from trivium.log.faults import DirectoryRefused
from trivium.log.files import Files
from trivium.log.names import META_PROPERTIES
from trivium.log.properties import MetaProperties, read_meta
from trivium.log.store import Identity
from trivium.server.configuration.configuration import NEW_NODE_ID, Configuration
from trivium.wire.errors import DecodeError
from trivium.wire.uuid_text import uuid_to_text


def identity_of(files: Files, paths: Sequence[str], configuration: Configuration) -> Identity:
    """The identity that every directory is opened with, and new ones are claimed for.

    A directory that says otherwise than the configuration is refused when it is opened.
    """
    found = _first_meta(files, paths)
    node_id, cluster_id = configuration.node_id, configuration.cluster_id
    if node_id is None:
        node_id = NEW_NODE_ID if found is None else found.node_id
    if cluster_id is None:
        cluster_id = uuid_to_text(uuid.uuid4().bytes) if found is None else found.cluster_id
    return Identity(node_id, cluster_id)


def _first_meta(files: Files, paths: Sequence[str]) -> MetaProperties | None:
    for path in paths:
        file = f"{path}/{META_PROPERTIES}"
        try:
            if files.exists(file):
                return read_meta(files, file)
        except DecodeError as error:
            raise DirectoryRefused(str(error)) from error
        except OSError:
            # This directory will turn out to be offline; another one may know.
            continue
    return None
