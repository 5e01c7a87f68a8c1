"""What structured outputs refuse of a JSON schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

NO_SCHEMA = (
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "maxItems", "uniqueItems"),
)
"""What structured outputs do not know of JSON Schema."""


def refused_of(schema: Any, *, named: bool = False) -> Iterator[str]:
    """What is refused, at any depth; `named`: the keys are names of properties."""
    for item in schema if isinstance(schema, list) else []:
        yield from refused_of(item)
    if not isinstance(schema, dict):
        return
    if not named:
        for name in NO_SCHEMA:
            if name in schema:
                kind = schema.get("type")
                yield f"output_config.format.schema: For '{kind}' type, {name} is not supported"
        if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
            yield (
                "output_config.format.schema: For 'object' type, 'additionalProperties' "
                "must be explicitly set to false"
            )
    for name, value in schema.items():
        if named or name not in ("enum", "const", "default", "examples", "description"):
            yield from refused_of(value, named=not named and name in ("properties", "$defs"))
