"""Principals as Kafka's messages have them, type and name apart, and as the core has them."""

from typing import NamedTuple


class PrincipalParts(NamedTuple):
    principal_type: str
    principal_name: str


def joined(principal_type: str, principal_name: str) -> str:
    return f"{principal_type}:{principal_name}"


def parts_of(principal: str) -> PrincipalParts:
    principal_type, _, name = principal.partition(":")
    return PrincipalParts(principal_type, name)
