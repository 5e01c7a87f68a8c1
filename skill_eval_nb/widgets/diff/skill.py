"""The skill in two versions: which are compared, what differs; or why there is nothing to show."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from skill_eval_nb.documents.sides import is_without_skill, likeness
from skill_eval_nb.improving import versions
from skill_eval_nb.running.skill import contents
from skill_eval_nb.text import some, tied
from skill_eval_nb.workspace.files import (
    KeptSkill,
    iteration_folder,
    kept_skills,
    skill_now,
    skill_of,
)

from ..ui import Child, Node, h
from ..ui.parts import button, choose, details, notice, pill, soft, table

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace

    from ..explore.choice import SkillRuns


Span = tuple[str, bool]
"""A piece of a line, and whether it is not in the other one."""

ALIKE = 0.4
"""Lines that share less than this of their words are two lines, not one that changed."""
MOST_WORDS = 1_500
"""Longer lines are compared as a whole."""
MOST_PAIRS = 2_500
"""Larger blocks of lines are paired in their order."""

_TOKENS = re.compile(r"\w+|\s+|[^\w\s]")


@lru_cache(maxsize=4_096)
def mark_changes(old: str, new: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Both lines in pieces; where too little is shared, each is one piece, unmarked.

    >>> mark_changes("at most 20 words", "at most 16 words")[1]
    (('at most ', False), ('16', True), (' words', False))
    """
    before, after = _TOKENS.findall(old), _TOKENS.findall(new)
    if max(len(before), len(after)) > MOST_WORDS or words_shared(old, new) < ALIKE:
        return ((old, False),), ((new, False),)
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return (
        _spans(("".join(before[i:j]), tag == "equal") for tag, i, j, _, _ in blocks),
        _spans(("".join(after[i:j]), tag == "equal") for tag, _, _, i, j in blocks),
    )


def words_shared(old: str, new: str) -> float:
    """How much of their words two lines share, from 0 to 1, wherever the words stand."""
    before, after = (Counter(re.findall(r"\w+", line)) for line in (old, new))
    words = before.total() + after.total()
    return 2 * (before & after).total() / words if words else float(old == new)


def pair_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int | None, int | None]]:
    """The lines of a changed block, those that are one that changed beside each other.

    Gives positions in either block, in order; None where a line has no other.

    >>> list(pair_lines(["one two three", "x"], ["y", "one two four"]))
    [(None, 0), (0, 1), (1, None)]
    """
    at = 0
    bounded = len(old) * len(new) <= MOST_PAIRS
    for i, line in enumerate(old):
        ahead = range(at, len(new)) if bounded else range(at, min(at + 1, len(new)))
        j = next((j for j in ahead if not bounded or words_shared(line, new[j]) >= ALIKE), None)
        if j is None:
            yield i, None
            continue
        yield from ((None, between) for between in range(at, j))
        yield i, j
        at = j + 1
    yield from ((None, rest) for rest in range(at, len(new)))


def _spans(pieces: Iterable[tuple[str, bool]]) -> tuple[Span, ...]:
    """Pieces with neighbours of a kind joined; blanks between two changed words are changed."""
    known = list(pieces)
    inner = range(1, len(known) - 1)
    changed = (
        (text, not equal or (text.isspace() and at in inner))
        for at, (text, equal) in enumerate(known)
        if text
    )
    kinds = groupby(changed, lambda piece: piece[1])
    return tuple(("".join(text for text, _ in block), kind) for kind, block in kinds)


CONTEXT = 3
"""Unchanged lines that are shown around a change."""

Line = tuple[int, str]
"""A line of one of the texts: its number there, and what it says."""


class Row(NamedTuple):
    """A line of the old text, one of the new, or both where they are the same or one changed."""

    old: Line | None
    new: Line | None
    same: bool = False


class Gap(NamedTuple):
    """Unchanged lines that are not shown: where among the rows they begin, and how many."""

    at: int
    n: int


def compare_lines(old: str, new: str) -> tuple[Row, ...]:
    r"""The lines of two texts as rows; how lines end is not compared.

    >>> [(row.same, row.old, row.new) for row in compare_lines("a\nb", "a\nc")]
    [(True, (1, 'a'), (1, 'a')), (False, (2, 'b'), None), (False, None, (2, 'c'))]
    """
    texts = versions.lines_of(old) or [], versions.lines_of(new) or []
    before, after = (list(enumerate(lines, 1)) for lines in texts)
    rows: list[Row] = []
    for tag, i, j, start, end in versions.blocks_of(*texts):
        if tag == "equal":
            pairs = zip(before[i:j], after[start:end], strict=True)
            rows += (Row(gone, arrived, same=True) for gone, arrived in pairs)
        else:
            for at, to in pair_lines(texts[0][i:j], texts[1][start:end]):
                gone = None if at is None else before[i + at]
                rows.append(Row(gone, None if to is None else after[start + to]))
    return tuple(rows)


