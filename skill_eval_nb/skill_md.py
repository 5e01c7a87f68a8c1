"""A SKILL.md: its front matter, read in one way everywhere, and what hosts do not take of it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from .disk import decode, leads_out, read_bytes

SKILL_FILE = "SKILL.md"
MARK = "\ufeff"
"""What some editors put before a text."""
FENCE = "---"

LONGEST = 65_536
"""Characters of front matter that are read: an agent sees a name and a description."""
DEEPEST = 20
"""Lists and mappings within each other, so far down."""

KEYS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
"""The keys that the specification of Agent Skills knows."""
LENGTHS = {"name": 64, "description": 1024, "compatibility": 500}
"""Characters that they may have, by the same specification."""

_SAFE = re.compile(r"[^\W_][\w .-]{0,63}")
"""Names that a folder may have, since the skill is offered in a folder of its name."""


class BadSkill(ValueError):
    """A SKILL.md cannot be read; the message goes on after the file's name."""


def split_skill_md(text: str) -> tuple[str, str, str]:
    r"""What opens the front matter, what is in it, and the rest from its end on.

    Joined they are the text, whose line ends and mark stay as they are.

    Raises:
        BadSkill: there is no front matter, or no end of it.

    >>> split_skill_md("---\nname: tdd\n---\n# Tests first\n")
    ('---\n', 'name: tdd\n', '---\n# Tests first\n')
    """
    lines = text.splitlines(keepends=True)
    if not lines or lines[0].removeprefix(MARK).rstrip() != FENCE:
        first = repr(lines[0].rstrip()[:40]) if lines else "nothing"
        raise BadSkill(
            f"has no front matter: it begins with {first}; its first line is to be `---`, then "
            "come `name:` and `description:`, then `---`"
        )
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() == FENCE), None)
    if end is None:
        raise BadSkill("has front matter that is not closed; a line `---` is to end it")
    return lines[0], "".join(lines[1:end]), "".join(lines[end:])


def body(text: str) -> str:
    r"""The text below the front matter; all of it if there is none.

    >>> body("---\nname: tdd\n---\n\n# Tests first\n")
    '# Tests first\n'
    """
    try:
        return split_skill_md(text)[2].partition("\n")[2].lstrip()
    except BadSkill:
        return text


MIN_LINE = 25
"""A line with at least this many characters belongs to the skill; shorter ones occur anywhere."""
ENOUGH = 3
"""A text shows a skill's body if it shows this many such lines, or all if there are fewer."""


def shows_body(text: str, body: str) -> bool:
    """Whether a tool's result shows a skill's body, with anything before its lines."""
    body_lines = {" ".join(line.split()) for line in body.splitlines()}
    lines = {line for line in body_lines if len(line) >= MIN_LINE} or body_lines - {""}
    shown = " ".join(text.split()), {" ".join(line.split()) for line in text.splitlines()}
    found = sum(line in (shown[0] if len(line) >= MIN_LINE else shown[1]) for line in lines)
    return 0 < min(ENOUGH, len(lines)) <= found


