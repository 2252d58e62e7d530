"""The class is the schema: a message is a class whose body lists its fields in wire order.

    class FetchTopic(Struct):
        topic: String = field("0-12", default="")
        topic_id: Uuid = field("13+", default=ZERO_UUID)
        partitions: list[FetchPartition]

A plain annotation is a field that every version has. ``field`` says in which versions it exists, what
it is elsewhere, whether it is tagged, and where it may be null. From the class the codecs are generated,
per version and on first use (see ``codegen``); this module knows no bytes.

Rules:
- A field that some version lacks has a default: it is the value after decoding such a version. A value
  other than the default cannot be written in such a version, unless the field is ``ignorable``.
- Classes are cheap to define: ``__slots__`` are made at once, ``__init__`` at the first construction.
- Structs are mutable values: equal when all fields are equal, and not hashable.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    TypeAlias,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
)

from trivium.messages.types import Blob, FixedSize, Text
from trivium.messages.version_range import ALL_VERSIONS, NO_VERSIONS, VersionRange
from trivium.wire.tagged_fields import NO_TAGGED_FIELDS, TaggedFields


class _Required:
    """The default of a field that has none."""

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Final = _Required()

SECRET_FIELDS: Final = frozenset(
    (
        "auth_bytes",
        "current_password",
        "hmac",
        "password",
        "password_hash",
        "salt",
        "salted_password",
        "server_key",
        "stored_key",
        "token_hash",
    )
)
"""What nobody may read in a log: fields by these names are left out wherever a message is shown."""


@dataclass(frozen=True, slots=True)
class FieldRules:
    """What a class body says about a field beside its type."""

    versions: VersionRange = ALL_VERSIONS
    default: Any = REQUIRED
    default_factory: Callable[[], Any] | None = None
    tag: int | None = None
    nullable: VersionRange = ALL_VERSIONS
    ignorable: bool = False
    compact: bool = True

    @property
    def is_required(self) -> bool:
        return self.default is REQUIRED and self.default_factory is None

    def default_value(self) -> Any:
        return self.default if self.default_factory is None else self.default_factory()


@dataclass(frozen=True, slots=True)
class ListOf:
    """An array of ``element``."""

    element: "ElementType"


ElementType: TypeAlias = "FixedSize | Text | Blob | StructType"
FieldType: TypeAlias = "ElementType | ListOf"


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a struct, with all that the codecs need to know about it."""

    name: str
    type: FieldType
    nullable: VersionRange
    rules: FieldRules

    @property
    def versions(self) -> VersionRange:
        return self.rules.versions

    @property
    def tag(self) -> int | None:
        return self.rules.tag

    @property
    def is_ever_nullable(self) -> bool:
        return self.nullable != NO_VERSIONS


def field(
    versions: str = "0+",
    *,
    default: Any = REQUIRED,
    default_factory: Callable[[], Any] | None = None,
    tag: int | None = None,
    nullable: str = "0+",
    ignorable: bool = False,
    compact: bool = True,
) -> Any:
    """What an annotation alone does not say about a field.

    ``nullable`` narrows the versions in which a ``T | None`` may be null, ``tag`` makes it a tagged
    field, ``ignorable`` lets a version without the field drop it silently, and ``compact=False`` keeps
    the old length form in flexible versions (one field of the request header has that).
    """
    return FieldRules(
        VersionRange.parse(versions),
        default,
        default_factory,
        tag,
        VersionRange.parse(nullable),
        ignorable,
        compact,
    )


def _annotations(namespace: dict[str, Any]) -> dict[str, Any]:
    if sys.version_info >= (3, 14):
        # Annotations are evaluated lazily there, and the class that would evaluate them is not yet made.
        import annotationlib

        annotate = annotationlib.get_annotate_from_class_namespace(namespace)
        if annotate is None:
            return {}
        return annotationlib.call_annotate_function(annotate, annotationlib.Format.VALUE)
    annotations: dict[str, Any] = namespace.get("__annotations__", {})
    return annotations