def fold_rows(rows: Sequence[Row], context: int = CONTEXT) -> Iterator[Row | Gap]:
    """The rows, with a gap for unchanged ones that are far from any change."""
    changes = [at for at, row in enumerate(rows) if not row.same]
    near = {at + by for at in changes for by in range(-context, context + 1)}
    for is_near, block in groupby(range(len(rows)), near.__contains__):
        places = list(block)
        if is_near or len(places) == 1:  # a gap would take the room of the one line that it hides
            yield from (rows[at] for at in places)
        else:
            yield Gap(places[0], len(places))


ORDER: tuple[versions.Kind, ...] = ("changed", "added", "removed", "moved")
FIRST = "SKILL.md"


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that is another one in the new version, or there in one version only.

    Attributes:
        name: its path in the skill's folder.
        kind: what became of it.
        rows: its lines; none where it has none to show.
        added: lines that came.
        removed: lines that went.
        note: what is to be said instead of lines, or beside them.
    """

    name: str
    kind: versions.Kind
    rows: tuple[Row, ...] = ()
    added: int = 0
    removed: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class SkillDiff:
    """Two versions of a skill: the files that differ, and the names of those that do not."""

    files: tuple[FileChange, ...]
    same: tuple[str, ...]

    @property
    def added(self) -> int:
        """Lines that came, in all files."""
        return sum(file.added for file in self.files)

    @property
    def removed(self) -> int:
        """Lines that went, in all files."""
        return sum(file.removed for file in self.files)


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
    files = [_with_rows(change) for change in versions.changes(Path(old), Path(new))]
    files.sort(key=lambda file: (file.name != FIRST, ORDER.index(file.kind), file.name))
    unchanged = {name for name, *_ in before} - {file.name for file in files}
    same = tuple(name for name, *_ in after if name in unchanged)
    return SkillDiff(tuple(files), same)


def _with_rows(change: versions.FileChange) -> FileChange:
    """A file that differs with its lines, or with what is to be said instead."""
    name, kind, added, removed = change.name, change.kind, change.added, change.removed
    there = [data for data in (change.old, change.new) if data is not None]
    if kind == "moved":
        return FileChange(name, kind, note=f"It was {change.was}; nothing in it changed.")
    if added is None or removed is None:
        return FileChange(name, kind, note=f"{', then '.join(map(_what, there))}.")
    if kind == "changed" and not added and not removed:
        return FileChange(name, kind, note="Only how its lines end differs.")
    rows = compare_lines(
        *(versions.text_of(data or b"") or "" for data in (change.old, change.new))
    )
    return FileChange(name, kind, rows, added, removed, "" if rows else "It is empty.")


def _what(data: bytes) -> str:
    """What a file is of which no lines are shown."""
    size = f"{len(data):,} bytes"
    if len(data) > versions.LARGEST or data.count(b"\n") > versions.LONGEST:
        return f"{size}, too much to compare line by line"
    return f"{size} that are no text" if versions.text_of(data) is None else f"{size} of text"


class Pair(NamedTuple):
    """Two iterations of a skill, the one that is compared against first."""

    a: str
    b: str


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
    folder = _workspace_folder(ws, suite)
    kept = [] if folder is None else kept_skills(folder, suite.configurations, [*suite.iterations])
    now = None if folder is None else skill_now(folder)
    every = {version.name: version for version in [*kept, *([now] if now else [])]}
    alone = likeness(configuration) is None
    sides = zip(("old", "new"), pair, strict=True)
    old, new = (
        every.get(wanted[side])
        if side in wanted
        else skill_of(kept, iteration, configuration, alone=alone)
        for side, iteration in sides
    )
    lacks = zip(pair, (old, new), strict=True)
    missing = tuple(iteration for iteration, version in lacks if version is None)
    return SkillPair(every, old, new, configuration, missing)


def _workspace_folder(ws: Workspace, suite: SkillRuns) -> Path | None:
    """The folder above the suite's iterations."""
    if not ws.path:
        return None
    base = Path(ws.path).absolute()
    runs = ws.polars("runs").filter(workspace=suite.workspace, skill=suite.skill)
    for iteration in suite.configurations:
        path = next(iter(runs.filter(iteration=iteration)["path"]), None)
        folder = iteration_folder(base / path, iteration) if path else None
        if folder is not None:
            return folder.parent
    return base if base.is_dir() else None


