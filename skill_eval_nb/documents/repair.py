"""Whatever has a clear meaning, read into documents; and what of a file no document holds."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain, islice
from typing import Any, TypeVar, cast

import msgspec
from msgspec import inspect

from .base import (
    MOST,
    Declared,
    Document,
    Faults,
    Origin,
    attach_origin,
    dump,
    expected_fields,
    fields_of,
    origin_of,
    plain_key,
    struct_of,
    unwrap,
)
from .parsing import Unreadable, read_bool, read_int, read_number, read_text

D = TypeVar("D", bound=Document)


UNUSABLE: Any = object()
"""What a reader gives if there was nothing to use; the fault is already noted."""

MOST_VALUES = 50_000
"""How many values are looked at for repair. Larger files are read if they are as documented."""

MOST_MEMBERS = 5_000
"""No object that people write has more keys: such a one is not looked at for repair."""

MOST_KEYS = 200
"""Among more keys than this no misspelt one is looked for."""


def is_too_large(raw: Any) -> bool:
    """Whether a plain JSON value has more in it than is looked at for repair.

    It is read no further than that.
    """
    found, waiting = 0, [raw]
    while waiting and found <= MOST_VALUES:
        value = waiting.pop()
        if isinstance(value, dict | list):
            found += len(value)
            if isinstance(value, dict) and len(value) > MOST_MEMBERS:
                return True
            inside = value.values() if isinstance(value, dict) else value
            if found <= MOST_VALUES:
                waiting += [part for part in inside if isinstance(part, dict | list)]
    return found > MOST_VALUES


TOO_LARGE = (
    f"it is not written as documented, and has more than {MOST_VALUES:,} values, or "
    f"{MOST_MEMBERS:,} keys in an object, too many to repair; it was not used"
)

KEYS_OF_A_LIST = ("name", "dimension", "configuration", "criterion", "id")
"""Fields that name an element, where people write a list instead of a mapping."""


def mend(raw: Any, document: type[D]) -> tuple[D, Faults]:
    """Read plain JSON values into `document`.

    Returns the document and the faults: what was missing, what was converted, what
    stood under another name, what could not be used. Of a file with too many values to
    look at nothing is used, and the one fault says so.

    >>> from skill_eval_nb.documents import Grading
    >>> grading, faults = mend({"assertions": [{"name": "It builds", "met": "yes"}]}, Grading)
    >>> grading.expectations[0].text, grading.expectations[0].passed
    ('It builds', True)
    >>> [fault.code for fault in faults]
    ['other-name', 'other-name', 'other-name', 'other-form']
    """
    faults, value = Faults(), UNUSABLE
    if is_too_large(raw):
        faults.add("error", "too-large", "$", TOO_LARGE)
    else:
        value = _read_struct(raw, struct_of(document), "$", faults)
    if value is UNUSABLE:
        value = _read_struct({}, struct_of(document), "$", Faults())
    return value, faults


HOLDING = (inspect.ListType, inspect.DictType, inspect.StructType)
"""Without a field of these kinds, whatever stands elsewhere in its place was not read."""


def _read_struct(
    raw: Any, kind: inspect.StructType, where: str, faults: Faults, _: str | None = None
) -> Any:
    document = cast("type[Document]", kind.cls)
    bare = not isinstance(raw, dict)
    if bare and (document.plain is None or raw is None):
        return _unusable(raw, "an object", where, faults)
    given: dict[str, Any] = {str(document.plain): raw} if bare else raw
    fields = fields_of(document)
    keys = _match_keys(given, fields, where, faults)
    values: dict[str, Any] = {}
    converted: dict[str, Any] = {}
    for key, name in keys.items():
        field, found = fields[name], given[key]
        if type(found) in field.takes:  # as most are
            values[name] = found
            continue
        place = where if bare else f"{where}.{key}"
        value = _read_value(found, field.inner, place, faults, field.unit)
        if value is UNUSABLE:
            value = _blank(field)
        values[name] = value
        if _was_converted(found, value):
            converted[name] = dump(value)
    unwritten: dict[str, Any] = {}
    absent = [entry for entry in expected_fields(document).items() if entry[0] not in keys.values()]
    rest = {key: value for key, value in given.items() if key not in keys} if absent else {}
    for name, field in absent:
        value = _read_inline(rest, field, where, faults) if field.inline else None
        if value is None and field.field.required:
            close = _nearest_key(name, tuple(rest)) if len(rest) <= MOST_KEYS else None
            hint = f"; did you mean `{close}`?" if close else ""
            severity = "warning" if _is_nullable(field.kind) else "error"
            message = f"`{name}` is missing{hint}"
            lost = isinstance(field.kind, HOLDING)
            faults.add(severity, "missing", f"{where}.{name}", message, lost=lost)
            value = _blank(field)
        elif value is None:
            continue
        values[name] = value
        unwritten[name] = dump(value)
    instance = document(**{fields[name].field.name: value for name, value in values.items()})
    attach_origin(instance, Origin(raw, keys, converted, unwritten))
    return instance


def _match_keys(
    given: dict[str, Any], fields: dict[str, Declared], where: str, faults: Faults
) -> dict[str, str]:
    """Which raw key gives which field: by its name, else by another name it is known by."""
    keys = {key: key for key in given if key in fields}
    free = {plain_key(key): key for key in reversed(given) if key not in keys}
    if not free:
        return keys
    for name, field in fields.items():
        if name in keys:
            continue
        for other in (name, *field.also):
            key = free.get(plain_key(other))
            if key is None or not _is_plausible(given[key], field.kind):
                continue
            keys[key] = name
            del free[plain_key(other)]
            faults.add("info", "other-name", f"{where}.{key}", f"read as `{name}`")
            break
    return keys


_IMPLAUSIBLE = {
    inspect.IntType: (dict, list, bool),
    inspect.FloatType: (dict, list, bool),
    inspect.BoolType: (dict, list),
    inspect.StrType: (dict, list),
}
"""What a key of another name does not mean a field of a kind with; a mapping, of the others."""


def _is_plausible(raw: Any, kind: inspect.Type) -> bool:
    """Whether a value found under another name can be meant for a field of this kind."""
    if isinstance(kind, inspect.UnionType):
        return any(_is_plausible(raw, unwrap(type_)[1]) for type_ in kind.types)
    inner = unwrap(kind.item_type)[1] if isinstance(kind, inspect.ListType) else kind
    if isinstance(inner, (inspect.StructType, inspect.DictType)):
        return isinstance(raw, (dict, list))
    if isinstance(kind, inspect.NoneType):
        return raw is None
    return not isinstance(raw, _IMPLAUSIBLE.get(type(kind), dict))


def _read_inline(rest: dict[str, Any], field: Declared, where: str, faults: Faults) -> Any:
    """The struct whose fields stand directly in `rest`, or None if none of them do."""
    kind = field.inner
    assert isinstance(kind, inspect.StructType)
    inside = _match_keys(rest, fields_of(cast("type[Document]", kind.cls)), where, Faults())
    if not inside:
        return None
    place = f"{where}.{next(iter(inside))}"
    faults.add("info", "inline", place, f"it belongs inside `{field.name}`; it is directly here")
    return _read_struct(rest, kind, where, faults)


@lru_cache(maxsize=4096)  # the same keys come again in every file
def _nearest_key(name: str, keys: tuple[str, ...]) -> str | None:
    """The key that looks most like a name, if one does."""
    return next(iter(difflib.get_close_matches(name, keys, n=1, cutoff=0.75)), None)


def _is_nullable(kind: inspect.Type) -> bool:
    return isinstance(kind, inspect.UnionType) and kind.includes_none


def _blank(field: Declared) -> Any:
    """What stands in a field that was given nothing usable."""
    if field.field.default is not msgspec.NODEFAULT:
        return field.field.default
    if field.field.default_factory is not msgspec.NODEFAULT:
        return field.field.default_factory()
    if _is_nullable(field.kind):
        return None
    if isinstance(field.kind, inspect.StructType):
        return _read_struct({}, field.kind, "$", Faults())
    if isinstance(field.kind, (inspect.StrType, inspect.LiteralType)):
        return ""
    blanks: dict[type, Any] = {inspect.ListType: [], inspect.DictType: {}}
    return blanks.get(type(field.kind), 0)


def _was_converted(raw: Any, value: Any) -> bool:
    """Whether a value is written another way than it was found."""
    if isinstance(value, Document):
        return not isinstance(raw, dict)
    if isinstance(value, list) and isinstance(raw, list):
        return len(raw) != len(value) or any(map(_was_converted, raw, value))
    if isinstance(value, dict) and isinstance(raw, dict):
        return raw.keys() != value.keys() or any(
            _was_converted(raw[key], item) for key, item in value.items()
        )
    return type(raw) is not type(value) or raw != value


def _read_value(raw: Any, kind: inspect.Type, where: str, faults: Faults, unit: str | None) -> Any:
    if isinstance(kind, inspect.Metadata):
        extra, kind = unwrap(kind)
        unit = extra.get("unit", unit)
    return _READERS.get(type(kind), _read_scalar)(raw, kind, where, faults, unit)


_JSON_TYPES: dict[type, tuple[type, ...]] = {
    inspect.StructType: (dict,),
    inspect.DictType: (dict,),
    inspect.ListType: (list,),
    inspect.StrType: (str,),
    inspect.BoolType: (bool,),
    inspect.IntType: (int,),
    inspect.FloatType: (int, float),
    inspect.LiteralType: (str,),
}


def _read_union(
    raw: Any, kind: inspect.UnionType, where: str, faults: Faults, unit: str | None
) -> Any:
    if raw is None and kind.includes_none:
        return None
    choices = [type_ for type_ in kind.types if not isinstance(type_, inspect.NoneType)]
    if len(choices) == 1:
        return _read_value(raw, choices[0], where, faults, unit)
    fitting = [one for one in choices if type(raw) in _JSON_TYPES[type(unwrap(one)[1])]]
    if type(raw) is int and unit != "rate":  # stays whole where it may be either
        fitting.sort(key=lambda choice: not isinstance(unwrap(choice)[1], inspect.IntType))
    before, value = len(faults), UNUSABLE
    for choice in fitting or choices:
        del faults[before:]
        value = _read_value(raw, choice, where, faults, unit)
        if value is not UNUSABLE:
            break
    return value


def _read_list(
    raw: Any, kind: inspect.ListType, where: str, faults: Faults, unit: str | None
) -> Any:
    if raw is None:
        faults.add("info", "other-form", where, "null read as an empty list")
        return []
    if isinstance(raw, dict) and raw and all(isinstance(entry, dict) for entry in raw.values()):
        faults.add("info", "other-form", where, "a mapping read as a list, its keys as names")
        raw = [{"name": key, **entry} for key, entry in raw.items()]
    elif not isinstance(raw, list):
        if isinstance(raw, dict) or unwrap(kind.item_type)[0].get("unit"):
            return _unusable(raw, "a list", where, faults)
        faults.add("info", "other-form", where, "a single value read as a list of one")
        raw = [raw]
    values = [
        _read_value(item, kind.item_type, f"{where}[{index}]", faults, unit)
        for index, item in enumerate(raw)
    ]
    if kind.min_length and len(raw) < kind.min_length:
        message = f"expected {kind.min_length} or more, found {len(raw)}"
        faults.add("error", "outside-limits", where, message, lost=False)
    return [value for value in values if value is not UNUSABLE]


def _read_choice(
    raw: Any, kind: inspect.LiteralType, where: str, faults: Faults, _: str | None
) -> Any:
    """One of a few words; another word is kept, with a fault."""
    if raw in kind.values:
        return raw
    wanted = f"one of {', '.join(map(str, kind.values))}"
    if not isinstance(raw, str):
        return _unusable(raw, wanted, where, faults)
    message = f"expected {wanted}, found {_show(raw)}"
    faults.add("error", "outside-limits", where, message, lost=False)
    return raw


def _dict(raw: Any, kind: inspect.DictType, where: str, faults: Faults, unit: str | None) -> Any:
    if isinstance(raw, list) and raw and (named := mapping_by_name(raw)):
        faults.add("info", "other-form", where, "a list read as a mapping from its names")
        raw = named
    if not isinstance(raw, dict):
        return _unusable(raw, "an object", where, faults)
    values = {
        key: _read_value(item, kind.value_type, f"{where}.{key}", faults, unit)
        for key, item in raw.items()
    }
    return {key: value for key, value in values.items() if value is not UNUSABLE}


def mapping_by_name(items: list[Any]) -> dict[str, Any] | None:
    """A list of objects as a mapping from their names; None where not each has one of its own."""
    for key in KEYS_OF_A_LIST:
        found = [item.get(key) for item in items if isinstance(item, dict)]
        names = [name for name in found if isinstance(name, str)]
        if len(set(names)) == len(items):
            return {
                name: {other: value for other, value in item.items() if other != key}
                for name, item in zip(names, items, strict=True)
            }
    return None


_SCALARS: dict[type, tuple[str, Callable[[Any, str | None], Any]]] = {
    inspect.BoolType: ("true or false", lambda raw, _: read_bool(raw)),
    inspect.IntType: ("a whole number", read_int),
    inspect.FloatType: ("a number", read_number),
    inspect.StrType: ("a text", lambda raw, _: read_text(raw)),
}
"""What a scalar is called, and what reads it."""


def _read_scalar(raw: Any, kind: inspect.Type, where: str, faults: Faults, unit: str | None) -> Any:
    if type(raw) is str and isinstance(kind, inspect.StrType) and not kind.pattern:
        return raw  # as most are
    wanted, reader = _SCALARS[type(kind)]
    is_text = isinstance(kind, inspect.StrType)
    number: Any = raw if type(raw) in (int, float) else 0
    if unit == "rate" and where.endswith("score") and 1 < number <= 10:
        return _unusable(raw, "a share of 1, or `max_score` beside it", where, faults)
    try:  # read as a number, a large whole one would lose digits
        value = raw if type(raw) is int and isinstance(kind, inspect.IntType) else reader(raw, unit)
    except Unreadable:
        return _unusable(raw, wanted, where, faults, is_figure=not is_text)
    broken = _find_broken_limit(value, kind)
    if broken and not (isinstance(value, str) or unit == "id"):
        return _unusable(raw, f"{wanted} {broken}", where, faults, is_figure=True)
    if broken:  # names and ids are of use even where a rule forbids them
        message = f"expected {wanted} {broken}, found {_show(raw)}"
        faults.add("error", "outside-limits", where, message, lost=False)
    if value != raw or isinstance(raw, bool) is not isinstance(value, bool):
        clear = is_text or isinstance(value, bool)  # a number may be meant in another unit
        severity, code = ("info", "other-form") if clear else ("warning", "converted")
        faults.add(severity, code, where, f"{_show(raw)} read as {value!r}")
    return value


def _find_broken_limit(value: Any, kind: inspect.Type) -> str | None:
    """The limit of its type that a value breaks, in words."""
    if isinstance(kind, (inspect.IntType, inspect.FloatType)) and value is not None:
        if kind.ge is not None and value < kind.ge:
            return f"of at least {kind.ge}"
        if kind.le is not None and value > kind.le:
            return f"of at most {kind.le}"
    pattern = kind.pattern if isinstance(kind, inspect.StrType) else None
    if pattern and not re.search(pattern, str(value)):
        return f"like {pattern}"
    return None


_READERS: dict[type, Callable[..., Any]] = {
    inspect.UnionType: _read_union,
    inspect.StructType: _read_struct,
    inspect.ListType: _read_list,
    inspect.DictType: _dict,
    inspect.LiteralType: _read_choice,
}
"""What reads a value of each kind; the rest are scalars."""


def _unusable(raw: Any, wanted: str, where: str, faults: Faults, *, is_figure: bool = False) -> Any:
    key = where.rsplit(".", 1)[-1].partition("[")[0]
    lost = is_figure or next(figures_in(raw, where, key), None) is not None
    faults.add("error", "wrong-type", where, f"expected {wanted}, found {_show(raw)}", lost=lost)
    return UNUSABLE


def _show(raw: Any) -> str:
    if isinstance(raw, dict):
        return "an object" if not raw else f"an object with {', '.join(list(raw)[:4])}"
    if isinstance(raw, list):
        return f"a list of {len(raw)}"
    text = "null" if raw is None else str(raw).lower() if isinstance(raw, bool) else repr(raw)
    return text if len(text) <= 60 else text[:57] + "…"


_FIGURE = re.compile(
    r"(?:^|_)(?:pass(?:ed|es|ing)?|fail(?:ed|ures?)?|scores?|subscores?|rates?|verdicts?|grades?"
    r"|accuracy|percent|winner)(?:$|_)"
)
_TIME = re.compile(
    r"(?:^|_)(?:s|secs?|seconds?|mins?|minutes?|ms|millis|time|runtime|duration|elapsed|took"
    r"|latency|wall)(?:$|_)"
)
_WORDS = re.compile(
    r"(?:pass|passed|fail|failed|met|unmet|[\d.]+\s*%|\d+(?:\.\d+)?\s*/\s*\d+)", re.IGNORECASE
)
_DEEPEST = 12


def find_unused(document: Any) -> Faults:
    """A fault for each key that a document's type does not know and that holds such a figure.

    Where a document has a place for a time and none was found, such a figure may be a time, too.
    """
    faults = Faults()
    times = [
        getattr(document, field.field.name)
        for field in (fields_of(type(document)).values() if isinstance(document, Document) else ())
        if _TIME.search(field.name)
    ]
    timeless = bool(times) and times.count(None) == len(times)
    for mark, where, value in walk(document):
        if mark != "unknown":
            continue
        key = where.rsplit(".", 1)[-1]
        if timeless and type(value) in (int, float) and _TIME.search(_split_words(key)):
            message = f"not used: `{key}` may be the time; call it total_duration_seconds"
            faults.add("warning", "not-used", where, message)
        else:
            note_unused(value, where, faults)
    return faults


def note_unused(value: Any, where: str, faults: Faults) -> None:
    """Note the figures in a part of a file that was not used, if there are any."""
    key = re.sub(r"\[\d+\]", "", where).rsplit(".", 1)[-1]
    found = [place for place, _ in islice(figures_in(value, where, key), 4)]
    if found:
        keys = ", ".join(dict.fromkeys(place.rsplit(".", 1)[-1] for place in found[:3]))
        more = ", …" if len(found) > 3 else ""
        message = f"not used: it holds {keys}{more} under an unknown name"
        faults.add("info", "not-used", where, message)


def note_missing(raw: Any, documents: Any, faults: Faults) -> None:
    """Note the numbers of a file that are in none of the documents that were made of it.

    What these documents themselves do not know is what `find_unused` gives.
    """
    used = set(_leaves(msgspec.to_builtins(documents)))
    unknown = (value for mark, _, value in walk(documents) if mark == "unknown")
    used.update(chain.from_iterable(map(_leaves, unknown)))
    reported = {fault.where for fault in faults if fault.code == "not-used"}
    for where, value in figures_in(raw):
        if isinstance(value, bool | str) or not reported.isdisjoint(_paths_above(where)):
            continue
        parts = (100, 1000) if abs(value) < MOST else ()  # read as a percentage, milliseconds
        if used.isdisjoint((value, *(round(value / part, 12) for part in parts))):
            note_unused(value, where, faults)


def _paths_above(where: str) -> Iterator[str]:
    """A JSON path, and those of all that it lies in."""
    yield where
    for found in re.finditer(r"[.\[]", where):
        yield where[: found.start()]


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)
    else:
        yield value


def figures_in(
    value: Any, where: str = "$", key: str = "", depth: int = 0
) -> Iterator[tuple[str, Any]]:
    """What looks like a verdict, a rate or a score, or lies under such a key, with its JSON path.

    >>> list(figures_in({"tests": [{"name": "a", "passed": True}], "score_of": "Bach"}))
    [('$.tests[0].passed', True)]
    """
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        named = _is_named(key)
        for index, item in enumerate(value):
            if named or isinstance(item, dict | list):  # else there may be millions of numbers
                yield from figures_in(item, f"{where}[{index}]", key, depth + 1)
    elif isinstance(value, dict):
        for name, item in value.items():
            under = name if _is_named(name) or not _is_named(key) else key
            yield from figures_in(item, f"{where}.{name}", under, depth + 1)
    elif _is_named(key) and (
        isinstance(value, bool | int | float)
        or (isinstance(value, str) and _WORDS.fullmatch(value.strip()) is not None)
    ):
        yield where, value


@lru_cache(maxsize=4096)  # the same keys come again in every file
def _is_named(key: str) -> bool:
    return _FIGURE.search(_split_words(key)) is not None


def _split_words(key: str) -> str:
    """A key with its words apart: passRate, pass-rate and pass_rate are the same."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[^A-Za-z]+", "_", key).lower()


