"""Names in a record of JSON that its schema does not know, inside STRUCTs, too, as Spark finds them.

Each STRUCT of the schema costs a look at the text of every record; a flat schema costs one.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from trivium.pipeline.nested import ODD, Place, structs_in, written
from trivium.pipeline.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import Column


def unknown_names(columns: Schema, text: "Column") -> "Column":
    """Sorted places (ARRAY<STRING>), as ``pipeline.nested`` writes them: ``address.zip``, ``lines[].sku``."""
    from pyspark.sql import functions as F  # noqa: N812

    found = [_quoted(_beyond(F.json_object_keys(text), columns.names))]
    for place, struct in structs_in(columns):
        if any("'" in step.name for step in place):
            continue  # No path of JSON reaches it.
        names = _beyond(_keys_at(text, place), Schema(struct.fields).names)
        found.append(_inside(written(place), _quoted(names)))
    nothing = F.array().cast("array<string>")
    return F.sort_array(F.concat(*(F.coalesce(each, nothing) for each in found)))


def _inside(place: str, names: "Column") -> "Column":
    from pyspark.sql import functions as F  # noqa: N812

    return F.transform(names, lambda name: F.concat(F.lit(f"{place}."), name))


def _beyond(keys: "Column", known: Sequence[str]) -> "Column":
    from pyspark.sql import functions as F  # noqa: N812

    return F.array_except(keys, F.array(*(F.lit(name) for name in known)))


def _keys_at(text: "Column", place: Place) -> "Column":
    """The names in all objects at a place: one, or as many as its arrays have."""
    from pyspark.sql import functions as F  # noqa: N812

    path, objects = "$", None
    for step in place:
        path += f"['{step.name}']"
        if step.arrays:
            objects = _inner(text, objects, path, step.arrays)
            path = "$"
    if objects is None:
        return F.json_object_keys(F.get_json_object(text, path))
    if path != "$":
        objects = F.transform(objects, lambda each: F.get_json_object(each, path))
    return F.flatten(F.array_compact(F.transform(objects, F.json_object_keys)))


def _inner(text: "Column", objects: "Column | None", path: str, arrays: int) -> "Column":
    """The elements of the arrays at a path, of one text or of each of several, as texts."""
    from pyspark.sql import functions as F  # noqa: N812

    kind = "array<" * arrays + "string" + ">" * arrays

    def elements(one: "Column") -> "Column":
        found = F.from_json(F.get_json_object(one, path), kind)
        for _ in range(arrays - 1):
            found = F.flatten(F.array_compact(found))
        return found

    if objects is None:
        return elements(text)
    return F.flatten(F.array_compact(F.transform(objects, elements)))


def _quoted(names: "Column") -> "Column":
    from pyspark.sql import functions as F  # noqa: N812

    def name(each: "Column") -> "Column":
        inside = F.concat(F.lit("`"), F.replace(each, F.lit("`"), F.lit("``")), F.lit("`"))
        return F.when(each.rlike(ODD), inside).otherwise(each)

    return F.transform(names, name)
