"""Who a Kerberos principal is here: Kafka's rules that make a user's name of it.

    sasl.kerberos.principal.to.local.rules = RULE:[2:$1](app)s/app/service/, DEFAULT

    RULE:[N:FORMAT](PATTERN)s/FROM/TO/g/L    for principals of N components: FORMAT, with $0 for the realm and
                                             $1 … for the components, has to fit PATTERN as a whole; then FROM
                                             becomes TO, with g everywhere, and L or U sets its case
    DEFAULT                                  the first component, in the realm of this node

The first rule that fits counts. A principal that none fits is nobody, and so is one whose name would still
have a slash or an @: it could be taken for another principal.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

_PRINCIPAL: Final = re.compile(r"([^/@\\]+)(?:/([^/@\\]+))?@([^/@\\]+)")
"""Escaped characters are not taken: with them, names of different components look alike."""
_RULE: Final = re.compile(
    r"RULE:\[(?P<components>\d+):(?P<format>[^\]]*)\](?:\((?P<pattern>[^)]*)\))?"
    r"(?:s/(?P<old>[^/]*)/(?P<new>[^/]*)/(?P<everywhere>g)?)?/?(?P<case>[LU]?)"
)
_REFERENCE: Final = re.compile(r"\$(\d+)")
_NOT_SIMPLE: Final = re.compile(r"[/@]")
_CASES: Final[dict[str, Callable[[str], str]]] = {"": str, "L": str.lower, "U": str.upper}

COMPONENTS_MAX: Final = 2
"""NAME or NAME/HOST, as Kafka reads principals."""


class BadRules(Exception):
    """The rules cannot be read; the text says which, and what to write."""


class Principal(NamedTuple):
    """``parts``: the realm first, then the components, numbered as rules number them."""

    parts: Sequence[str]

    @classmethod
    def parse(cls, text: str) -> "Principal | None":
        """None for what is no name of one or two components with a realm."""
        match = _PRINCIPAL.fullmatch(text)
        return None if match is None else cls([part for part in (match[3], match[1], match[2]) if part])

    @property
    def realm(self) -> str:
        return self.parts[0]

    @property
    def service(self) -> str:
        """Of ``kafka/host@REALM`` it is kafka."""
        return self.parts[1]


class _Rule(NamedTuple):
    components: int
    format: str
    pattern: re.Pattern[str] | None
    old: re.Pattern[str] | None
    new: str
    changes_max: int
    """0: everywhere."""
    case: str

    def name_of(self, principal: Principal) -> str | None:
        if len(principal.parts) - 1 != self.components:
            return None
        name = _REFERENCE.sub(lambda match: principal.parts[int(match[1])], self.format)
        if self.pattern is not None and self.pattern.fullmatch(name) is None:
            return None
        if self.old is not None:
            name = self.old.sub(self.new, name, self.changes_max)
        return _CASES[self.case](name)


class LocalNames:
    """The rules, for the realm that this node is in."""

    def __init__(self, realm: str, rules: Sequence[_Rule | None] = (None,)) -> None:
        """None is DEFAULT."""
        self._realm = realm
        self._rules = rules

    @classmethod
    def parse(cls, texts: Sequence[str], realm: str = "") -> "LocalNames":
        """``BadRules`` for what is none."""
        rules = [None if text == "DEFAULT" else _rule(text) for text in map(str.strip, texts) if text]
        return cls(realm, rules or (None,))

    def name_of(self, text: str) -> str | None:
        """The name of a user; None for a principal that is nobody here."""
        principal = Principal.parse(text)
        if principal is None:
            return None
        for rule in self._rules:
            name = self._by_default(principal) if rule is None else rule.name_of(principal)
            if name is not None:
                return name if name and not _NOT_SIMPLE.search(name) else None
        return None

    def _by_default(self, principal: Principal) -> str | None:
        return principal.service if principal.realm == self._realm else None


def _rule(text: str) -> _Rule:
    match = _RULE.fullmatch(text)
    if match is None:
        raise BadRules(f"{text!r} is no rule: write DEFAULT, or RULE:[1:$1](PATTERN)s/OLD/NEW/.")
    components = int(match["components"])
    if not 1 <= components <= COMPONENTS_MAX:
        raise BadRules(f"{text!r} is for {components} components: principals have one or two of them.")
    if any(int(number) > components for number in _REFERENCE.findall(match["format"])):
        raise BadRules(f"{text!r} speaks of a component that such principals do not have.")
    pattern, old = _pattern(match["pattern"], text), _pattern(match["old"], text)
    new = match["new"] or ""
    if old is not None and any(int(number) > old.groups for number in _REFERENCE.findall(new)):
        raise BadRules(f"{text!r} speaks of a group that {match['old']!r} does not have.")
    return _Rule(
        components,
        match["format"],
        pattern,
        old,
        _REFERENCE.sub(r"\\g<\1>", new.replace("\\", "\\\\")),
        0 if match["everywhere"] else 1,
        match["case"],
    )


def _pattern(text: str | None, rule: str) -> re.Pattern[str] | None:
    try:
        return None if text is None else re.compile(text)
    except re.error as error:
        raise BadRules(f"{rule!r} has a pattern that is none: {error}.") from error
