"""The skill in two versions: which are compared, what differs; or why there is nothing to show."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from skill_eval_nb.documents.sides import is_without_skill, likeness
from skill_eval_nb.improving import versions
from skill_eval_nb.running.skill import contents
from skill_eval_nb.text import Gap, Row, fold_rows, some, tied
from skill_eval_nb.workspace.jobs import (
    KeptSkill,
    find_kept_skill,
    kept_skills,
    skill_now,
)

from ..ui import Child, Node, h
from ..ui.parts import button, choose, details, draw_rows, notice, pill, soft

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace

    from ..explore.choice import SkillRuns


ORDER: tuple[versions.Kind, ...] = ("changed", "added", "removed", "moved")
FIRST = "SKILL.md"


@dataclass(frozen=True, slots=True)
class SkillDiff:
    """Two versions of a skill: the files that differ, and the names of those that do not."""

    files: tuple[versions.FileChange, ...]
    same: tuple[str, ...]

    @property
    def added(self) -> int:
        """Lines that came, in all files."""
        return sum(file.added or 0 for file in self.files)

    @property
    def removed(self) -> int:
        """Lines that went, in all files."""
        return sum(file.removed or 0 for file in self.files)


def compare(old: Path, new: Path) -> SkillDiff:
    """What is the skill in two folders, compared; it is read again only when a file changed.

    Files that tell about its evals, and what other programs left there, are no part of it.
    """
    return _compare_cached(str(old), str(new), _state(old), _state(new))


State = tuple[tuple[str, int, int], ...]
"""Each file of a skill: its name, when it was written, its size."""


def _state(folder: Path) -> State:
    root = folder.resolve()
    found = contents(root)
    known = ((name, (root / name).lstat()) for name in sorted([*found.files, *found.links]))
    return tuple((name, status.st_mtime_ns, status.st_size) for name, status in known)


@lru_cache(maxsize=32)
def _compare_cached(old: str, new: str, before: State, after: State) -> SkillDiff:
    def place(file: versions.FileChange) -> tuple[bool, int, str]:
        return file.name != FIRST, ORDER.index(file.kind), file.name

    files = sorted(versions.changes(Path(old), Path(new)), key=place)
    unchanged = {name for name, *_ in before} - {file.name for file in files}
    same = tuple(name for name, *_ in after if name in unchanged)
    return SkillDiff(tuple(files), same)


Pair = tuple[str, str]
"""Two iterations of a skill, the one that is compared against first."""


@dataclass(frozen=True, slots=True)
class SkillPair:
    """The two versions of a skill that are compared.

    Attributes:
        every: all versions that there are by name, the skill as it is now the last.
        old, new: those that are compared; None where none was kept.
        configuration: the one that had them.
        missing: the iterations of which none was kept, or chosen.
    """

    every: Mapping[str, KeptSkill]
    old: KeptSkill | None
    new: KeptSkill | None
    configuration: str
    missing: tuple[str, ...]


def skill_pair(
    ws: Workspace, suite: SkillRuns, pair: Pair, configuration: str, wanted: Mapping[str, str]
) -> SkillPair:
    """The versions that a configuration had in two iterations, or others that are wanted.

    Args:
        ws: the workspace; there are no versions where it is not on disk.
        suite: its iterations and configurations, turned.
        pair: the two iterations.
        configuration: the configuration.
        wanted: by `old` and `new` the name of another version; of none where it is empty.
    """
    own = ws.polars("runs").filter(workspace=suite.workspace, skill=suite.skill)
    folder = versions.workspace_folder(ws, own)
    kept = [] if folder is None else kept_skills(folder, suite.configurations, [*suite.iterations])
    now = None if folder is None else skill_now(folder)
    every = {version.name: version for version in [*kept, *([now] if now else [])]}
    alone = likeness(configuration) is None
    sides = zip(("old", "new"), pair, strict=True)
    old, new = (
        every.get(wanted[side])
        if side in wanted
        else find_kept_skill(kept, iteration, configuration, alone=alone)
        for side, iteration in sides
    )
    lacks = zip(pair, (old, new), strict=True)
    missing = tuple(iteration for iteration, version in lacks if version is None)
    return SkillPair(every, old, new, configuration, missing)


KINDS = {"changed": "", "added": "good", "removed": "bad", "moved": ""}


def files(found: SkillDiff, unfolded: Collection[tuple[str, int]], side_by_side: bool) -> Node:
    """Every file that differs, and the names of those that do not.

    Args:
        found: what differs.
        unfolded: of which file, and from which row on, unchanged lines are shown.
        side_by_side: whether the old lines stand beside the new ones.
    """
    if not found.files:
        return h("p", "The two versions are the same, file by file.")
    same = f"{tied(len(found.same), 'file')} unchanged: {', '.join(found.same[:12])}"
    same += " …" if len(found.same) > 12 else ""
    return h(
        "div",
        (
            details(
                _file_head(file),
                _file_body(file, unfolded, side_by_side),
                unfolded=at < 3,
                key=file.name,
            )
            for at, file in enumerate(found.files)
        ),
        soft(same) if found.same else None,
    )


def _file_head(file: versions.FileChange) -> Child:
    added, removed = file.added or 0, file.removed or 0
    lines = h("span", h("ins", f"+{added:,}"), " ", h("del", f"−{removed:,}"))
    counts = lines if added or removed else None
    kind = pill(file.kind, KINDS[file.kind])
    return h("span", h("strong", file.name), " ", kind, " ", counts, cls="sen-diff-file")


def _file_body(
    file: versions.FileChange, unfolded: Collection[tuple[str, int]], side_by_side: bool
) -> Node:
    note = h("p", file.note, cls="sen-soft") if file.note else None
    if not file.rows:
        return h("div", note)
    rows: list[Row | Gap] = []
    for part in fold_rows(file.rows):
        if isinstance(part, Gap) and (file.name, part.at) in unfolded:
            rows += file.rows[part.at : part.at + part.n]
        else:
            rows.append(part)

    def unfold(gap: Gap) -> Child:
        words = tied(gap.n, "unchanged line")
        show = ("show_lines", file.name, gap.at)
        return button(words, show, kind="quiet", aria_label=f"Show {words}")

    lines = draw_rows(rows, f"Lines of {file.name}", beside=side_by_side, unfold=unfold)
    return h("div", note, lines)


HOW_KEPT = (
    "Runs made here keep it: ",
    h("code", "sen.plan_runs"),
    " and ",
    h("code", "sen.run_panel"),
    " put a copy of the skill, as it was offered, into ",
    h("code", "iteration-N/skill-snapshot/<configuration>/"),
    ". For runs of another tool, copy the skill's folder there, each time before it changes.",
)
UNCHOSEN = "(choose a version)"


def skill_view(
    pair: SkillPair,
    compared: SkillDiff | None,
    unfolded: Collection[tuple[str, int]],
    *,
    side_by_side: bool,
) -> Node:
    """The text diff, with the choice of versions where there are several; see `files`."""
    return h(
        "div",
        _why_no_diff(pair),
        _choice(pair, side_by_side) if pair.every else None,
        files(compared, unfolded, side_by_side) if compared is not None else None,
    )


def _choice(pair: SkillPair, side_by_side: bool) -> Node:
    options = {"": UNCHOSEN, **{name: name for name in pair.every}}
    ways = {"One column": False, "Side by side": True}
    old, new = (version.name if version else "" for version in (pair.old, pair.new))
    return h(
        "div",
        choose("Skill before", options, old, ("choose_version", "old")),
        choose("Skill after", options, new, ("choose_version", "new")),
        h(
            "div",
            [
                button(words, ("lay_out", way), aria_pressed=way == side_by_side)
                for words, way in ways.items()
            ],
            cls="sen-row sen-diff-ways",
            role="group",
            aria_label="How the lines lie",
        ),
        cls="sen-row",
    )


def _why_no_diff(pair: SkillPair) -> Child:
    """Why there is no diff of the two iterations, and what to do."""
    if not pair.missing:
        return None
    if is_without_skill(pair.configuration):
        return notice(f"{pair.configuration} offers no skill: choose a configuration that does.")
    where = some(pair.missing)
    first = f"No copy of the skill that {pair.configuration} had in {where} was kept."
    return notice(first, "Choose two of the versions that were." if pair.every else HOW_KEPT)
