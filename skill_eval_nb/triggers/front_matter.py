"""Another description in a SKILL.md, and not a byte else changed."""

from __future__ import annotations

from typing import Any

from skill_eval_nb.running.given.front_matter import BadYAML, read_yaml
from skill_eval_nb.running.refused import refuse

MARK = "\ufeff"
"""What some editors put before a text; it stays."""
FENCE = "---"


def with_description(skill_md: bytes, description: str) -> bytes:
    r"""A SKILL.md with another description in its front matter.

    The new one is written on one line, between quotes, wherever the old one stood and however
    it was written: plain, quoted, folded, over several lines. Line ends, comments, the other
    keys and the text below are the same bytes as before.

    Args:
        skill_md: the file, UTF-8 with or without a mark.
        description: the new one, any text.

    Raises:
        Refused: the file is no UTF-8; its front matter is missing, not closed, not YAML (as
            `read_yaml` reads it) or no mapping; or `description` is not in it exactly once and
            as a text. It is a ValueError.

    >>> print(with_description(b"---\ndescription: old  # ours\n---\n", "It's new").decode())
    ---
    description: "It's new"  # ours
    ---
    <BLANKLINE>
    """
    before, inner, after = _parts(skill_md)
    try:
        found = read_yaml(inner)
    except BadYAML as error:
        raise refuse(f"the front matter of SKILL.md is {error}") from error
    if not isinstance(found, dict):
        raise refuse("the front matter of SKILL.md is to have keys, `name` and `description`")
    start, end = _place(inner)
    old, comment = _told(inner[start:end])
    new = inner[:start] + quoted(description) + comment + inner[start + len(old) :]
    if not _says(new, found | {"description": description}):
        raise refuse("the description in SKILL.md cannot be changed alone; write it on one line")
    return (before + new + after).encode()


def quoted(text: str) -> str:
    r"""A text as YAML on one line, with as few escapes as can be.

    >>> print(quoted("Don't: # fear"), quoted('say "hi"'), quoted("a\nb"))
    "Don't: # fear" 'say "hi"' "a\nb"
    """
    import yaml

    if not text.isprintable():
        dumped = yaml.safe_dump(text, default_style='"', allow_unicode=True, width=float("inf"))
        return dumped.rstrip("\n")
    if '"' in text or "\\" in text:
        return "'" + text.replace("'", "''") + "'"
    return f'"{text}"'


def _parts(skill_md: bytes) -> tuple[str, str, str]:
    """What is before, in and after the front matter."""
    try:
        text = skill_md.decode()
    except UnicodeDecodeError as error:
        raise refuse(f"SKILL.md cannot be read as UTF-8 text: {error}") from error
    lines = text.splitlines(keepends=True)
    if not lines or lines[0].removeprefix(MARK).rstrip() != FENCE:
        raise refuse("SKILL.md has no front matter: its first line is to be `---`")
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() == FENCE), None)
    if end is None:
        raise refuse("the front matter of SKILL.md is not closed: a line `---` is to end it")
    return lines[0], "".join(lines[1:end]), "".join(lines[end:])


def _place(inner: str) -> tuple[int, int]:
    """Where the value of `description` begins and ends, in characters."""
    import yaml

    found: Any = yaml.compose(inner, Loader=yaml.SafeLoader)
    pairs = [(key, value) for key, value in found.value if key.value == "description"]
    if len(pairs) != 1:
        raise refuse(
            f"the front matter of SKILL.md has {len(pairs)} keys `description`; it needs one, "
            "written out in it"
        )
    [(key, value)] = pairs
    start, end = value.start_mark.index, value.end_mark.index
    if not isinstance(value, yaml.ScalarNode) or not key.end_mark.index < start < end:
        raise refuse(
            "`description` in SKILL.md is empty, a list or a mapping; it is to be a text that is "
            "written out"
        )
    return start, end


def _says(inner: str, wanted: Any) -> bool:
    try:
        return repr(read_yaml(inner)) == repr(wanted)
    except BadYAML:
        return False


def _told(value: str) -> tuple[str, str]:
    """The value without the line ends behind it, and the comment in a block scalar's first line."""
    old = value.rstrip()
    head, _, comment = old.partition("\n")[0].rstrip().partition(" #")
    return old, f" #{comment}" if comment and head.lstrip()[:1] in ("|", ">") else ""


def body_of(skill_md: bytes) -> str:
    r"""The text of a SKILL.md below its front matter.

    Raises:
        Refused: the file is no UTF-8, or its front matter is missing or not closed.

    >>> body_of(b"---\nname: tdd\n---\n\n# Tests first\n")
    '# Tests first\n'
    """
    _, _, after = _parts(skill_md)
    return after.partition("\n")[2].lstrip()
