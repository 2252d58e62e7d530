"""Writes the source of decoders.

A decoder takes a buffer and a position and returns the message and the position behind it. Positions
only grow, every length is compared with the end of the buffer before it is used, and every count with
the least that so many elements need and with what is left of the message's budget of elements. What the
generated code itself raises on bad bytes (``IndexError``, ``struct.error``, ``UnicodeDecodeError``) its
caller turns into ``DecodeError``.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from trivium.messages.codegen import layout
from trivium.messages.codegen.source import Source
from trivium.messages.codegen.support import (
    COUNTED_LAYOUTS_MAX,
    CountedLayouts,
    read_unknown_tags,
    refuse_elements,
    refuse_length,
    refuse_tag_size,
    refuse_text,
    unpack_numbers,
)
from trivium.messages.schema import ElementType, Field, ListOf, Message, Request, StructType
from trivium.messages.types import Blob, FixedSize, Text
from trivium.wire.buffer import Buffer
from trivium.wire.limits import MESSAGE_ELEMENTS_MAX, TEXT_BYTES_MAX
from trivium.wire.tagged_fields import NO_TAGGED_FIELDS, TAGGED_FIELD_BYTES_MIN
from trivium.wire.varint import read_uvarint


def make_decoder(message: type[Message], version: int) -> Callable[[Buffer, int], tuple[Any, int]]:
    """The decoder of one version of a message."""
    return _DecoderSource(message, version).compile()


class _DecoderSource:
    def __init__(self, message: type[Message], version: int) -> None:
        self._message = message
        self._version = version
        self._is_flexible = version in message.FLEXIBLE
        self._run: list[tuple[str, str]] = []
        self._source = Source(
            {
                "new": object.__new__,
                "read_uvarint": read_uvarint,
                "read_unknown_tags": read_unknown_tags,
                "refuse_elements": refuse_elements,
                "refuse_length": refuse_length,
                "refuse_tag_size": refuse_tag_size,
                "refuse_text": refuse_text,
                "unpack_numbers": unpack_numbers,
                "NO_TAGS": NO_TAGGED_FIELDS,
            }
        )

    def compile(self) -> Callable[[Buffer, int], tuple[Any, int]]:
        source = self._source
        with source.function("def decode(buf, pos):"):
            source.line("end = len(buf)")
            source.line(f"budget = {MESSAGE_ELEMENTS_MAX}")
            self._struct(self._message, "message")
            source.line("return message, pos")
        return source.compile(f"<{self._message.__name__} v{self._version} decoder>", "decode")

    # Runs: fixed-size values wait until something of variable size follows, and are read by one call.

    def _fixed(self, letter: str, target: str) -> None:
        self._run.append((letter, target))

    def _flush(self) -> None:
        if not self._run:
            return
        letters = "".join(letter for letter, _ in self._run)
        targets = ", ".join(target for _, target in self._run)
        if letters == "B":
            self._source.line(f"{targets} = buf[pos]")
            self._source.line("pos += 1")
        else:
            unpack = self._source.layout(letters, "unpack_from")
            comma = "," if len(self._run) == 1 else ""
            self._source.line(f"{targets}{comma} = {unpack}(buf, pos)")
            self._source.line(f"pos += {self._source.scope[unpack].__self__.size}")
        self._run.clear()

    # Structs

    def _struct(self, cls: StructType, variable: str) -> None:
        source = self._source
        source.line(f"{variable} = new({source.constant(cls.__name__, cls)})")
        for each in layout.absent_fields(cls, self._version):
            self._default(each, variable)
        for each in layout.untagged_fields(cls, self._version):
            self._field(cls, each, variable)
        if self._is_flexible:
            self._tags(cls, variable)
        else:
            source.line(f"{variable}.unknown_tags = NO_TAGS")
            for each in layout.tagged_fields(cls, self._version):
                self._default(each, variable)
        self._flush()

    def _default(self, each: Field, variable: str) -> None:
        if each.rules.default_factory is list:
            value = "[]"
        elif each.rules.default_factory is not None:
            value = self._source.constant("make_default", each.rules.default_factory) + "()"
        else:
            value = self._source.literal(each.rules.default)
        self._source.line(f"{variable}.{each.name} = {value}")

    def _field(self, cls: StructType, each: Field, variable: str) -> None:
        self._value(
            each.type,
            f"{variable}.{each.name}",
            is_nullable=self._version in each.nullable,
            is_compact=self._is_flexible and each.rules.compact,
            name=repr(layout.label(cls, each, self._version)),
            is_tagged=each.tag is not None,
        )

    def _tags(self, cls: StructType, variable: str) -> None:
        """The tag section. Its count is one byte of the run before it, and that byte is nearly always 0."""
        source = self._source
        self._fixed("B", "n")
        self._flush()
        known = layout.tagged_fields(cls, self._version)
        reader = self._tag_reader(cls, known) if known else None
        with source.block("if n:"):
            if reader is None:
                source.line(f"{variable}.unknown_tags, pos = read_unknown_tags(buf, pos - 1)")
                self._spend(f"len({variable}.unknown_tags)", repr(f"{cls.__name__} tags"))
            else:
                source.line(f"pos, budget = {reader}({variable}, buf, pos - 1, budget)")
        with source.block("else:"):
            source.line(f"{variable}.unknown_tags = NO_TAGS")
            for each in known:
                self._default(each, variable)

    def _tag_reader(self, cls: StructType, known: list[Field]) -> str:
        """A function of its own for a section that is not empty: it is seldom called."""
        source = self._source
        function = source.fresh("read_tags_")
        with source.function(f"def {function}(message, buf, pos, budget):"):
            source.line("end = len(buf)")
            for each in known:
                self._default(each, "message")
            source.line("unknown = {}")
            source.line("count, pos = read_uvarint(buf, pos)")
            with source.block(f"if count * {TAGGED_FIELD_BYTES_MIN} > end - pos:"):
                source.line(f"raise refuse_length({cls.__name__ + ' tags'!r}, count, end - pos)")
            self._spend("count", repr(f"{cls.__name__} tags"))
            with source.block("for _ in range(count):"):
                source.line("tag, pos = read_uvarint(buf, pos)")
                source.line("size, pos = read_uvarint(buf, pos)")
                source.line("stop = pos + size")
                with source.block("if stop > end:"):
                    source.line(f"raise refuse_length({cls.__name__ + ' tag'!r}, size, end - pos)")
                for index, each in enumerate(known):
                    with source.block(f"{'elif' if index else 'if'} tag == {each.tag}:"):
                        self._field(cls, each, "message")
                        self._flush()
                with source.block("else:"):
                    source.line("unknown[tag] = bytes(buf[pos:stop])")
                    source.line("pos = stop")
                with source.block("if pos != stop:"):
                    source.line(f"raise refuse_tag_size({cls.__name__!r})")
            source.line("message.unknown_tags = unknown or NO_TAGS")
            source.line("return pos, budget")
        return function

    # Values

    def _value(
        self,
        kind: object,
        target: str,
        *,
        is_nullable: bool,
        is_compact: bool,
        name: str,
        is_tagged: bool = False,
    ) -> None:
        if isinstance(kind, FixedSize):
            self._fixed(kind.letter, target)
        elif isinstance(kind, StructType):
            self._nested(kind, target, is_nullable, is_tagged)
        elif isinstance(kind, ListOf):
            self._list(kind.element, target, is_nullable, name)
        else:
            is_text = isinstance(kind, Text)
            self._length("h" if is_text else "i", is_compact, name if is_text else None)
            with self._unless_null(is_nullable, target, "n" if is_compact else "n != -1"):
                self._source.line("stop_at = pos + n - 1" if is_compact else "stop_at = pos + n")
                with self._source.block("if not pos <= stop_at <= end:"):
                    self._source.line(f"raise refuse_length({name}, n, end - pos)")
                self._source.line(f"{target} = {_slice(kind)}")
                self._source.line("pos = stop_at")

    def _nested(self, cls: StructType, target: str, is_nullable: bool, is_tagged: bool) -> None:
        """A struct in place; one that may be null has a byte in front: below 0 (tagged: 0) for null."""
        variable = self._source.fresh("struct")
        if is_nullable:
            self._fixed("b", "n")
            self._flush()
        with self._unless_null(is_nullable, target, "n > 0" if is_tagged else "n >= 0"):
            self._struct(cls, variable)
            self._source.line(f"{target} = {variable}")

    def _list(self, element: ElementType, target: str, is_nullable: bool, name: str) -> None:
        source = self._source
        self._length("i", self._is_flexible)
        element_bytes = layout.element_bytes_min(element, self._version, self._is_flexible)
        with self._unless_null(is_nullable, target, "n" if self._is_flexible else "n != -1"):
            if self._is_flexible:
                source.line("n -= 1")
            with source.block(f"if not 0 <= n * {element_bytes} <= end - pos:"):
                source.line(f"raise refuse_length({name}, n, end - pos)")
            self._spend("n", name)
            if isinstance(element, FixedSize):
                self._numbers(element, target)
            else:
                self._elements(element, target, name)

    def _numbers(self, element: FixedSize, target: str) -> None:
        letter = element.letter
        layouts = self._source.constant("layouts", CountedLayouts([(letter,)], "unpack_from"))
        with self._source.block(f"if n < {COUNTED_LAYOUTS_MAX}:"):
            self._source.line(f"{target} = list({layouts}[n](buf, pos))")
        with self._source.block("else:"):
            self._source.line(f"{target} = list(unpack_numbers({letter!r}, n, buf, pos))")
        self._source.line(f"pos += n * {element.size_bytes}")

    def _elements(self, element: object, target: str, name: str) -> None:
        source = self._source
        elements = source.fresh("elements")
        source.line(f"{target} = {elements} = []")
        with source.block("for _ in range(n):"):
            if isinstance(element, StructType):
                variable = source.fresh("struct")
                self._struct(element, variable)
            else:
                variable = source.fresh("element")
                self._value(element, variable, is_nullable=False, is_compact=self._is_flexible, name=name)
            source.line(f"{elements}.append({variable})")

    def _length(self, letter: str, is_compact: bool, text: str | None = None) -> None:
        """A length or count into ``n``; compact ones are one more than they mean, 0 for null. ``text`` is the
        name of one that may not be as long as that has room for.
        """
        self._fixed("B" if is_compact else letter, "n")
        self._flush()
        if is_compact:
            with self._source.block("if n > 127:"):
                self._source.line("n, pos = read_uvarint(buf, pos - 1)")
                if text is not None and issubclass(self._message, Request):
                    with self._source.block(f"if n - 1 > {TEXT_BYTES_MAX}:"):
                        self._source.line(f"raise refuse_text({text}, n - 1)")

    def _spend(self, count: str, name: str) -> None:
        """Elements cost more in memory than on the wire: a message has a budget of them."""
        self._source.line(f"budget -= {count}")
        with self._source.block("if budget < 0:"):
            self._source.line(f"raise refuse_elements({name})")

    @contextmanager
    def _unless_null(self, is_nullable: bool, target: str, is_there: str) -> Iterator[None]:
        if not is_nullable:
            yield
            return
        with self._source.block(f"if {is_there}:"):
            yield
        with self._source.block("else:"):
            self._source.line(f"{target} = None")


def _slice(kind: object) -> str:
    if isinstance(kind, Text):
        return 'str(buf[pos:stop_at], "utf-8")'
    if isinstance(kind, Blob) and kind.is_view:
        return "memoryview(buf)[pos:stop_at]"
    return "bytes(buf[pos:stop_at])"
