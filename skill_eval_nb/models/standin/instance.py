"""The least that a JSON schema takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DEEPEST = 20
PLAIN: dict[str, Any] = {
    "integer": 1,
    "number": 1.0,
    "boolean": True,
    "null": None,
}


def minimal(schema: Any, root: Mapping[str, Any] | None = None, depth: int = 0) -> Any:
    """A small instance of a schema, the same for the same schema.

    It heeds type, properties (those required), items with minItems, enum, const, anyOf,
    oneOf, allOf (the first), minimum, minLength, the date formats, and references within
    the schema. A schema that refers to itself for ever ends in null after 20 levels.

    >>> minimal({"type": "object", "required": ["a"], "properties": {"a": {"enum": ["x"]}}})
    {'a': 'x'}
    """
    if not isinstance(schema, dict) or depth > DEEPEST:
        return None
    root = schema if root is None else root
    for name in ("const", "default"):
        if name in schema:
            return schema[name]
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return schema["enum"][0]
    if isinstance(schema.get("$ref"), str):
        return minimal(_referred(schema["$ref"], root), root, depth + 1)
    for name in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(name), list) and schema[name]:
            return minimal(schema[name][0], root, depth + 1)
    return _of_type(schema, root, depth)


def _of_type(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    properties = schema.get("properties")
    if kind == "object" or (kind is None and isinstance(properties, dict)):
        known = properties if isinstance(properties, dict) else {}
        required = schema.get("required")
        names = required if isinstance(required, list) else []
        return {str(name): minimal(known.get(name, {}), root, depth + 1) for name in names}
    if kind == "array":
        least = schema.get("minItems")
        number = min(least, 10) if isinstance(least, int) else 0
        return [minimal(schema.get("items"), root, depth + 1) for _ in range(number)]
    if kind in ("integer", "number") and isinstance(schema.get("minimum"), int | float):
        return schema["minimum"]
    if kind == "string":
        least = schema.get("minLength")
        dates = {"date": "2000-01-01", "date-time": "2000-01-01T00:00:00Z", "time": "00:00:00Z"}
        text = dates.get(str(schema.get("format")), "stand-in")
        return text.ljust(min(least, 10_000), ".") if isinstance(least, int) else text
    return PLAIN.get(str(kind))


def _referred(reference: str, root: Mapping[str, Any]) -> Any:
    found: Any = root
    for part in reference.removeprefix("#/").split("/"):
        found = found.get(part) if isinstance(found, dict) else None
    return found
