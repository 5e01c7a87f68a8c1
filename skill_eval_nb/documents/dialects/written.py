"""A dialect's document as the plain JSON value that stands in its file."""

from __future__ import annotations

from typing import Any

import msgspec

from ..document import Document, fields_of, origin_of
from ..faults import Faults

_ABSENT = ("missing", "wrong-type")


def written(document: Document, faults: Faults) -> Any:
    """The fields of a document that `mend` made, in the document's order.

    Fields that the type does not know are left out, and so are those that there was nothing
    usable for (`faults` of the same `mend` say which): a required figure that is not known
    is absent, never 0.
    """
    empty = {fault.where for fault in faults if fault.code in _ABSENT}
    return _plain(document, "$", empty)


def _plain(value: Any, where: str, empty: set[str]) -> Any:
    if isinstance(value, list):
        return [_plain(item, f"{where}[{index}]", empty) for index, item in enumerate(value)]
    if isinstance(value, dict):
        return {key: _plain(item, f"{where}.{key}", empty) for key, item in value.items()}
    if not isinstance(value, Document):
        return value
    origin = origin_of(value)
    names = {} if origin is None else {name: key for key, name in origin.keys.items()}
    out = {}
    bare = origin is not None and not isinstance(origin.raw, dict)
    for field in fields_of(type(value)):
        name, item = field.encode_name, getattr(value, field.name)
        place = where if bare else f"{where}.{names.get(name, name)}"
        if place in empty or (
            not field.required and name not in names and _is_default(item, field)
        ):
            continue
        out[name] = _plain(item, place, empty)
    return out.get(value.plain) if bare else out


def _is_default(value: Any, field: msgspec.structs.FieldInfo) -> bool:
    if field.default is not msgspec.NODEFAULT:
        return bool(value == field.default)
    return bool(value == field.default_factory())
