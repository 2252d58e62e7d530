"""Writes the source of encoders.

An encoder takes a message and an ``add`` function, and adds the parts of the message in wire order; blobs
are added as they are, so they are copied only when the parts are joined. What the generated code itself
raises on a wrong value (``struct.error``, ``TypeError`` ...) its caller turns into ``EncodeError``.
"""

from collections.abc import Callable
from typing import Any

from trivium.messages.codegen import layout
from trivium.messages.codegen.run import ZERO_BYTE, Numbers, Run, Value
from trivium.messages.codegen.source import Source
from trivium.messages.codegen.support import (
    pack_numbers,
    refuse_uuid,
    refuse_value,
    write_tags,
)
from trivium.messages.schema import Field, ListOf, Message, StructType
from trivium.messages.types import FixedSize, Text
from trivium.wire.buffer import Buffer
from trivium.wire.cursor import UUID_BYTES
from trivium.wire.varint import SINGLE_BYTES, encode_uvarint


def make_encoder(message: type[Message], version: int) -> Callable[[Any, Callable[[Buffer], None]], None]:
    """The encoder of one version of a message."""
    return _EncoderSource(message, version).compile()


class _EncoderSource:
    def __init__(self, message: type[Message], version: int) -> None:
        self._message = message
        self._version = version
        self._is_flexible = version in message.FLEXIBLE
        self._source = Source(
            {
                "SINGLE_BYTES": SINGLE_BYTES,
                "encode_uvarint": encode_uvarint,
                "pack_numbers": pack_numbers,
                "refuse_uuid": refuse_uuid,
                "refuse_value": refuse_value,
                "write_tags": write_tags,
            }
        )
        self._run = Run(self._source, self._is_flexible)

    def compile(self) -> Callable[[Any, Callable[[Buffer], None]], None]:
        source = self._source
        with source.function("def encode(message, add):"):
            self._struct(self._message, "message")
        return source.compile(f"<{self._message.__name__} v{self._version} encoder>", "encode")

    # Structs

    def _struct(self, cls: StructType, variable: str) -> None:
        source = self._source
        for each in layout.absent_fields(cls, self._version):
            if not each.rules.ignorable:
                with source.block(f"if {self._differs(each, f'{variable}.{each.name}')}:"):
                    source.line(f"raise refuse_value({layout.label(cls, each, self._version)!r})")
        for each in layout.untagged_fields(cls, self._version):
            self._field(cls, each, variable)
        if self._is_flexible:
            self._tags(cls, variable)
        self._run.flush()

    def _differs(self, each: Field, expression: str) -> str:
        """A condition: the value is not the field's default."""
        if each.rules.default is None:
            return f"{expression} is not None"
        if isinstance(each.type, StructType):
            parts = [f"{expression} is None"] if each.is_ever_nullable else []
            parts += [self._differs(inner, f"{expression}.{inner.name}") for inner in each.type.fields]
            return " or ".join([*parts, f"{expression}.unknown_tags"])
        if each.rules.default_factory is list and not each.is_ever_nullable:
            return expression
        return f"{expression} != {self._source.literal(each.rules.default_value())}"

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
        """The tag section. Nearly always it is empty: one byte 0 at the end of the run before it."""
        source = self._source
        known = layout.tagged_fields(cls, self._version)
        conditions = [self._differs(each, f"{variable}.{each.name}") for each in known]
        run = self._run.copy()
        with source.block(f"if {' or '.join([f'{variable}.unknown_tags', *conditions])}:"):
            self._run.flush()
            if known:
                source.line(f"{self._tag_writer(cls, known)}({variable}, add)")
            else:
                source.line(f"write_tags({{}}, {variable}.unknown_tags, add)")
        self._run.put_back(run)
        with source.block("else:"):
            self._run.append(ZERO_BYTE)
            self._run.flush()

    def _tag_writer(self, cls: StructType, known: list[Field]) -> str:
        """A function of its own for a section that is not empty: it is seldom called."""
        source = self._source
        function = source.fresh("add_tags_")
        with source.function(f"def {function}(message, add_to_message):"):
            source.line("known = {}")
            for each in known:
                with source.block(f"if {self._differs(each, f'message.{each.name}')}:"):
                    source.line("parts = []")
                    source.line("add = parts.append")
                    self._field(cls, each, "message")
                    self._run.flush()
                    source.line(f"known[{each.tag}] = b''.join(parts)")
            source.line("write_tags(known, message.unknown_tags, add_to_message)")
        return function

    # Values

    def _value(
        self,
        kind: object,
        expression: str,
        *,
        is_nullable: bool,
        is_compact: bool,
        name: str,
        is_tagged: bool = False,
    ) -> None:
        if isinstance(kind, FixedSize):
            self._fixed_size(kind, expression, name)
        elif isinstance(kind, StructType):
            self._nested(kind, expression, is_nullable, is_tagged)
        elif isinstance(kind, ListOf):
            if isinstance(kind.element, FixedSize):
                self._numbers(kind.element, expression, is_nullable, name)
            else:
                self._elements(kind.element, expression, is_nullable, name)
        else:
            self._blob(isinstance(kind, Text), expression, is_nullable, is_compact)

    def _fixed_size(self, kind: FixedSize, expression: str, name: str) -> None:
        if kind.size_bytes == UUID_BYTES:
            # struct would pad or cut it without a word.
            with self._source.block(f"if len({expression}) != {UUID_BYTES}:"):
                self._source.line(f"raise refuse_uuid({name})")
        self._run.append(Value(kind.letter, expression))

    def _nested(self, cls: StructType, expression: str, is_nullable: bool, is_tagged: bool) -> None:
        """A struct in place; one that may be null has a byte in front: -1 for null (tagged: 0), else 1."""
        source = self._source
        if "." in expression:
            variable = source.fresh("struct")
            source.line(f"{variable} = {expression}")
        else:
            variable = expression
        if not is_nullable:
            self._struct(cls, variable)
            return
        run = self._run.copy()
        with source.block(f"if {variable} is None:"):
            self._run.append(Value("b", "0" if is_tagged else "-1"))
            self._run.flush()
        self._run.put_back(run)
        with source.block("else:"):
            self._run.append(Value("b", "1"))
            self._struct(cls, variable)

    def _blob(self, is_text: bool, expression: str, is_nullable: bool, is_compact: bool) -> None:
        source = self._source
        data = f"{expression}.encode()" if is_text else expression
        length = "len(data) + 1" if is_compact else "len(data)"
        if is_nullable:
            with source.block(f"if {expression} is None:"):
                source.line('data = b""')
                source.line(f"n = {0 if is_compact else -1}")
            with source.block("else:"):
                source.line(f"data = {data}")
                source.line(f"n = {length}")
        else:
            source.line(f"data = {data}")
            source.line(f"n = {length}")
        self._run.flush_with_length("h" if is_text else "i", is_compact)
        if is_nullable:
            source.line("if data: add(data)")
        else:
            source.line("add(data)")

    def _numbers(self, element: FixedSize, expression: str, is_nullable: bool, name: str) -> None:
        """Numbers join the run; whether they are few is seen when it is written."""
        source = self._source
        numbers, count = source.fresh("numbers"), source.fresh("count")
        length = f"{count} + 1" if self._is_flexible else count
        source.line(f"{numbers} = {expression}")
        if is_nullable:
            length = source.fresh("length")
            with source.block(f"if {numbers} is None:"):
                source.line(f"{numbers} = ()")
                source.line(f"{length} = {0 if self._is_flexible else -1}")
            with source.block("else:"):
                source.line(f"{length} = len({numbers}){' + 1' if self._is_flexible else ''}")
        source.line(f"{count} = len({numbers})")
        if element.size_bytes == UUID_BYTES:
            with source.block(f"if any(len(uuid) != {UUID_BYTES} for uuid in {numbers}):"):
                source.line(f"raise refuse_uuid({name})")
        prefix = Value("B" if self._is_flexible else "i", length)
        self._run.append(Numbers(element.letter, numbers, count, prefix))

    def _elements(self, element: object, expression: str, is_nullable: bool, name: str) -> None:
        source = self._source
        elements = source.fresh("elements")
        length = f"len({elements}) + 1" if self._is_flexible else f"len({elements})"
        if is_nullable:
            null = "0" if self._is_flexible else "-1"
            source.line(f"{elements} = {expression}")
            source.line(f"n = {null} if {elements} is None else {length}")
        else:
            source.line(f"{elements} = {expression}")
            source.line(f"n = {length}")
        self._run.flush_with_length("i", self._is_flexible)
        variable = source.fresh("element")
        with source.block(f"for {variable} in {elements}{' or ()' if is_nullable else ''}:"):
            self._value(element, variable, is_nullable=False, is_compact=self._is_flexible, name=name)
            self._run.flush()
