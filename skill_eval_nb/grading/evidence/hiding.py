"""Covering up what tells the side: a judge must not know which configuration it judges."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

SIDES = ("with_skill", "without_skill", "old_skill", "new_skill")
"""Names of configurations that are covered whatever those at hand are called."""

_COVER = re.compile(r"\[name (\d+)\]")
_TICKS = r"[\"'`*“”‘’]{0,3}"
_BLANK = r"(?:[ \t]++\s?|\s)[ \t]*+"


class Cover:
    """Covers names in texts as `[name 1]`, `[name 2]`, …, and keeps what stands behind each.

    A skill's name is covered where it is spoken of as a skill: `/skills/NAME`, `NAME/SKILL.md`,
    `the NAME skill`, `skill NAME`, `/NAME`. In file names and in other prose it stays: it is
    made of words of the task. A configuration's name is covered where it stands as a whole
    word, also in file names; one that could be a word of the task (a skill's name; no hyphen
    or underscore, as `v2`) is covered as skills are, and in paths of runs (`v2/run-1`). Paths
    of the run's own folder become relative.

    >>> cover = Cover(["release-notes"])
    >>> cover("By the release-notes skill I wrote release-notes.md, with_skill.")
    'By the [name 1] I wrote release-notes.md, [name 2].'
    >>> uncovered("it says [name 1]", cover.originals)
    'it says release-notes skill'
    """

    def __init__(
        self,
        skills: Iterable[str],
        configurations: Iterable[str] = (),
        folders: Iterable[Path] = (),
    ) -> None:
        self.count = 0
        self._numbers: dict[str, int] = {}
        self._there: set[int] = set()
        self._names, self._sides = _patterns(frozenset(skills), frozenset(configurations))
        forms = (form for folder in folders for form in _forms(folder))
        self._folders = sorted(forms, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """The text with the names covered."""
        # Each run has folders of its own: their pattern is made only where one is spoken of.
        if any(form in text for form in self._folders):
            forms = "|".join(map(re.escape, self._folders))
            text, times = re.subn(rf"(?:{forms})(?![\w.-])", ".", text)
            self.count += times
        return self._covered(self._names, text)

    def file_name(self, name: str) -> str:
        """A file's name, where only configurations are covered."""
        return self._covered(self._sides, name)

    @property
    def originals(self) -> dict[str, str]:
        """What stands behind each cover; without those that a text had in it as they are."""
        return {
            f"[name {number}]": name
            for name, number in self._numbers.items()
            if number not in self._there
        }

    def _covered(self, pattern: re.Pattern[str], text: str) -> str:
        self._there.update(int(number) for number in _COVER.findall(text) if len(number) < 10)
        text, times = pattern.subn(self._cover, text)
        self.count += times
        return text

    def _cover(self, found: re.Match[str]) -> str:
        return f"[name {self._numbers.setdefault(found[0], len(self._numbers) + 1)}]"


def uncovered(text: str, originals: Mapping[str, str]) -> str:
    """A text of the judge's with the names that stand behind covers."""
    return _COVER.sub(lambda found: originals.get(found[0], found[0]), text)


@lru_cache(maxsize=64)
def _patterns(
    skills: frozenset[str], configurations: frozenset[str]
) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What is covered in texts, and in the names of files; the same for all runs of a job."""
    own = skills - {""}
    sides = {*SIDES, *configurations} - {""}
    whole = {*SIDES, *(side for side in sides - own if "_" in side or "-" in side)}
    in_names = rf"(?<!\w)(?:{_any(whole, '[-_]')})(?!\w)"
    spoken = _spoken(_any(own | sides, "[-_ ]"))
    return (
        re.compile(f"{spoken}|{in_names}", re.IGNORECASE),
        re.compile(in_names, re.IGNORECASE),
    )


def _any(names: Iterable[str], between: str) -> str:
    """Any of the names, the longest first, whatever joins their pieces."""
    spelled = sorted(names, key=lambda name: (-len(name), name))
    return "|".join(between.join(map(re.escape, re.split(r"[-_ ]", name))) for name in spelled)


def _spoken(names: str) -> str:
    """Where one of the names is spoken of as a skill, or is a folder of runs."""
    name = rf"(?<![\w-])(?:{names})(?![\w-])"
    before = (
        rf"(?:skill\()?skill(?:\s+(?:called|named)\s+|[\s\"'`*“‘:=(]{{1,5}})|skills:\s*{_TICKS}"
    )
    return (
        rf"(?:\.claude[/\\])?\bskills[/\\]{name}(?:[/\\]SKILL\.md)?"
        rf"|{name}[/\\]SKILL\.md"
        rf"|{_TICKS}{name}{_TICKS}{_BLANK}skill\b"
        rf"|\b(?:{before}){_TICKS}{name}{_TICKS}"
        rf"|(?<![\w./\\~-])/(?:[\w-]+:)?{name}(?![/\\]|\.\w)"
        rf"|(?<=[/\\]){name}(?=[/\\](?:run-\d|outputs\b))"
    )


def _forms(folder: Path) -> set[str]:
    """The paths by which a run's folder may be spoken of; never one that is short and common."""
    forms = {os.fspath(folder.absolute()), os.path.realpath(folder)}
    return {form for form in forms if form.count(os.sep) > 1}
