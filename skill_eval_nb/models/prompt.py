"""The form of a structured answer, and looking through one before any of it counts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any


class BadAnswer(ValueError):
    """The answer cannot be used; `faults` says everything that is wrong with it."""

    def __init__(self, faults: Sequence[str]) -> None:
        """Keep all faults: the model is told of all of them at once."""
        super().__init__("; ".join(faults))
        self.faults = tuple(faults)


def parsed(text: str) -> Any:
    """The JSON of an answer; strict, so that nothing in it has two readings.

    >>> parsed('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    skill_eval_nb...BadAnswer: the answer has the same key twice in one object

    Raises:
        BadAnswer: it is no JSON.
    """

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) < len(items):
            raise BadAnswer(["the answer has the same key twice in one object"])
        return found

    def constant(name: str) -> Any:
        raise BadAnswer([f"the answer has {name} in it, which is no JSON"])

    try:
        return json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except BadAnswer:
        raise
    except RecursionError:
        raise BadAnswer(["the answer is nested too deeply"]) from None
    except ValueError as error:  # also whole numbers of thousands of digits
        raise BadAnswer([f"the answer is no JSON ({error})"]) from None


def formed(value: Any, schema: Mapping[str, Any]) -> Any:
    """A value that is of the form that was asked for; what else an object has is let be.

    >>> formed({"a": 1}, an_object(a=TEXT, b=TEXT))
    Traceback (most recent call last):
    skill_eval_nb...BadAnswer: the answer lacks b; `a` is 1, not a text

    Raises:
        BadAnswer: with everything in which it is not, each fault at its place.
    """
    if faults := list(_unlike(value, schema, "")):
        raise BadAnswer(faults)
    return value


_TYPES: dict[str, tuple[Any, str]] = {
    "object": (dict, "an object"),
    "array": (list, "a list"),
    "string": (str, "a text"),
    "boolean": (bool, "true or false"),
    "integer": (int, "a whole number"),
    "number": ((int, float), "a number"),
}


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value is of a kind; true is no number."""
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def _unlike(value: Any, schema: Mapping[str, Any], where: str) -> Iterator[str]:
    place = f"`{where}`" if where else "the answer"
    if "anyOf" in schema:  # `or_null`
        yield from () if value is None else _unlike(value, schema["anyOf"][0], where)
        return
    kind, what = _TYPES[schema["type"]]
    if not _fits(value, kind):
        yield f"{place} is {short(value)}, not {what}"
    elif value not in schema.get("enum", [value]):
        yield f"{place} is {short(value)}, not one of {', '.join(map(str, schema['enum']))}"
    elif schema["type"] == "array":
        for at, element in enumerate(value):
            yield from _unlike(element, schema["items"], f"{where}[{at}]")
    elif schema["type"] == "object":
        yield from _unlike_in(value, schema["properties"], place, f"{where}." if where else "")


def _unlike_in(
    value: Mapping[str, Any], properties: Mapping[str, Any], place: str, above: str
) -> Iterator[str]:
    """What is wrong with the fields of an object; one that may be null may be left out."""
    missing = [
        name for name, schema in properties.items() if name not in value and "anyOf" not in schema
    ]
    if missing:
        yield f"{place} lacks {', '.join(missing)}"
    for name, schema in properties.items():
        if name in value:
            yield from _unlike(value[name], schema, f"{above}{name}")


class AnswerCheck:
    """Looks through an answer of the right form and collects what is wrong."""

    def __init__(self) -> None:
        self.faults: list[str] = []

    def wrong(self, fault: str) -> None:
        """Note a fault."""
        self.faults.append(fault)

    def done(self) -> None:
        """End looking.

        Raises:
            BadAnswer: something was wrong.
        """
        if self.faults:
            raise BadAnswer(self.faults)

    def named(
        self, rows: Sequence[dict[str, Any]], what: str, field: str, wanted: list[str]
    ) -> dict[str, dict[str, Any]]:
        """The rows by their names, which must be the wanted ones, each exactly once."""
        plain = {_plain(name): name for name in wanted}
        found: dict[str, dict[str, Any]] = {}
        for row in rows:
            name = plain.get(_plain(row[field]))
            if name is None:
                self.wrong(f"there is no {what} {short(row[field])}; leave it out")
            elif name in found:
                self.wrong(f"{what} `{name}` is there twice")
            else:
                found[name] = row
        missing = [name for name in wanted if name not in found]
        if missing:
            self.wrong(f"{what}s not answered: {', '.join(missing)}")
        return found

    def telling(self, fields: Mapping[str, Any], name: str, where: str) -> str:
        """A text among an object's fields in which something must stand."""
        if not any(map(str.isalnum, fields[name])):
            self.wrong(f"{where} has no {name}")
        return fields[name]


def filled(texts: Iterable[str]) -> list[str]:
    """Texts without those in which nothing stands."""
    return [text for text in texts if text.strip()]


def short(value: Any) -> str:
    """A value of an answer, as a fault names it."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _plain(name: str) -> str:
    """A name as it stands on one line."""
    return " ".join(name.split())


def fenced(parts: Iterable[tuple[str, Sequence[str]]]) -> tuple[str, list[str]]:
    """Lines of others between tags with a nonce: the nonce, and the text of each part.

    The nonce follows from all that is shown, so that nobody who wrote it knew it.

    >>> nonce, (text,) = fenced([("skill", ["a", "b"])])
    >>> text.replace(nonce, "…").splitlines()
    ['<skill nonce="…">', 'a', 'b', '</skill nonce="…">']
    """
    parts = list(parts)
    whole = "\n".join(line for _, lines in parts for line in lines)
    nonce = sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    bodies = [(tag, "\n".join(lines) or "(none)") for tag, lines in parts]
    return nonce, [
        f'<{tag} nonce="{nonce}">\n{body}\n</{tag} nonce="{nonce}">' for tag, body in bodies
    ]


def shortened(text: str, most: int) -> str:
    """A text of so many characters, and how many were left out."""
    rest = len(text) - most
    return text if rest <= 0 else f"{text[:most]}\n[{rest} characters left out]"


def an_object(**properties: Any) -> dict[str, Any]:
    """The JSON Schema of an object with just these properties, in this order.

    >>> an_object(a={"type": "string"})["required"]
    ['a']
    """
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def a_list(item: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a list.

    >>> a_list(TEXT)
    {'type': 'array', 'items': {'type': 'string'}}
    """
    return {"type": "array", "items": item}


def one_of(*words: str) -> dict[str, Any]:
    """The JSON Schema of one of some words.

    >>> one_of("A", "B")
    {'type': 'string', 'enum': ['A', 'B']}
    """
    return {"type": "string", "enum": list(words)}


def or_null(schema: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of something that may be missing.

    >>> or_null(TEXT)
    {'anyOf': [{'type': 'string'}, {'type': 'null'}]}
    """
    return {"anyOf": [schema, {"type": "null"}]}


TEXT: dict[str, Any] = {"type": "string"}
YES_OR_NO: dict[str, Any] = {"type": "boolean"}
