"""Names as the dialects want them, made from what there is."""

from __future__ import annotations

import re
from typing import Any


def kebab(text: str) -> str:
    """A skill's name in lower case with hyphens.

    >>> kebab("My Skill (v2)")
    'my-skill-v2'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def numbered(text: str) -> int | None:
    """The number in an eval's id or folder name, if it is a plain one.

    >>> numbered("eval-3-login"), numbered("7"), numbered("v2-login")
    (3, 7, None)
    """
    found = re.fullmatch(r"(?:eval-?)?(\d{1,9})(?:-.*)?", text)
    return int(found[1]) if found else None


def named(expectations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Expectations as assertions with a short name and a description.

    >>> named([{"text": "The tests pass"}])
    [{'name': 'the_tests_pass', 'description': 'The tests pass'}]
    """
    return [
        {
            "name": one.get("name")
            or one.get("id")
            or _short(one["text"])
            or f"expectation_{number}",
            "description": one["text"],
            **({"type": one["type"]} if "type" in one else {}),
        }
        for number, one in enumerate(expectations, 1)
    ]


def _short(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:48].rstrip("_")
