"""`write_description`: change the description in SKILL.md after showing the diff."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from typing import Any

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.running.protocol import Refused, refuse
from skill_eval_nb.running.skill import read_skill
from skill_eval_nb.skill_md import LENGTHS, SKILL_FILE, BadSkill, read_front_matter, split_skill_md
from skill_eval_nb.workspace import PathLike
from skill_eval_nb.workspace.writing import diff_of, replace_kept


def with_description(skill_md: bytes, description: str) -> bytes:
    r"""A SKILL.md with another description in its front matter.

    The new one is written on one line, between quotes, wherever the old one stood and however
    it was written: plain, quoted, folded, over several lines. Line ends, comments, the other
    keys and the text below are the same bytes as before.

    Args:
        skill_md: the file, UTF-8 with or without a mark.
        description: the new one, any text.

    Raises:
        Refused: the file is not UTF-8; its front matter is missing, not closed, not YAML
            (as `read_front_matter` reads it) or not a mapping; or `description` is not in it
            exactly once and as a text. It is a ValueError.

    >>> print(with_description(b"---\ndescription: old  # ours\n---\n", "It's new").decode())
    ---
    description: "It's new"  # ours
    ---
    <BLANKLINE>
    """
    try:
        before, inner, after = split_skill_md(skill_md.decode())
        found = read_front_matter(inner)
    except UnicodeDecodeError as error:
        raise refuse(f"SKILL.md cannot be read as UTF-8 text: {error}") from error
    except BadSkill as error:
        raise refuse(f"SKILL.md {error}") from error
    start, end = _locate_description(inner)
    old, comment = _value_and_comment(inner[start:end])
    new = inner[:start] + quote_yaml(description) + comment + inner[start + len(old) :]
    try:
        alone = repr(read_front_matter(new)) == repr(found | {"description": description})
    except BadSkill:
        alone = False
    if not alone:
        raise refuse("the description in SKILL.md cannot be changed alone; write it on one line")
    return (before + new + after).encode()


def quote_yaml(text: str) -> str:
    r"""A text as YAML on one line, with as few escapes as can be.

    >>> print(quote_yaml("Don't: # fear"), quote_yaml('say "hi"'), quote_yaml("a\nb"))
    "Don't: # fear" 'say "hi"' "a\nb"
    """
    import yaml

    if not text.isprintable():
        dumped = yaml.safe_dump(text, default_style='"', allow_unicode=True, width=float("inf"))
        return dumped.rstrip("\n")
    if '"' in text or "\\" in text:
        return "'" + text.replace("'", "''") + "'"
    return f'"{text}"'


def _locate_description(inner: str) -> tuple[int, int]:
    """Where the value of `description` begins and ends, in characters."""
    import yaml

    found: Any = yaml.compose(inner, Loader=yaml.SafeLoader)
    pairs = [(key, value) for key, value in found.value if key.value == "description"]
    if len(pairs) == 1:
        [(key, value)] = pairs
        start, end = value.start_mark.index, value.end_mark.index
        if isinstance(value, yaml.ScalarNode) and key.end_mark.index < start < end:
            return start, end
    raise refuse(
        "the front matter of SKILL.md must have `description` exactly once, with its text "
        "written out"
    )


def _value_and_comment(value: str) -> tuple[str, str]:
    """The value without the line ends behind it, and the comment in a block scalar's first line."""
    old = value.rstrip()
    head, _, comment = old.partition("\n")[0].rstrip().partition(" #")
    return old, f" #{comment}" if comment and head.lstrip()[:1] in ("|", ">") else ""


WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


class DescriptionDiff(str):
    """A unified diff that displays itself line by line; empty if nothing changes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self) or "Nothing would change: SKILL.md already has this description."


def write_description(
    skill: PathLike, description: str, *, dry_run: bool = True
) -> DescriptionDiff:
    """Change the description in a skill's SKILL.md, and nothing else by a byte.

    Args:
        skill: the skill's folder, or its SKILL.md.
        description: the new one.
        dry_run: show the diff and write nothing. Without it the file is replaced in one step, and
            the old one is kept next to it as `SKILL.md.1.bak`, or with the next free number.

    Returns:
        The change as a unified diff; empty if the description is already the same, in which case
        nothing is written.

    Raises:
        Refused: there is no such skill, its front matter cannot be changed, the description cannot
            be used (the message lists every reason), or the file is read-only.
        OSError: the file cannot be written.
    """
    source = read_skill(skill)
    faults = [f"the description cannot be used: {fault}" for fault in faults_of(description)]
    if faults:
        raise Refused(faults)
    path = source.folder / SKILL_FILE
    before = read_bytes(path)
    after = before if source.description == description else with_description(before, description)
    if not dry_run and after != before:
        if not path.stat().st_mode & WRITABLE:
            raise refuse(f"{path} is read-only: make it writable (chmod u+w), and write again")
        replace_kept(path, before, after)
    return DescriptionDiff(diff_of(path, before, after))


MOST = LENGTHS["description"]


def faults_of(description: str) -> Iterator[str]:
    r"""What is wrong with a description; nothing if it can be used.

    >>> list(faults_of("Fills in PDF forms. Use when a form is to be filled in."))
    []
    >>> list(faults_of("Fills <b>forms</b>\nand more"))
    ['it is on more than one line', 'it contains `<` or `>`, which would be read as a tag']
    """
    text = description
    if not any(map(str.isalnum, text)):
        yield "it is empty"
    if text != text.strip():
        yield "it begins or ends with a space"
    if len(text) > MOST:
        yield f"it has {len(text):,} characters, and {MOST:,} are allowed"
    if len(text.splitlines()) > 1 or "\n" in text:
        yield "it is on more than one line"
    if odd := {one for one in text if not (one.isprintable() or one.isspace())}:
        yield f"it contains unprintable characters: {', '.join(map(ascii, sorted(odd)))}"
    if "<" in text or ">" in text:
        yield "it contains `<` or `>`, which would be read as a tag"
    if "---" in text:
        yield "it contains `---`, which some readers take for the end of the front matter"
