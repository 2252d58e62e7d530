"""How a client is let in: TLS around its socket, and a login on its connection.

``Security`` says what to trust and who one is; it makes a plain socket an encrypted one (``wrap``), and
``log_in`` does SASL on a connection that knows the broker's versions. Without either it does nothing.
"""

import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from trivium.client.errors import BadSecurity, LoginFailed, Unreachable
from trivium.client.scram import ScramClient, ServerNotTrusted
from trivium.messages.api.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from trivium.messages.api.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from trivium.messages.errors import ErrorCode

if TYPE_CHECKING:
    from trivium.client.address import Address
    from trivium.client.connection import Connection
    from trivium.client.deadline import Deadline

SCRAM_HASHES: Final = {"SCRAM-SHA-512": "sha512", "SCRAM-SHA-256": "sha256"}
PLAIN: Final = "PLAIN"
MECHANISMS: Final = (*SCRAM_HASHES, PLAIN)
"""The best first."""


@dataclass(frozen=True)
class Security:
    has_tls: bool = False
    ca: str | None = None
    """A PEM file with the authorities to trust; None: those of the system."""
    certificate: str | None = None
    """A PEM file with what to show of oneself, and the chain behind it."""
    key: str | None = None
    """Its key, if that is in a file of its own."""
    checks_host: bool = True
    """Whether the certificate must have the name that was dialled."""
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    mechanism: str | None = None
    """None: the best that the broker offers, and never the bare password without TLS."""

    def __getstate__(self) -> dict[str, object]:
        """For those who hand it to another process, which makes a context of its own."""
        return {name: value for name, value in vars(self).items() if name != "_context"}

    # -- TLS ---------------------------------------------------------------------------------------

    @cached_property
    def _context(self) -> ssl.SSLContext:
        try:
            context = ssl.create_default_context(cafile=self.ca)
            context.check_hostname = self.checks_host
            if self.certificate is not None:
                context.load_cert_chain(self.certificate, self.key, password=lambda: "")
        except (OSError, ValueError) as error:
            what = self.ca if self.certificate is None else f"{self.ca} or {self.certificate}"
            reason = getattr(error, "strerror", None) or error
            raise BadSecurity(f"The certificates in {what} cannot be used: {reason}.") from error
        return context

    def wrap(self, sock: socket.socket, address: "Address") -> socket.socket:
        if not self.has_tls:
            return sock
        try:
            return self._context.wrap_socket(sock, server_hostname=address.host)
        except ssl.SSLCertVerificationError as error:
            sock.close()
            raise Unreachable(
                f"The certificate of {address} is not to be trusted: {error.verify_message}; "
                "name its authority by --tls-ca."
            ) from error
        except OSError as error:
            sock.close()
            reason = getattr(error, "reason", None) or error
            raise Unreachable(
                f"{address} does not speak TLS as it should ({reason}); check the port, and whether it is "
                "an encrypted one."
            ) from error

    # -- SASL --------------------------------------------------------------------------------------

    def log_in(self, connection: "Connection", deadline: "Deadline") -> None:
        if self.username is None:
            return
        mechanism = self._agree(connection, deadline)

        def say(message: bytes) -> bytes:
            return _say(connection, message, deadline)

        try:
            if mechanism == PLAIN:
                say(f"\0{self.username}\0{self.password or ''}".encode())
            else:
                self._by_scram(SCRAM_HASHES[mechanism], say)
        except ServerNotTrusted as error:
            connection.close()
            raise LoginFailed(
                f"{connection.address} does not know the password of {self.username}."
            ) from error

    def _agree(self, connection: "Connection", deadline: "Deadline") -> str:
        """The mechanism that both sides have."""
        wanted = self.mechanism or MECHANISMS[0]
        answer = connection.call(SaslHandshakeRequest(mechanism=wanted), SaslHandshakeResponse, deadline)
        if answer.error_code == ErrorCode.NONE:
            return wanted
        if answer.error_code == ErrorCode.ILLEGAL_SASL_STATE:
            raise LoginFailed(f"{connection.address} takes no logins; leave out --user, or use another port.")
        ours = MECHANISMS if self.has_tls else tuple(SCRAM_HASHES)
        common = next((each for each in ours if each in answer.mechanisms), None)
        if self.mechanism is not None or common is None:
            offered = ", ".join(answer.mechanisms) or "none"
            raise LoginFailed(f"{connection.address} has no {wanted}; it offers {offered}.")
        connection.call(SaslHandshakeRequest(mechanism=common), SaslHandshakeResponse, deadline)
        return common

    def _by_scram(self, hash_name: str, say: Callable[[bytes], bytes]) -> None:
        client = ScramClient(hash_name, self.username or "", self.password or "")
        client.check(say(client.final(say(client.first()))))


def _say(connection: "Connection", message: bytes, deadline: "Deadline") -> bytes:
    answer = connection.call(SaslAuthenticateRequest(auth_bytes=message), SaslAuthenticateResponse, deadline)
    if answer.error_code:
        connection.close()
        raise LoginFailed(f"{connection.address} does not let you in; check the user name and the password.")
    return bytes(answer.auth_bytes)


PLAINTEXT: Final = Security()
