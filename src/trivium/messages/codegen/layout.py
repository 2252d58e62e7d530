"""What one version of a struct holds: which fields, where, and the least that they take.

The least size of an element is what a count is checked against before anything is made for it (promise S2).
"""

from trivium.messages.schema import Field, FieldType, StructType
from trivium.messages.types import FixedSize, Text

TAG_COUNT_BYTES_MIN = 1


def untagged_fields(cls: StructType, version: int) -> list[Field]:
    """The fields that this version has in its body, in wire order."""
    return [each for each in cls.fields if version in each.versions and each.tag is None]


def tagged_fields(cls: StructType, version: int) -> list[Field]:
    """The fields that this version has in its tag section, in order of their tags."""
    present = (each for each in cls.fields if version in each.versions and each.tag is not None)
    return sorted(present, key=lambda each: each.tag or 0)


def absent_fields(cls: StructType, version: int) -> list[Field]:
    return [each for each in cls.fields if version not in each.versions]


def bytes_min(cls: StructType, version: int, is_flexible: bool) -> int:
    """The least that one struct takes on the wire: what a count of them is checked against."""
    size = TAG_COUNT_BYTES_MIN if is_flexible else 0
    for each in untagged_fields(cls, version):
        size += field_bytes_min(each, version, is_flexible)
    return size


def field_bytes_min(each: Field, version: int, is_flexible: bool) -> int:
    if isinstance(each.type, StructType):
        return 1 if version in each.nullable else bytes_min(each.type, version, is_flexible)
    return element_bytes_min(each.type, version, is_flexible and each.rules.compact)


def element_bytes_min(kind: FieldType, version: int, is_flexible: bool) -> int:
    if isinstance(kind, FixedSize):
        return kind.size_bytes
    if isinstance(kind, StructType):
        return bytes_min(kind, version, is_flexible)
    return 1 if is_flexible else 2 if isinstance(kind, Text) else 4


def label(message: StructType, each: Field, version: int) -> str:
    """How a refusal names a field."""
    return f"{message.__name__}.{each.name} (version {version})"
