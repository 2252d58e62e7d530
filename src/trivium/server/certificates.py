"""The certificate of an encrypted listener, as a TLS context: read from files, and again when they change.

Whoever renews a certificate replaces its files and needs to tell nobody: they are looked at when a connection
comes, once a second at most. Files that do not fit together (often half of them is new) leave everything as
it was and are reported; they are tried again when they change.
"""

import os
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from trivium.server.configuration.security import ClientAuth, Pem, Tls
from trivium.server.event_log import events
from trivium.server.listeners import CannotListen
from trivium.server.secret_files import Readers, readers, refusal

LOOK_SECONDS: Final = 1.0
"""Between two looks at the files."""

_VERSIONS: Final = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_VERIFY: Final = {
    ClientAuth.NONE: ssl.CERT_NONE,
    ClientAuth.REQUESTED: ssl.CERT_OPTIONAL,
    ClientAuth.REQUIRED: ssl.CERT_REQUIRED,
}
_PEM_BEGINS: Final = b"-----BEGIN "

Stamp = tuple[tuple[int, int, int], ...]
"""What tells that files have changed: of each its number, its time, its size."""


class Certificates:
    def __init__(self, tls: Tls, now: Callable[[], float]) -> None:
        """``now`` is monotonic. ``CannotListen`` with a sentence if there is no certificate to begin with."""
        self.tls = tls
        self._now = now
        self._paths = [pem.path for pem in (tls.certificate, tls.key, tls.authorities) if pem and pem.path]
        self._looked_at = now()
        self._stamp = self._look()
        try:
            self._context = _context(tls)
        except (OSError, ValueError) as error:
            raise CannotListen(_why(tls, error)) from error
        self._check_key_file()

    def context(self) -> ssl.SSLContext:
        """For the next connection."""
        now = self._now()
        if self._paths and now - self._looked_at >= LOOK_SECONDS:
            self._looked_at = now
            stamp = self._look()
            if stamp is not None and stamp != self._stamp:
                self._stamp = stamp
                self._renew()
        return self._context

    def renewing_context(self) -> ssl.SSLContext:
        """One for a server of asyncio's, which takes one for good: each handshake goes on with the newest."""
        context = _context(self.tls)

        def newest(handshake: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
            handshake.context = self.context()

        context.sni_callback = newest
        return context

    def _renew(self) -> None:
        try:
            self._context = _context(self.tls)
        except (OSError, ValueError) as error:
            events.error("the new certificate is not used", reason=_why(self.tls, error))
        else:
            events.info("certificate renewed", path=self._paths[0])

    def _look(self) -> Stamp | None:
        """None while one of them is not there."""
        try:
            facts = [path.stat() for path in self._paths]
        except OSError:
            return None
        return tuple((each.st_ino, each.st_mtime_ns, each.st_size) for each in facts)

    def _check_key_file(self) -> None:
        path = self.tls.key.path
        if path is None:
            return
        why_not = refusal(path, "a private key")
        if why_not is not None:
            raise CannotListen(why_not)
        if readers(path) is not Readers.OWNER:
            events.warning("others on this machine may read the key: chmod 600 it", path=path)


def _context(tls: Tls) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = _VERSIONS[tls.versions[0]]
    context.maximum_version = _VERSIONS[tls.versions[-1]]
    context.options |= ssl.OP_NO_RENEGOTIATION
    if tls.ciphers:
        _choose_ciphers(context, tls.ciphers)
    with _file(tls.certificate) as certificate, _file(tls.key) as key:
        # A key with a password that nobody gave must not wait for one to be typed.
        context.load_cert_chain(certificate, key, password=lambda: tls.key_password or "")
    if tls.authorities is not None:
        with _file(tls.authorities) as authorities:
            context.load_verify_locations(authorities)
    context.verify_mode = _VERIFY[tls.client_auth]
    return context


def _choose_ciphers(context: ssl.SSLContext, names: tuple[str, ...]) -> None:
    """Those of TLS 1.3 are always on; the others by OpenSSL's names, or the standard's."""
    known = {cipher["description"].split()[0]: cipher["name"] for cipher in context.get_ciphers()}
    standard = {_standard(name): name for name in known}
    older = [standard.get(name, name) for name in names if not name.startswith(("TLS_AES", "TLS_CHACHA20"))]
    if older:
        context.set_ciphers(":".join(older))


def _standard(openssl_name: str) -> str:
    """ECDHE-RSA-AES128-GCM-SHA256 as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256."""
    exchange, separator, cipher = openssl_name.partition("-AES")
    if separator:
        return f"TLS_{exchange}_WITH_AES_{cipher[:3]}{cipher[3:]}".replace("-", "_")
    exchange, separator, cipher = openssl_name.partition("-CHACHA20")
    return f"TLS_{exchange}_WITH_CHACHA20{cipher}_SHA256".replace("-", "_") if separator else openssl_name


@contextmanager
def _file(pem: Pem) -> Iterator[Path]:
    """OpenSSL reads certificates and keys from files only: those that are text become one for a moment,
    in memory where the system can.
    """
    if pem.path is not None:
        yield pem.path
        return
    text = (pem.text or "").encode()
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("pem")
        try:
            os.write(descriptor, text)
            yield Path(f"/proc/self/fd/{descriptor}")
        finally:
            os.close(descriptor)
    else:
        import tempfile

        with tempfile.NamedTemporaryFile() as file:
            file.write(text)
            file.flush()
            yield Path(file.name)


def _why(tls: Tls, error: Exception) -> str:
    for pem, what in ((tls.certificate, "certificate"), (tls.key, "key"), (tls.authorities, "authorities")):
        if pem is None or pem.path is None:
            continue
        try:
            begin = pem.path.read_bytes()
        except OSError as reading:
            return f"The {what} in {pem.path} cannot be read: {reading.strerror}."
        if _PEM_BEGINS not in begin:
            return (
                f"{pem.path} is no PEM file; one of Java's becomes one by: "
                f"openssl pkcs12 -in {pem.path} -out {pem.path.with_suffix('.pem').name} -nodes"
            )
    reason = getattr(error, "reason", None) or str(error)
    if reason == "KEY_VALUES_MISMATCH":
        return f"The key in {tls.key.path} does not belong to the certificate in {tls.certificate.path}."
    if "PASSWORD" in reason.upper() or "DECRYPT" in reason.upper():
        return f"The key in {tls.key.path} has a password: set tls.key-password."
    return f"The certificate or its key cannot be used: {reason.lower().replace('_', ' ')}."