LONGEST_SHOWN = 4_000
"""Characters of a piece of a line that are shown."""
MOST = 1_200
"""Rows of a file that are shown."""
KINDS = {"changed": "", "added": "good", "removed": "bad", "moved": ""}
SIGNS = {"old": ("−", "removed: "), "new": ("+", "added: "), "same": ("", "")}


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


def _file_head(file: FileChange) -> Child:
    lines = h("span", h("ins", f"+{file.added:,}"), " ", h("del", f"−{file.removed:,}"))
    counts = lines if file.added or file.removed else None
    kind = pill(file.kind, KINDS[file.kind])
    return h("span", h("strong", file.name), " ", kind, " ", counts, cls="sen-diff-file")


def _file_body(file: FileChange, unfolded: Collection[tuple[str, int]], side_by_side: bool) -> Node:
    note = h("p", file.note, cls="sen-soft") if file.note else None
    if not file.rows:
        return h("div", note)
    rows: list[Row | Gap] = []
    for part in fold_rows(file.rows):
        if isinstance(part, Gap) and (file.name, part.at) in unfolded:
            rows += file.rows[part.at : part.at + part.n]
        else:
            rows.append(part)
    columns = ("old line", "new line", "text")
    if side_by_side:
        columns = ("old line", "before", "new line", "after")
    lines = list(_line_rows(file.name, rows[:MOST], side_by_side))
    left = len(rows) - MOST
    if left > 0:
        words = f"{tied(left, 'more row')} not shown."
        lines.append(h("tr", h("td", words, colspan=len(columns), cls="sen-diff-gap")))
    heads = [h("span", head, cls="sen-unseen") for head in columns]
    look = f"sen-diff sen-diff-{'beside' if side_by_side else 'column'}"
    return h("div", note, table(heads, lines, label=f"Lines of {file.name}", cls=look))


def _line_rows(name: str, rows: Iterable[Row | Gap], side_by_side: bool) -> Iterator[Node]:
    """In one column, of each block that changed first what went and then what came."""
    for changed, block in groupby(rows, lambda row: isinstance(row, Row) and not row.same):
        arrived: list[Node] = []
        for row in block:
            if isinstance(row, Gap):
                yield _gap_row(name, row, 4 if side_by_side else 3)
                continue
            old, new = _line_cells(row)
            if side_by_side:
                yield h("tr", *old, *new)
            elif not changed:
                yield h("tr", old[0], *new)
            else:
                none = h("td", cls="sen-diff-number")
                arrived += [h("tr", none, *new)] if row.new else []
                if row.old:
                    yield h("tr", old[0], none, old[1])
        yield from arrived


def _line_cells(row: Row) -> list[tuple[Node, Node]]:
    """The number and the text of either side."""
    texts = [((line[1], False),) if line else () for line in (row.old, row.new)]
    if row.old and row.new and not row.same:
        texts = mark_changes(row.old[1], row.new[1])
    kinds = ("same", "same") if row.same else ("old", "new")
    return [
        (h("td", str(line[0]) if line else "", cls="sen-diff-number"), _text_shown(kind, pieces))
        for line, kind, pieces in zip((row.old, row.new), kinds, texts, strict=True)
    ]


def _text_shown(kind: str, pieces: Sequence[Span]) -> Node:
    if not pieces:
        return h("td", cls="sen-diff-none")
    sign, meaning = SIGNS[kind]
    mark = h("span", sign, cls="sen-diff-sign", aria_hidden="true")
    words = h("span", meaning, cls="sen-unseen") if meaning else None
    look = f"sen-diff-line sen-diff-{kind}"
    return h("td", mark, words, spans(pieces, kind), cls=look, dir="auto")


def spans(pieces: Sequence[Span], kind: str) -> Child:
    """A line in its pieces, those that are not in the other one marked."""
    tag = {"old": "del", "new": "ins"}.get(kind, "span")
    return [h(tag, _cut(text)) if changed else _cut(text) for text, changed in pieces]


def _cut(text: str) -> str:
    if len(text) <= LONGEST_SHOWN:
        return text
    return f"{text[:LONGEST_SHOWN]} … {len(text) - LONGEST_SHOWN:,} more characters"


def _gap_row(name: str, gap: Gap, width: int) -> Node:
    words = tied(gap.n, "unchanged line")
    show = button(words, ("show_lines", name, gap.at), kind="quiet", aria_label=f"Show {words}")
    return h("tr", h("td", show, colspan=width, cls="sen-diff-gap"), key=f"gap-{gap.at}")


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