def walk(value: Any) -> Iterator[tuple[str, str, Any]]:
    """Every key of a document that was read: how its type takes it, its JSON path, its value.

    `known` and `unknown` are keys that are there, those of a part whose fields stand directly in
    the object too; `absent` are fields of the type that have no key.
    """
    waiting = [("", "$", value)]
    while waiting:
        mark, where, value = waiting.pop()
        if mark:
            yield mark, where, value
        if mark in ("unknown", "absent"):
            continue
        origin = origin_of(value) if isinstance(value, Document) else None
        inside: list[tuple[str, str, Any]] = []
        if isinstance(value, list):
            inside = [("", f"{where}[{index}]", item) for index, item in enumerate(value)]
        elif isinstance(value, dict):
            inside = [("", f"{where}.{key}", item) for key, item in value.items()]
        elif origin is not None and not isinstance(origin.raw, dict):
            inside = [("", where, getattr(value, str(value.plain)))]  # it stands for one field
        elif origin is not None:
            unknown = dict(origin.raw)
            for document, keys in _with_inlined(value, origin.keys):
                fields = fields_of(type(document))
                for key, name in keys.items():
                    unknown.pop(key, None)
                    item = getattr(document, fields[name].field.name)
                    inside.append(("known", f"{where}.{key}", item))
            inside += (("unknown", f"{where}.{key}", item) for key, item in unknown.items())
            absent = fields_of(type(value)).keys() - origin.keys.values()
            inside += (("absent", f"{where}.{name}", None) for name in absent)
        waiting += reversed(inside)


def _with_inlined(
    document: Document, keys: dict[str, str]
) -> Iterator[tuple[Document, dict[str, str]]]:
    """A document and those whose fields stand directly in its object, each with its keys."""
    yield document, keys
    for name, field in expected_fields(type(document)).items():
        part = getattr(document, field.field.name) if field.inline else None
        if isinstance(part, Document) and name not in keys.values() and (of := origin_of(part)):
            yield from _with_inlined(part, of.keys)
