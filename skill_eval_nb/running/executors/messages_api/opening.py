"""The skill on offer: where it lies for the agent, its text, and whether that was shown."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from skill_eval_nb.running.executors.protocol import SandboxKind, Skill

TELLING = 25
"""Characters from which on a line is the skill's own; shorter ones stand anywhere."""
ENOUGH = 3
"""Such lines that a result must show, all where there are fewer, to count as the body."""


@dataclass(frozen=True)
class Offered:
    """A skill as the agent finds it.

    Attributes:
        skill: the staged skill.
        place: where the agent finds its folder.
        folder: what is shown there.
    """

    skill: Skill
    place: str
    folder: Path

    @cached_property
    def text(self) -> str:
        """All of SKILL.md.

        Raises:
            OSError: where there is none, or it is a link.
        """
        # a link would be followed on the host, where no box holds it
        file = os.open(self.folder / "SKILL.md", os.O_RDONLY | os.O_NOFOLLOW)
        with os.fdopen(file, encoding="utf-8-sig", errors="replace") as opened:
            return opened.read()

    @cached_property
    def body(self) -> str:
        """SKILL.md below its front matter."""
        head, mark, rest = self.text.partition("\n---")
        return rest.partition("\n")[2].strip() if mark and head.startswith("---") else self.text

    @property
    def opened(self) -> str:
        """What the agent gets when it opens the skill."""
        return f"Base directory for this skill: {self.place}\n\n{self.body}"

    def shown_in(self, text: str) -> bool:
        """Whether a tool's result shows the skill's body, however the lines are led in."""
        body = {" ".join(line.split()) for line in self.body.splitlines()}
        lines = {line for line in body if len(line) >= TELLING} or body - {""}
        shown = " ".join(text.split()), {" ".join(line.split()) for line in text.splitlines()}
        found = sum(line in (shown[0] if len(line) >= TELLING else shown[1]) for line in lines)
        return 0 < min(ENOUGH, len(lines)) <= found


def offered(skill: Skill, sandbox: SandboxKind, scratch: Path) -> Offered:
    """Prepare a skill for an agent.

    Args:
        skill: the staged skill.
        sandbox: how the agent's commands are kept in.
        scratch: where its copy is put.

    Raises:
        OSError: where the skill cannot be read.
    """
    # A copy: the list of mounts inside has the path of what is shown, and what is staged lies in
    # the workspace; and root's agent is nobody, who may read less than root.
    folder = scratch / "skills" / skill.name
    shutil.copytree(skill.folder, folder, symlinks=True)
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    return Offered(
        skill, os.fspath(folder) if sandbox == "none" else f"/skills/{skill.name}", folder
    )
