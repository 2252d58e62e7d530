"""From the text of a regular expression to its nodes. RE2's syntax: no back-references, no looking around.

What a name of a topic cannot hold (line ends, letters beyond ASCII) may be asked for and never matches.
Whether a repetition is greedy makes no difference to whether the whole of a name matches.
"""

from typing import Final

from trivium.core.groups.patterns.classes import PERL, POSIX, char_range, char_set, folded, unicode_class
from trivium.core.groups.patterns.nodes import (
    ALL,
    EMPTY,
    At,
    Chars,
    CharSet,
    Choice,
    Edge,
    Node,
    Repeat,
    Sequence,
)

REPEAT_COUNT_MAX: Final = 1000
"""How often a counted repetition may ask for something; RE2 has the same limit."""
DEPTH_MAX: Final = 100
"""How deep groups may be nested."""
_CODE_POINT_MAX: Final = 0x10FFFF
_CONTROL: Final = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}
_EDGES: Final = {"A": Edge.BEGIN, "z": Edge.END, "b": Edge.WORD, "B": Edge.NO_WORD}
_FLAGS: Final = "imsU"
_OCTAL: Final = "01234567"
_COUNTS: Final[dict[str, tuple[int, int | None]]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_LOOKING_BACK: Final = ("?<=", "?<!")


class InvalidPattern(Exception):
    """The text is no regular expression; the message says why, in RE2's words where it has some."""


def parse(text: str) -> Node:
    parser = _Parser(text)
    node = parser.choice()
    if parser.rest:
        raise InvalidPattern("unexpected )")
    return node


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self._ignores_case = False
        self._names: set[str] = set()

    # -- reading ---------------------------------------------------------------------------------

    @property
    def rest(self) -> bool:
        return self._at < len(self._text)

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _next(self) -> str:
        char = self._peek()
        self._at += 1
        return char

    def _take(self, text: str) -> bool:
        if not self._text.startswith(text, self._at):
            return False
        self._at += len(text)
        return True

    def _take_until(self, end: str) -> str | None:
        found = self._text.find(end, self._at)
        if found < 0:
            return None
        taken = self._text[self._at : found]
        self._at = found + len(end)
        return taken

    # -- from the outside in ---------------------------------------------------------------------

    def choice(self) -> Node:
        branches = [self._sequence()]
        while self._take("|"):
            branches.append(self._sequence())
        return branches[0] if len(branches) == 1 else Choice(tuple(branches))

    def _sequence(self) -> Node:
        nodes: list[Node] = []
        while self.rest and self._peek() not in "|)":
            if self._take("\\Q"):
                quoted = self._take_until("\\E")
                if quoted is None:
                    quoted, self._at = self._text[self._at :], len(self._text)
                nodes += [self._literal(char) for char in quoted]
                if nodes:
                    nodes[-1] = self._repeated(nodes[-1])
            else:
                nodes.append(self._repeated(self._atom()))
        return nodes[0] if len(nodes) == 1 else Sequence(tuple(nodes))

    def _repeated(self, node: Node) -> Node:
        count = self._count()
        if count is None:
            return node
        self._take("?")
        if self._count() is not None:
            raise InvalidPattern("invalid nested repetition operator")
        return Repeat(node, *count)

    def _count(self) -> tuple[int, int | None] | None:
        """How often what stands before is repeated; None if nothing is said about it."""
        for sign, counts in _COUNTS.items():
            if self._take(sign):
                return counts
        begin = self._at
        if self._take("{"):
            body = self._take_until("}")
            count = None if body is None else _counts(body)
            if count is None:
                self._at = begin
            return count
        return None

    def _atom(self) -> Node:
        begin = self._at
        if self._count() is not None:
            raise InvalidPattern("missing argument to repetition operator")
        self._at = begin
        char = self._next()
        if char == "(":
            return self._group()
        if char == "[":
            return Chars(self._bracket())
        if char == "\\":
            return self._escape()
        if char == ".":
            return Chars(ALL)
        if char in "^$":
            return At(Edge.BEGIN if char == "^" else Edge.END)
        return self._literal(char)

    def _literal(self, char: str) -> Node:
        return Chars(self._cased(char_set(char)))

    def _cased(self, chars: CharSet) -> CharSet:
        return folded(chars) if self._ignores_case else chars

    # -- groups ----------------------------------------------------------------------------------

    def _group(self) -> Node:
        before = self._ignores_case
        if self._take("?P<") or (not self._text.startswith(_LOOKING_BACK, self._at) and self._take("?<")):
            self._name()
        elif self._take("?") and not self._flags():
            # Flags alone: they hold to the end of the group around them.
            return EMPTY
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise InvalidPattern(f"more than {DEPTH_MAX} groups within each other")
        node = self.choice()
        self._depth -= 1
        if not self._take(")"):
            raise InvalidPattern("missing closing )")
        self._ignores_case = before
        return node

    def _name(self) -> None:
        name = self._take_until(">")
        if not name or not name.isascii() or not name.replace("_", "a").isalnum():
            raise InvalidPattern("invalid named capture")
        if name in self._names:
            raise InvalidPattern("duplicate capture group name")
        self._names.add(name)

    def _flags(self) -> bool:
        """Whether a group follows to which they belong."""
        sets, ignores_case, seen = True, self._ignores_case, False
        while self.rest:
            char = self._next()
            if char in _FLAGS:
                seen = True
                if char == "i":
                    ignores_case = sets
            elif char == "-" and sets:
                sets, seen = False, False
            elif char in ":)" and (seen or (sets and char == ":")):
                self._ignores_case = ignores_case
                return char == ":"
            else:
                raise InvalidPattern("invalid or unsupported Perl syntax")
        raise InvalidPattern("missing closing )")

    # -- escapes ---------------------------------------------------------------------------------

    def _escape(self) -> Node:
        char = self._peek()
        if char in _EDGES and char:
            self._at += 1
            return At(_EDGES[char])
        named = self._escaped_class()
        return Chars(self._cased(named if named is not None else _one(self._escaped_char())))

    def _escaped_class(self) -> CharSet | None:
        """``\\d``, ``\\pL`` and the like, behind the backslash; None if it is none of them."""
        char = self._peek()
        if char and char.lower() in PERL:
            self._at += 1
            return PERL[char.lower()] if char.islower() else ALL & ~PERL[char.lower()]
        if not char or char not in "pP":
            return None
        self._at += 1
        name = self._take_until("}") if self._take("{") else self._next()
        found = unicode_class(name.removeprefix("^")) if name else None
        if name is None or found is None:
            raise InvalidPattern("invalid character class range")
        return ALL & ~found if (char == "P") != name.startswith("^") else found

    def _escaped_char(self) -> int:
        char = self._next()
        if not char:
            raise InvalidPattern("trailing backslash at end of expression")
        if char in _CONTROL:
            return _CONTROL[char]
        if char == "x":
            return self._hexadecimal()
        if char in _OCTAL and (char == "0" or (self._peek() and self._peek() in _OCTAL)):
            digits = char
            while len(digits) < 3 and self._peek() and self._peek() in _OCTAL:
                digits += self._next()
            return int(digits, 8)
        if char.isascii() and not char.isalnum():
            return ord(char)
        raise InvalidPattern("invalid escape sequence")

    def _hexadecimal(self) -> int:
        digits = self._take_until("}") if self._take("{") else self._next() + self._next()
        try:
            code_point = int(digits or "", 16)
        except ValueError:
            code_point = -1
        if not 0 <= code_point <= _CODE_POINT_MAX:
            raise InvalidPattern("invalid escape sequence")
        return code_point

    # -- character classes -----------------------------------------------------------------------

    def _bracket(self) -> CharSet:
        is_negated = self._take("^")
        chars: CharSet = 0
        is_first = True
        while is_first or self._peek() != "]":
            if not self.rest:
                raise InvalidPattern("missing closing ]")
            is_first = False
            chars |= self._bracket_item()
        self._at += 1
        chars = self._cased(chars)
        return ALL & ~chars if is_negated else chars

    def _bracket_item(self) -> CharSet:
        if self._text.startswith("[:", self._at) and self._text.find(":]", self._at) > 0:
            self._at += 2
            name = self._take_until(":]") or ""
            found = POSIX.get(name.removeprefix("^"))
            if found is None:
                raise InvalidPattern("invalid character class range")
            return ALL & ~found if name.startswith("^") else found
        if self._take("\\"):
            named = self._escaped_class()
            if named is not None:
                return named
            self._at -= 1
        first = self._bracket_char()
        last = first
        if self._peek() == "-" and self._text[self._at + 1 : self._at + 2] not in ("]", ""):
            self._at += 1
            last = self._bracket_char()
        if first > last:
            raise InvalidPattern("invalid character class range")
        return char_range(first, last)

    def _bracket_char(self) -> int:
        char = self._next()
        if not char:
            raise InvalidPattern("missing closing ]")
        return self._escaped_char() if char == "\\" else ord(char)


def _one(code_point: int) -> CharSet:
    return char_range(code_point, code_point)


def _counts(body: str) -> tuple[int, int | None] | None:
    """``{2}``, ``{2,}``, ``{2,5}``; anything else between braces stands for itself."""
    first, comma, last = body.partition(",")
    if not (first.isascii() and first.isdigit()) or not (last == "" or (last.isascii() and last.isdigit())):
        return None
    least = int(first)
    most = (int(last) if last else None) if comma else least
    if least > REPEAT_COUNT_MAX or (most is not None and not least <= most <= REPEAT_COUNT_MAX):
        raise InvalidPattern("invalid repeat count")
    return least, most
