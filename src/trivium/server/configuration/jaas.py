"""The text of ``sasl.jaas.config``, as far as a broker needs it: one login module and its options.

    com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true keyTab="/etc/kafka.keytab";

Such text holds passwords: what cannot be read is not repeated in any sentence.
"""

import re
from typing import Final, NamedTuple

_WORD: Final = r"[\w.$:/@*+-]+"
_OPTION: Final = re.compile(rf"""\s*({_WORD})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|({_WORD}))""")
_MODULE: Final = re.compile(rf"\s*({_WORD})\s+(?:required|requisite|sufficient|optional)\b", re.IGNORECASE)
_END: Final = re.compile(r"\s*;\s*")
_ESCAPED: Final = re.compile(r"\\(.)")


class BadJaas(Exception):
    """The text is not of that form."""


class LoginModule(NamedTuple):
    name: str
    """Its class."""
    options: dict[str, str]

    def __repr__(self) -> str:
        return f"LoginModule(name={self.name!r}, options={sorted(self.options)})"


def parse(text: str) -> LoginModule:
    """The one module of the text; ``BadJaas`` for anything else."""
    module = _MODULE.match(text)
    if module is None:
        raise BadJaas
    at = module.end()
    options: dict[str, str] = {}
    while (option := _OPTION.match(text, at)) is not None:
        quoted = option[2] if option[2] is not None else option[3]
        options[option[1]] = option[4] if quoted is None else _ESCAPED.sub(r"\1", quoted)
        at = option.end()
    if _END.fullmatch(text, at) is None:
        raise BadJaas
    return LoginModule(module[1], options)
