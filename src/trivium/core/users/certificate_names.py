"""Who a client certificate stands for: its subject as Kafka writes it, and Kafka's rules that shorten it.

    ssl.principal.mapping.rules = RULE:^CN=(.*?),OU=Service.*$/$1/L, DEFAULT

The first rule whose pattern fits the whole subject counts; L and U make the result small or capital letters,
DEFAULT takes the subject as it is. A certificate that no rule fits is nobody's.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

_SHORT_NAMES: Final = {
    "commonName": "CN",
    "countryName": "C",
    "localityName": "L",
    "stateOrProvinceName": "ST",
    "streetAddress": "STREET",
    "organizationName": "O",
    "organizationalUnitName": "OU",
    "domainComponent": "DC",
    "userId": "UID",
}
"""Those of RFC 2253; others go by the names that OpenSSL has for them."""

_RULE: Final = re.compile(
    r"\s*(?:(?P<default>DEFAULT)|RULE:(?P<pattern>(?:\\.|[^\\/])*)/(?P<name>(?:\\.|[^\\/])*)/(?P<case>[LU]?))"
    r"\s*(?:,|\n|$)\s*"
)
_REFERENCE: Final = re.compile(r"\$(\d+)")
_CASES: Final[dict[str, Callable[[str], str]]] = {"": str, "L": str.lower, "U": str.upper}


class BadRules(Exception):
    """The rules cannot be read; the text says where."""


def subject_name(subject: Sequence[Sequence[tuple[str, str]]]) -> str:
    """The subject of a certificate as RFC 2253 has it, the nearest part first: ``CN=orders,O=Shop``.

    ``subject`` is as ``ssl`` gives it.
    """
    return ",".join(
        "+".join(f"{_SHORT_NAMES.get(kind, kind)}={_escaped(value)}" for kind, value in part)
        for part in reversed(subject)
    )


def _escaped(value: str) -> str:
    value = re.sub(r'([,+"\\<>;])', r"\\\1", value)
    if value.startswith(("#", " ")):
        value = "\\" + value
    return value[:-1] + "\\ " if value.endswith(" ") and len(value) > 1 else value


class _Rule(NamedTuple):
    pattern: re.Pattern[str]
    name: str
    case: str


class PrincipalRules:
    """Without any: the subject itself."""

    def __init__(self, rules: Sequence[Any] = (None,)) -> None:
        """None is DEFAULT."""
        self._rules: Sequence[_Rule | None] = rules

    @classmethod
    def parse(cls, text: str) -> "PrincipalRules":
        """``BadRules`` for what is none."""
        rules: list[_Rule | None] = []
        at = 0
        text = text.strip()
        while at < len(text):
            match = _RULE.match(text, at)
            if match is None:
                raise BadRules(f"{text[at:]!r} is no rule: write RULE:PATTERN/NAME/ or DEFAULT.")
            rules.append(None if match["default"] else _rule(match))
            at = match.end()
        return cls(rules or (None,))

    def name_of(self, subject: str) -> str | None:
        """None if no rule fits."""
        for rule in self._rules:
            if rule is None:
                return subject
            match = rule.pattern.fullmatch(subject)
            if match is not None:
                return _CASES[rule.case](match.expand(rule.name))
        return None


def _rule(match: re.Match[str]) -> _Rule:
    try:
        pattern = re.compile(match["pattern"])
    except re.error as error:
        raise BadRules(f"{match['pattern']!r} is no pattern: {error}.") from error
    numbers = [int(number) for number in _REFERENCE.findall(match["name"])]
    if any(number > pattern.groups for number in numbers):
        raise BadRules(f"{match['name']!r} speaks of a group that {match['pattern']!r} does not have.")
    name = _REFERENCE.sub(r"\\g<\1>", match["name"].replace("\\", "\\\\"))
    return _Rule(pattern, name, match["case"])
