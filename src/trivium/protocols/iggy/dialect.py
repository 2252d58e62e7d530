"""Which generation of Iggy a client speaks: how it counts, and how large the header of a message is for it.

    generation   numbers from   message header   says at login (Rust and Python)
    0.5          1              56               0.7.x
    0.6          0              56               0.8.0 - 0.8.2
    0.7          0              64               0.8.3 - 0.9.x
    0.8          0              64               0.10.x and newer

A dialect begins as the listener's, follows what the login says, and is corrected by bytes that only one
generation sends: layouts of requests (how it counts) and of messages (the header). Bytes are never overruled
by words. An operator may pin a listener to a generation; then nothing is guessed.

The word "0.8.0" is said by the Rust family of 0.6 and by Go of 0.8. Until they send messages, no byte of
theirs differs; both ask for the cluster's metadata after a login. So who asks that is taken for the former,
which begins again by itself when a connection is lost, and may have nobody to notice what goes wrong then. Go
has two ways out: a login with a token, which says no word, and a message sent.
"""

import re
from enum import Enum
from typing import Final

from trivium.records.iggy import LONG_HEADER_BYTES, SHORT_HEADER_BYTES

_VERSION: Final = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_JAVA_PREFIX: Final = "iggy-java-sdk/"
_OLD_JAVA_CONTEXT: Final = "java-sdk"
_CSHARP_CONTEXT: Final = "csharp-sdk"
_AMBIGUOUS_VERSION: Final = "0.8.0"


class Generation(Enum):
    """Named after the server's release."""

    V0_5 = "0.5"
    V0_6 = "0.6"
    V0_7 = "0.7"
    V0_8 = "0.8"

    @property
    def counts_from_one(self) -> bool:
        return self is Generation.V0_5

    @property
    def header_bytes(self) -> int:
        return SHORT_HEADER_BYTES if self in (Generation.V0_5, Generation.V0_6) else LONG_HEADER_BYTES


def generation_said(version: str, context: str) -> Generation | None:
    """What a client's words at login mean; None if they could mean anything."""
    if context == _OLD_JAVA_CONTEXT:
        # It says 0.6.30 in 0.5 and 0.6; only the latter was ever published.
        return Generation.V0_6
    match = _VERSION.match(version.removeprefix(_JAVA_PREFIX))
    if match is None:
        return None
    number = tuple(map(int, match.groups()))
    if version.startswith(_JAVA_PREFIX) or context == _CSHARP_CONTEXT:
        # Numbers of their own; C# says 0.5.0 in 0.6 and 0.7 alike.
        return Generation.V0_8 if number >= (0, 8) else Generation.V0_7 if number >= (0, 7) else None
    if context:
        return None
    if number < (0, 8):
        return Generation.V0_5
    if number < (0, 8, 3):
        return Generation.V0_6
    return Generation.V0_7 if number < (0, 10) else Generation.V0_8


class Dialect:
    """What is known of one client."""

    __slots__ = (
        "_has_shown_counting",
        "_has_shown_header",
        "_is_go_or_rust",
        "_is_pinned",
        "_one",
        "header_bytes",
    )

    def __init__(self, generation: Generation, *, is_pinned: bool = False) -> None:
        """``generation``: what the listener is pinned to, or what it takes a client for that says nothing."""
        self._is_pinned = is_pinned
        self._one = generation.counts_from_one
        self.header_bytes = generation.header_bytes
        self._has_shown_counting = False
        self._has_shown_header = False
        self._is_go_or_rust = False

    @property
    def counts_from_one(self) -> bool:
        return self._one

    @property
    def number_first(self) -> int:
        """The number that this client gives to the first of anything."""
        return 1 if self._one else 0

    @property
    def hides_refusals(self) -> bool:
        """Whether who may not look at something is told that it does not exist (0.5, 0.6)."""
        return self.header_bytes == SHORT_HEADER_BYTES

    def introduced(self, version: str, context: str) -> None:
        """The client has logged in with these words."""
        said = generation_said(version, context)
        if said is None or self._is_pinned:
            return
        self._is_go_or_rust = version == _AMBIGUOUS_VERSION and not context
        if self._is_go_or_rust:
            said = Generation.V0_8
        if not self._has_shown_counting:
            self._one = said.counts_from_one
        if not self._has_shown_header:
            self.header_bytes = said.header_bytes

    def asked_for_cluster(self) -> None:
        if self._is_go_or_rust and not self._has_shown_header:
            self.header_bytes = SHORT_HEADER_BYTES

    def shown_counting(self, from_one: bool | None) -> bool:
        """A request has the layout of 0.5, or not, or could be either; whether to read it as one of 0.5."""
        if from_one is not None and not self._is_pinned:
            self._one = from_one
            self._has_shown_counting = True
        return self._one

    def shown_header(self, header_bytes: int) -> None:
        """The client has sent messages with headers of this size."""
        if not self._is_pinned:
            self.header_bytes = header_bytes
            self._has_shown_header = True
