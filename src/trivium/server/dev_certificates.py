"""Certificates for development: a private authority in a directory, and what it signs.

    ca.pem, ca-key.pem             the authority; clients trust ca.pem, ca-key.pem stays here
    server.pem, server-key.pem     for listeners, with the names that clients know this machine by
    NAME.pem, NAME-key.pem         for a client called NAME (mutual TLS)

An authority that is there already goes on signing: clients that trust it need not be told anything. Keys are
for their owner's eyes only, and each file takes its place in one step.
"""

import ipaddress
import os
import re
import socket
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

AUTHORITY_DAYS: Final = 3650
CERTIFICATE_DAYS: Final = 397
"""What browsers and operating systems accept at most."""
EARLIER: Final = timedelta(hours=1)
"""Certificates count from a while ago on, for clients whose clock is behind."""
CLIENT_NAME: Final = r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}"
_RESERVED: Final = frozenset(("ca", "server"))


class CannotCertify(Exception):
    """The text says why, and what to do."""


class Pair(NamedTuple):
    certificate: Path
    key: Path


class DevAuthority:
    """The authority of a directory; made when there is none."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.pair = Pair(directory / "ca.pem", directory / "ca-key.pem")
        try:
            directory.mkdir(parents=True, exist_ok=True)
            if self.pair.certificate.exists() and self.pair.key.exists():
                self._read()
            else:
                self._make()
        except OSError as error:
            raise CannotCertify(f"{error.filename or directory} cannot be used: {error.strerror}.") from error
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise CannotCertify(
                f"{self.pair.certificate} and its key are no authority of ours: "
                "remove both to make a new one, or choose another directory."
            ) from error

    def _read(self) -> None:
        self._certificate = x509.load_pem_x509_certificate(self.pair.certificate.read_bytes())
        key = serialization.load_pem_private_key(self.pair.key.read_bytes(), password=None)
        if (
            not isinstance(key, ec.EllipticCurvePrivateKey)
            or key.public_key() != self._certificate.public_key()
        ):
            raise ValueError
        self._key = key

    def _make(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        name = _name(f"Trivium development authority on {socket.gethostname()}"[:64])
        self._certificate = (
            _begun(name, name, self._key.public_key(), AUTHORITY_DAYS)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(is_authority=True), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        _write(self.pair, [self._certificate], self._key)

    # -- signing ---------------------------------------------------------------------------------

    def server_pair(self, names: Sequence[str], days: int = CERTIFICATE_DAYS) -> Pair:
        """A certificate for listeners, with every name and address that clients may know them by."""
        pair = Pair(self.directory / "server.pem", self.directory / "server-key.pem")
        alternatives = x509.SubjectAlternativeName([_alternative(name) for name in names])
        self._sign(pair, names[0], days, ExtendedKeyUsageOID.SERVER_AUTH, alternatives)
        return pair

    def client_pair(self, name: str, days: int = CERTIFICATE_DAYS) -> Pair:
        """A certificate for a client: its subject is CN=NAME."""
        if not re.fullmatch(CLIENT_NAME, name) or name in _RESERVED:
            raise CannotCertify(
                f"{name!r} is no name for a client: take letters, digits, dots and dashes, up to 64 of them."
            )
        pair = Pair(self.directory / f"{name}.pem", self.directory / f"{name}-key.pem")
        self._sign(pair, name, days, ExtendedKeyUsageOID.CLIENT_AUTH, None)
        return pair

    def _sign(
        self,
        pair: Pair,
        name: str,
        days: int,
        usage: x509.ObjectIdentifier,
        alternatives: x509.SubjectAlternativeName | None,
    ) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        authority = self._key.public_key()
        builder = (
            _begun(_name(name[:64]), self._certificate.subject, key.public_key(), days)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(is_authority=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority), critical=False)
        )
        if alternatives is not None:
            builder = builder.add_extension(alternatives, critical=False)
        try:
            _write(pair, [builder.sign(self._key, hashes.SHA256()), self._certificate], key)
        except OSError as error:
            raise CannotCertify(
                f"{error.filename or self.directory} cannot be written: {error.strerror}."
            ) from error


def names_of_this_machine() -> list[str]:
    """What clients on this machine, and near it, call it."""
    hostname = socket.gethostname()
    return list(dict.fromkeys(("localhost", "127.0.0.1", "::1", hostname)))


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _begun(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, days: int
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - EARLIER)
        .not_valid_after(now + timedelta(days=days))
    )


def _usage(*, is_authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not is_authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        encipher_only=False,
        decipher_only=False,
    )


def _write(pair: Pair, chain: Sequence[x509.Certificate], key: ec.EllipticCurvePrivateKey) -> None:
    text = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    _replace(pair.key, text, 0o600)
    encoded = b"".join(each.public_bytes(serialization.Encoding.PEM) for each in chain)
    _replace(pair.certificate, encoded, 0o644)


def _replace(path: Path, data: bytes, mode: int) -> None:
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.unlink(missing_ok=True)
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    unfinished.replace(path)
