"""The head of a SKILL.md: the name and the description that an agent sees first."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from skill_eval_nb.grading.decoding import wide

SKILL_FILE = "SKILL.md"

_SAFE = re.compile(r"[^\W_][\w .-]{0,63}")
"""Names that a folder may have, since the skill is offered in a folder of its name."""

LONGEST = 65_536
"""Characters of front matter that are read: an agent sees a name and a description."""
DEEPEST = 20
"""Lists and mappings within each other, so far down."""


class BadYAML(ValueError):
    """The text is not YAML that front matter may have; the message says where and why."""


def read_yaml(text: str) -> Any:
    r"""The value of front matter, neither long nor deep.

    Aliases are refused: by them a few lines can stand for gigabytes.

    Raises:
        BadYAML: it is not YAML, or beyond these bounds.

    >>> read_yaml("name: tdd\ndescription: Tests first")
    {'name': 'tdd', 'description': 'Tests first'}
    """
    import yaml

    if len(text) > LONGEST:
        raise BadYAML(f"too long: it has {len(text):,} characters, {LONGEST:,} at most are read")
    try:
        _bound(text)
        return yaml.safe_load(text)
    except BadYAML:
        raise
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" in line {mark.line + 2}" if mark is not None else ""
        what = getattr(error, "problem", None) or str(error)
        hint = "; a text with a colon in it goes between quotes" if ": " in text else ""
        raise BadYAML(f"not YAML{line}: {what}{hint}") from error
    except (ValueError, LookupError, AttributeError) as error:  # of PyYAML, for a 30th of February
        raise BadYAML(f"not YAML: {error}") from error


def _bound(text: str) -> None:
    """Look at a text before anything is made of it."""
    import yaml

    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        where = f"refused in line {event.start_mark.line + 2}"
        if isinstance(event, yaml.AliasEvent):
            raise BadYAML(f"{where}: an alias (`*{event.anchor}`); write it out")
        if depth > DEEPEST:
            raise BadYAML(f"{where}: nested too deep")


def front_matter(path: Path) -> tuple[str, dict[str, str], list[str]]:
    """The text of SKILL.md, its name and description, and what is wrong with them."""
    if not path.is_file():
        names = sorted(one.name for one in path.parent.iterdir())
        near = next((one for one in names if one.lower() == SKILL_FILE.lower()), None)
        shown = ", ".join(names[:8]) + (" …" if len(names) > 8 else "")
        hint = f"rename {near}" if near else f"it holds {shown or 'nothing'}"
        return "", {}, [f"{path.parent} has no {SKILL_FILE}: {hint}"]
    try:
        data = path.read_bytes()
        if wide(data) is not None:
            return "", {}, [f"{path} is not in UTF-8 but in UTF-16 or UTF-32; save it as UTF-8"]
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
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
    try:
        found = read_yaml(text)
    except BadYAML as error:
        return {}, [f"{path}: the front matter is {error}"]
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
            what = "is missing" if field not in found else f"is {repr(value)[:80]}, not a text"
            faults.append(f"{path}: `{field}` {what} in the front matter")
    if "name" in told and not _SAFE.fullmatch(told["name"]):
        faults.append(
            f"{path}: `name` is {told['name']!r}; it names a folder, so it is to begin with a "
            "letter or digit and have letters, digits, `-`, `_` and `.` only, 64 at most"
        )
    return told, faults
