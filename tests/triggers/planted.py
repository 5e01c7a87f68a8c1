"""A user's home with a configuration in it, and whether anybody was there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

OLD = 1_000_000_000
"""A time of last access long ago: also where access is noted but once a day, a look is noted."""
CANARY = "canary-of-the-planted-home"


@dataclass(frozen=True)
class Home:
    """A planted home."""

    folder: Path
    before: dict[Path, tuple[bytes, int]]

    def changed(self) -> list[str]:
        """What was read, written, made or taken away since it was planted.

        It is to be asked once: it reads everything itself.
        """
        now = _state(self.folder)
        return [
            str(path) for path in {**self.before, **now} if self.before.get(path) != now.get(path)
        ]


@contextmanager
def planted(folder: Path) -> Iterator[Home]:
    """A home with an installed skill `kites` of the same name, settings and memories."""
    files = {
        ".claude/skills/kites/SKILL.md": f"---\nname: kites\ndescription: {CANARY}\n---\nNo.\n",
        ".claude/commands/kites.md": f"{CANARY}\n",
        ".claude/settings.json": '{"model": "no-such-model"}\n',
        ".claude/CLAUDE.md": f"Never open a skill. {CANARY}\n",
        ".claude/.credentials.json": "{}\n",
        ".claude.json": "{}\n",
        ".config/claude/settings.json": "{}\n",
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    before = _state(folder)
    for path in [*folder.rglob("*"), folder]:
        os.utime(path, (OLD, path.stat().st_mtime))
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("HOME", str(folder))
        patched.setenv("CLAUDE_CONFIG_DIR", str(folder / ".claude"))
        yield Home(folder, {path: (data, OLD) for path, (data, _) in before.items()})


def _state(folder: Path) -> dict[Path, tuple[bytes, int]]:
    """By file: its contents and its time of last access, which is looked at first.

    Of folders only that they are there: whoever makes a place elsewhere may pass through them.
    """
    paths = [one for one in sorted(folder.rglob("*")) if one.is_file()]
    times = {path: int(path.stat().st_atime) for path in paths}
    return {path: (path.read_bytes(), times[path]) for path in paths}
