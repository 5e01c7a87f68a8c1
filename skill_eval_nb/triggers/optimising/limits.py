"""What a description may be: its length, and the characters that a front matter can hold."""

from __future__ import annotations

from collections.abc import Iterator

MOST = 1024
"""Characters of a description, at most: those who list skills refuse or cut a longer one."""


def faults_of(description: str) -> list[str]:
    r"""What is wrong with a description; empty where it can be used.

    >>> faults_of("Fills in PDF forms. Use when a form is to be filled in.")
    []
    >>> faults_of("Fills <b>forms</b>\nand more")
    ['it is on more than one line', 'it has `<` or `>` in it, which would be read as a tag']
    """
    return list(_faults(description))


def _faults(text: str) -> Iterator[str]:
    if not any(map(str.isalnum, text)):
        yield "it is empty"
    if text != text.strip():
        yield "it begins or ends with a space"
    if len(text) > MOST:
        yield f"it has {len(text):,} characters, and {MOST:,} are allowed"
    if len(text.splitlines()) > 1 or "\n" in text:
        yield "it is on more than one line"
    odd = {one for one in text if not (one.isprintable() or one.isspace())}
    if odd:
        yield f"it has characters that do not print: {', '.join(sorted(map(_named, odd)))}"
    if "<" in text or ">" in text:
        yield "it has `<` or `>` in it, which would be read as a tag"
    if "---" in text:
        yield "it has `---` in it, which some readers take for the end of the front matter"


def _named(character: str) -> str:
    return f"U+{ord(character):04X}"