def read_front_matter(matter: str) -> dict[str, Any]:
    r"""What front matter says, neither long nor deep.

    Aliases are refused: by them a few lines can stand for gigabytes.

    Raises:
        BadSkill: it is not YAML, beyond these bounds, or no mapping.

    >>> read_front_matter("name: tdd\ndescription: Tests first")
    {'name': 'tdd', 'description': 'Tests first'}
    """
    import yaml

    if len(matter) > LONGEST:
        raise BadSkill(
            f"has front matter that is too long: it has {len(matter):,} characters, {LONGEST:,} "
            "at most are read"
        )
    try:
        _check_matter(matter)
        found = yaml.safe_load(matter)
    except BadSkill:
        raise
    # PyYAML has others than its own, such as for a 30th of February
    except (yaml.YAMLError, ValueError, LookupError, AttributeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f" in line {mark.line + 2}" if mark else ""
        what = getattr(error, "problem", None) or str(error)
        hint = "; a text with a colon in it goes between quotes" if mark and ": " in matter else ""
        raise BadSkill(f"has front matter that is not YAML{line}: {what}{hint}") from error
    if not isinstance(found, dict):
        what = "empty" if found is None else f"a {type(found).__name__}"
        raise BadSkill(f"has front matter that is {what}; it is to have `name` and `description`")
    return found


def _check_matter(matter: str) -> None:
    """Refuse front matter with an alias, or nested too deep, before it is parsed."""
    import yaml

    depth = 0
    for event in yaml.parse(matter, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        where = f"has front matter that is refused in line {event.start_mark.line + 2}"
        if isinstance(event, yaml.AliasEvent):
            raise BadSkill(f"{where}: an alias (`*{event.anchor}`); write it out")
        if depth > DEEPEST:
            raise BadSkill(f"{where}: nested too deep")


@dataclass(slots=True)
class SkillMd:
    """What a SKILL.md says.

    Attributes:
        text: all of it, with plain ends of lines.
        name: from the front matter; empty if it says none that can be used.
        description: likewise.
        faults: why it cannot be run.
        warnings: what hosts refuse or pass over.
    """

    text: str = ""
    name: str = ""
    description: str = ""
    faults: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def read_skill_md(path: Path) -> SkillMd:
    """Read a SKILL.md, and say what is wrong with it."""
    found = SkillMd()
    if not path.is_file():
        names = sorted(child.name for child in path.parent.iterdir())
        near = next((name for name in names if name.lower() == SKILL_FILE.lower()), None)
        holds = ", ".join(names[:8] or ["nothing"]) + (" …" if len(names) > 8 else "")
        hint = f"rename {near}" if near else f"it holds {holds}"
        hint = "what is called so is no file" if near == SKILL_FILE else hint
        found.faults.append(f"{path.parent.name} has no {SKILL_FILE}: {hint}")
        return found
    try:
        found.text = _read_text(path)
        says = read_front_matter(split_skill_md(found.text)[1])
    except BadSkill as error:
        found.faults.append(f"it {error}")
        return found
    for key in ("name", "description"):
        value = says.get(key)
        if isinstance(value, str) and value.strip():
            setattr(found, key, value.strip())
        else:
            what = "is missing" if key not in says else f"is {repr(value)[:80]}, not a text"
            found.faults.append(f"`{key}` {what} in the front matter")
    if found.name and not _SAFE.fullmatch(found.name):
        found.faults.append(
            f"`name` is {found.name!r}; it names a folder, so it must begin with a "
            "letter or digit and contain only letters, digits, `-`, `_` and `.`, 64 at most"
        )
    found.warnings += host_warnings(says, path.resolve().parent.name)
    return found


def read_text(folder: Path) -> str:
    """All of the SKILL.md of a skill's folder, with plain ends of lines.

    Raises:
        LeadsOut: it is a link that leads out of the folder (an OSError).
        OSError: it cannot be read, or is not a regular file.
    """
    data = read_bytes(folder / SKILL_FILE, folder)
    return decode(data)[0].replace("\r\n", "\n")


def _read_text(path: Path) -> str:
    try:
        data = read_bytes(path)
        if b"\0" in data:
            raise BadSkill("is not in UTF-8 (it may be UTF-16); save it as UTF-8")
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except (UnicodeDecodeError, OSError) as error:
        raise BadSkill(f"cannot be read as UTF-8 text: {error}") from error


def host_warnings(says: Mapping[Any, Any], folder: str) -> Iterator[str]:
    """What of front matter breaks the specification of Agent Skills, as its own reader checks it.

    Args:
        says: the front matter.
        folder: the name of the folder that the skill lies in.

    >>> list(host_warnings({"name": "tdd", "description": "Tests first"}, "tdd"))
    []
    >>> for one in host_warnings({"name": "My Skill", "version": 2}, "tdd"):
    ...     print(one)
    `name` is 'My Skill': hosts take lower-case letters, digits and single hyphens between them
    `name` is 'My Skill', but its folder is tdd: hosts want them to be the same
    `version` is not a key that hosts know: some refuse the skill; it may go below `metadata`
    """
    name = says.get("name")
    if isinstance(name, str) and name.strip():
        plain = unicodedata.normalize("NFKC", name.strip())
        spelled = plain == plain.lower() and all(map(str.isalnum, plain.split("-")))
        if not spelled:
            yield (
                f"`name` is {name!r}: hosts take lower-case letters, digits and single hyphens "
                "between them"
            )
        if plain != unicodedata.normalize("NFKC", folder):
            yield f"`name` is {name!r}, but its folder is {folder}: hosts want them to be the same"
    for key, most in LENGTHS.items():
        value = says.get(key)
        if isinstance(value, str) and len(value.strip()) > most:
            yield f"`{key}` has {len(value.strip()):,} characters: hosts take {most:,} at most"
        elif key == "compatibility" and key in says and not isinstance(value, str):
            yield f"`{key}` is not text: hosts want one"
    for key in says:
        if key not in KEYS:
            yield (
                f"`{key}` is not a key that hosts know: some refuse the skill; it may go below "
                "`metadata`"
            )


CHARS_OF_TOKEN = 4
"""Characters of a token, about: English prose has 4 to 4.5, code and other languages 3."""
NO_PART = re.compile(r"\.|__|.*-workspace$|iteration-\d|evals$", re.IGNORECASE)
"""Names in a skill's folder of what an agent is not given: caches, evals and their results."""


class ContextTokens(NamedTuple):
    """What a skill takes of a model's context, in tokens; estimated by CHARS_OF_TOKEN.

    Attributes:
        always: its name and description, which a host shows before any task.
        opened: the text of its SKILL.md, once it is opened.
        files: all its other files that are text, if all were read.
    """

    always: int
    opened: int
    files: int


def estimate_context(folder: Path) -> ContextTokens:
    """Estimate what the skill in a folder takes of a model's context.

    Raises:
        OSError: the folder cannot be read, or a file of it leads out.
    """
    own = read_skill_md(folder / SKILL_FILE)
    chars = 0
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if any(map(NO_PART.match, inside.parts)) or inside.name == SKILL_FILE:
            continue
        if path.is_file() and b"\0" not in (data := read_bytes(path, folder)):
            chars += len(decode(data)[0])
    sizes = len(own.name) + len(own.description), len(body(own.text)), chars
    return ContextTokens(*(round(size / CHARS_OF_TOKEN) for size in sizes))


def read_skill_of(suite: Path) -> SkillMd | None:
    """The SKILL.md of the skill that a suite belongs to; None if it belongs to none.

    The suite is in the skill's folder, or in its `evals`.
    """
    files = (folder / SKILL_FILE for folder in suite.parents[:2])
    own = (file for file in files if file.is_file() and not leads_out(file, file.parent))
    return next(map(read_skill_md, own), None)


LEAST_WORDS = 5
"""Words of the skill's in a row that are no chance."""
_WORD = re.compile(r"\w+(?:[-'’]\w+)*")
_TERM = re.compile(r"(?<![\w./-])[A-Za-z]+(?:(?:_[A-Za-z]+)+|(?:-[a-z]+){2,})(?![\w/.-])")
"""What no prose has: `plan_file`, `work-item-intake`."""


def find_quotes(text: str, skill: SkillMd, prompt: str = "") -> list[str]:
    r"""What a prompt or an expectation has from a skill: its name, its phrases, its terms.

    A phrase has five words and more. A term is written with underscores or hyphens, and as code
    in SKILL.md. What the prompt says too is no quote: who answers it has it from there.

    Args:
        text: the prompt or the expectation.
        skill: what its SKILL.md says.
        prompt: of an expectation, the prompt of its eval.

    >>> tidy = SkillMd("---\nname: tidy\n---\nWrite one line for each change.", name="tidy")
    >>> find_quotes("By the tidy skill, it has one line for each change", tidy)
    ['tidy', 'one line for each change']
    """
    named = _naming_pattern(skill.name)
    quotes = [skill.name] if named.search(text) and not named.search(prompt) else []
    words, theirs, asked = (_WORD.findall(each.lower()) for each in (text, skill.text, prompt))
    known = {*_list_phrases(theirs)}.difference(_list_phrases(asked))
    held = {at for at, phrase in enumerate(_list_phrases(words)) if phrase in known}
    for at in sorted(held):
        if at - 1 not in held:
            end = next(to for to in range(at, len(words) + 1) if to not in held)
            quotes.append(" ".join(words[at : end + LEAST_WORDS - 1]))
    terms = dict.fromkeys(term for term in _TERM.findall(text) if f"`{term}`" in skill.text)
    return quotes + [term for term in terms if term not in prompt and term != skill.name]


def find_leaks(
    item: str | Mapping[str, Any], skill: SkillMd, prompt: str = "", where: str = ""
) -> Iterator[tuple[str, list[str]]]:
    """Where an eval or a check of one quotes the skill, each place in it with its quotes.

    Args:
        item: the eval or check, as a suite has it.
        skill: what its SKILL.md says.
        prompt: of a check, the prompt of its eval.
        where: the place of a check in its eval.
    """
    fields: Mapping[str, Any] = {"text": item} if isinstance(item, str) else item
    asked = fields.get("prompt")
    texts = (fields.get("text"), fields.get("description"), fields.get("match"))
    looked_for = "\n".join(filter(None, (*texts, *(fields.get("match_any") or ()))))
    place, text, known = ("prompt", asked, "") if asked else (where, looked_for, prompt)
    if quotes := find_quotes(text, skill, known):
        yield place, quotes
    for name in ("expectations", "structural_expectations"):
        for number, check in enumerate(fields.get(name) or ()):
            yield from find_leaks(check, skill, asked or prompt, f"{name}[{number}]")


def _list_phrases(words: list[str]) -> list[tuple[str, ...]]:
    return [tuple(words[at : at + LEAST_WORDS]) for at in range(len(words) - LEAST_WORDS + 1)]


@lru_cache(maxsize=64)
def _naming_pattern(name: str) -> re.Pattern[str]:
    """Where a skill is spoken of by its name; a single word may be one of the task."""
    bare = re.escape(name) or r"(?!)"
    spoken = rf"(?<![\w./-])/{bare}|\bskills?[ :`'\"/]+{bare}|(?<![\w-]){bare}[`'\"]? skill\b"
    alone = rf"|(?<![\w./-]){bare}(?![./])" if "-" in name else ""
    return re.compile(rf"(?:{spoken}{alone})(?![\w-])", re.IGNORECASE)
