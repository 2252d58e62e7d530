"""An answer without what may differ: some fields, and the order of lists that have none."""

from typing import Any

from tests.interop.iggy.dialogues.allowed import ALLOWED, NODES, OF_NOBODY

LISTS = ("GET_USERS", "GET_TOKENS", "GET_STREAMS", "GET_TOPICS", "GET_CONSUMER_GROUPS")
"""One that is empty has no bytes."""

ORDER = {"all": "name", "streams": "name", "topics": "name", "members": "id"}
"""By what lists are sorted that have no order."""


def plain(command: str, fields: Any) -> dict[str, Any]:
    if fields is None:
        return {"all": []} if command in LISTS else {"empty": True}
    if command in NODES:
        return {name: fields[name] for name in NODES[command]}
    found: dict[str, Any] = _plain(fields, command, "")
    return found


def _plain(value: Any, command: str, name: str, inside: str = "") -> Any:
    rule = ALLOWED.get(f"{command}.{name}") or ALLOWED.get(f"{inside}.{name}") or ALLOWED.get(name)
    if rule is not None:
        return rule[0](value)
    if isinstance(value, dict):
        return {key: _plain(each, command, key, name) for key, each in value.items()}
    if isinstance(value, list):
        items = [_plain(each, command, name, inside) for each in value]
        own = [each for each in items if not isinstance(each, dict) or each.get("name") not in OF_NOBODY]
        order = ORDER.get(name)
        return sorted(own, key=lambda each: each[order]) if order else own
    return value