class StructType(type):
    """Turns annotations into slots at once, and into fields when a codec first asks for them."""

    _declared: dict[str, tuple[Any, FieldRules]]
    _fields: tuple[Field, ...] | None

    def __new__(
        metacls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **settings: Any
    ) -> "StructType":
        declared = {}
        if "__slots__" not in namespace:
            for field_name, annotation in _annotations(namespace).items():
                given = namespace.pop(field_name, REQUIRED)
                rules = given if isinstance(given, FieldRules) else FieldRules(default=given)
                declared[field_name] = (annotation, rules)
            namespace["__slots__"] = tuple(declared)
        cls = super().__new__(metacls, name, bases, namespace, **settings)
        cls._declared = declared
        cls._fields = None
        return cls

    def __init__(
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **_settings: Any
    ) -> None:
        super().__init__(name, bases, namespace)

    @property
    def fields(cls) -> tuple[Field, ...]:
        """The fields in wire order."""
        if cls._fields is None:
            cls._fields = tuple(_resolve(cls, name, *declared) for name, declared in cls._declared.items())
        return cls._fields


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
class Struct(metaclass=StructType):
    """A struct inside a message, or a message."""

    __slots__ = ("unknown_tags",)

    unknown_tags: TaggedFields
    """Tagged fields that this version of Trivium does not know, kept to be written again."""

    def __init__(self, **values: Any) -> None:
        initializer = _make_initializer(type(self))
        type(self).__init__ = initializer  # type: ignore[method-assign]
        initializer(self, **values)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self.unknown_tags == other.unknown_tags and all(
            getattr(self, name) == getattr(other, name) for name in type(self)._declared
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = [
            f"{name}={'(hidden)' if name in SECRET_FIELDS else repr(getattr(self, name))}"
            for name in type(self)._declared
        ]
        if self.unknown_tags:
            shown.append(f"unknown_tags={dict(self.unknown_tags)!r}")
        return f"{type(self).__name__}({', '.join(shown)})"


class Message(Struct):
    """A struct that stands alone: it knows its versions, and which of them are flexible (KIP-482)."""

    __slots__ = ()

    API_KEY: ClassVar[int] = -1
    VERSIONS: ClassVar[VersionRange] = NO_VERSIONS
    FLEXIBLE: ClassVar[VersionRange] = NO_VERSIONS

    def __init_subclass__(cls, versions: str = "none", flexible: str = "none", key: int = -1) -> None:
        cls.VERSIONS = VersionRange.parse(versions)
        cls.FLEXIBLE = VersionRange.parse(flexible)
        cls.API_KEY = key


class Request(Message):
    """What a client sends."""

    __slots__ = ()


class Response(Message):
    """What a broker answers."""

    __slots__ = ()


def _resolve(cls: StructType, name: str, annotation: Any, rules: FieldRules) -> Field:
    """A field, from its name, its annotation and its rules."""
    if rules.is_required and (rules.versions != ALL_VERSIONS or rules.tag is not None):
        raise TypeError(f"{cls.__name__}.{name} is not in every version, so it needs a default")
    nullable = NO_VERSIONS
    if get_origin(annotation) in (Union, UnionType):
        nullable = rules.nullable
        (annotation,) = (choice for choice in get_args(annotation) if choice is not type(None))
    if get_origin(annotation) is list:
        return Field(name, ListOf(_element_type(cls, name, get_args(annotation)[0])), nullable, rules)
    return Field(name, _element_type(cls, name, annotation), nullable, rules)


def _element_type(cls: StructType, name: str, annotation: Any) -> ElementType:
    if isinstance(annotation, StructType):
        return annotation
    if get_origin(annotation) is Annotated:
        mark = get_args(annotation)[1]
        if isinstance(mark, FixedSize | Text | Blob):
            return mark
    raise TypeError(f"{cls.__name__}.{name}: {annotation!r} is not a type of the protocol")


def _make_initializer(cls: StructType) -> Callable[..., None]:
    """``__init__`` of one class, as straight-line source: one keyword per field, one store each."""
    scope: dict[str, Any] = {"MISSING": REQUIRED, "NO_TAGS": NO_TAGGED_FIELDS}
    parameters = []
    stores = ["self.unknown_tags = NO_TAGS"]
    for index, each in enumerate(cls.fields):
        rules = each.rules
        if rules.default_factory is not None:
            scope[f"factory_{index}"] = rules.default_factory
            parameters.append(f"{each.name}=MISSING")
            stores.append(f"self.{each.name} = factory_{index}() if {each.name} is MISSING else {each.name}")
            continue
        if rules.is_required:
            parameters.append(each.name)
        else:
            scope[f"default_{index}"] = rules.default
            parameters.append(f"{each.name}=default_{index}")
        stores.append(f"self.{each.name} = {each.name}")
    star = "*, " if parameters else ""
    source = f"def __init__(self, {star}{', '.join(parameters)}):\n    " + "\n    ".join(stores)
    exec(compile(source, f"<{cls.__name__}.__init__>", "exec"), scope)  # noqa: S102 - the source is ours alone
    initializer: Callable[..., None] = scope["__init__"]
    return initializer
