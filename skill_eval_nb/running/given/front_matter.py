"""The head of a SKILL.md: the name and the description that an agent sees first."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

SKILL_FILE = "SKILL.md"

_SAFE = re.compile(r"[^\W_][\w .-]{0,63}")
"""Names that a folder may have, since the skill is offered in a folder of its name."""


def front_matter(path: Path) -> tuple[str, dict[str, str], list[str]]:
    """The text of SKILL.md, its name and description, and what is wrong with them."""
    if not path.is_file():
        names = sorted(one.name for one in path.parent.iterdir())
        near = next((one for one in names if one.lower() == SKILL_FILE.lower()), None)
        shown = ", ".join(names[:8]) + (" …" if len(names) > 8 else "")
        hint = f"rename {near}" if near else f"it holds {shown or 'nothing'}"
        return "", {}, [f"{path.parent} has no {SKILL_FILE}: {hint}"]
    try:
        text = path.read_text("utf-8-sig")
    except (UnicodeDecodeError, OSError) as error:
        return "", {}, [f"{path} cannot be read as UTF-8 text: {error}"]
    lines = text.splitlines()
    if not lines or lines[0].rstrip() != "---":
        first = repr(lines[0][:40]) if lines else "nothing"
        fault = (
            f"{path} has no front matter: it begins with {first}; its first line is to be "
            "`---`, then come `name:` and `description:`, then `---`"
        )
        return text, {}, [fault]
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if end is None:
        return text, {}, [f"{path}: the front matter is not closed; a line `---` is to end it"]
    told, faults = _fields("\n".join(lines[1:end]), path)
    return text, told, faults


def _fields(text: str, path: Path) -> tuple[dict[str, str], list[str]]:
    import yaml

    try:
        found: Any = yaml.safe_load(text)
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f" in line {where.line + 2}" if where is not None else ""
        what = getattr(error, "problem", None) or str(error)
        hint = "; a text with a colon in it goes between quotes" if ": " in text else ""
        return {}, [f"{path}: the front matter is not YAML{line}: {what}{hint}"]
    if not isinstance(found, dict):
        what = "empty" if found is None else f"a {type(found).__name__}"
        return {}, [f"{path}: the front matter is {what}; it is to have `name` and `description`"]
    told: dict[str, str] = {}
    faults: list[str] = []
    for field in ("name", "description"):
        value = found.get(field)
        if isinstance(value, str) and value.strip():
            told[field] = value.strip()
        else:
            what = "is missing" if field not in found else f"is {value!r}, not a text"
            faults.append(f"{path}: `{field}` {what} in the front matter")
    if "name" in told and not _SAFE.fullmatch(told["name"]):
        faults.append(
            f"{path}: `name` is {told['name']!r}; it names a folder, so it is to begin with a "
            "letter or digit and have letters, digits, `-`, `_` and `.` only, 64 at most"
        )
    return told, faults
