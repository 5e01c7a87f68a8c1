"""What changed between two iterations: the skill's files, verdicts, expectations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from skill_eval_nb.documents.sides import is_without_skill, likeness
from skill_eval_nb.improving import versions
from skill_eval_nb.running.skill import contents
from skill_eval_nb.stats.confounds import SESSIONS
from skill_eval_nb.stats.values import no_such
from skill_eval_nb.tables.columns import to_backend_of
from skill_eval_nb.text import MISSING, Gap, Row, fold_rows, mark_changes, some, tie
from skill_eval_nb.workspace.jobs import (
    KeptSkill,
    find_kept_skill,
    iteration_folder,
    kept_skills,
    read_settings,
    skill_now,
)
from skill_eval_nb.workspace.read import nearest_metadata

from ..explore.choice import (
    FLIPS,
    Choice,
    Counted,
    SkillRuns,
    count_flips,
    settle_choice,
    suite_of,
)
from ..explore.explorer import VIEWS, Explorer, nothing_view, safely
from ..explore.look import Look
from ..explore.verdict import differences, summary, tracks
from ..show.run import SHOWING_CSS
from ..ui import Child, Node, action, h, style
from ..ui.parts import (
    button,
    choose,
    details,
    draw_rows,
    note,
    notice,
    pill,
    spans,
    table,
    waiting_note,
)

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables import Workspace

__all__ = ["Diff", "diff"]


Pair = tuple[str, str]
"""Two iterations of a skill, the one that is compared against first."""

# ── the skill in two versions ────────────────────────────────────────────────────────────────────

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
    return _compare_cached(str(old), str(new), _stamp_folder(old), _stamp_folder(new))


State = tuple[tuple[str, int, int], ...]
"""Each file of a skill: its name, when it was written, its size."""


def _stamp_folder(folder: Path) -> State:
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
    return SkillDiff(tuple(files), tuple(name for name, *_ in after if name in unchanged))


Compared = tuple[KeptSkill | None, KeptSkill | None]
"""The older version of a skill and the newer one; None where none was kept."""


def choose_versions(
    ws: Workspace, suite: SkillRuns, pair: Pair, configuration: str, wanted: Mapping[str, str]
) -> tuple[dict[str, KeptSkill], Compared]:
    """All versions by name, the skill as it is now last; and those that are compared.

    Args:
        ws: the workspace; there are no versions where it is not on disk.
        suite: its iterations and configurations, turned.
        pair: the two iterations.
        configuration: the one that had the versions in these iterations.
        wanted: by `old` and `new` the name of another version; of none where it is empty.
    """
    own = ws.polars("runs").filter(workspace=suite.workspace, skill=suite.skill)
    folder = versions.workspace_folder(ws, own)
    if folder is None:
        return {}, (None, None)
    kept, now = kept_skills(folder, suite.configurations, [*suite.iterations]), skill_now(folder)
    every = {version.name: version for version in [*kept, *([now] if now else [])]}
    alone = likeness(configuration) is None
    old, new = (
        every.get(wanted[side])
        if side in wanted
        else find_kept_skill(kept, iteration, configuration, alone=alone)
        for side, iteration in zip(("old", "new"), pair, strict=True)
    )
    return every, (old, new)


FILE_KINDS = {"changed": "", "added": "good", "removed": "bad", "moved": ""}


def _file_head(file: versions.FileChange) -> Child:
    added, removed = file.added or 0, file.removed or 0
    kind = pill(file.kind, FILE_KINDS[file.kind])
    counts = h("span", _line_counts(added, removed)) if added or removed else None
    return h("span", h("strong", file.name), " ", kind, " ", counts, cls="sen-diff-file")


def _line_counts(added: int, removed: int) -> list[Child]:
    return [h("ins", f"+{added:,}"), " ", h("del", f"−{removed:,}")]


HOW_KEPT = (
    "Runs made here keep it: ",
    h("code", "sen.plan_runs"),
    " and ",
    h("code", "sen.run_panel"),
    " save a copy of the skill, as it was offered, in ",
    h("code", "iteration-N/skill-snapshot/<configuration>/"),
    ". For runs of another tool, copy the skill's folder there each time before it changes.",
)
UNCHOSEN = "(choose a version)"

# ── what else differs ────────────────────────────────────────────────────────────────────────────

SHOWN_APART = frozenset(("skills", "evals", "executor_model", "judge", "stand_in"))
"""Parts of a plan that have a place of their own here, or are no setting."""
JUDGE = "judge's model"
MODELS = {"executor_model": "executor's model", "judge_model": JUDGE}
ALONE = ("Evals", "Rubric dimensions")
"""What may be in one iteration only."""
OF_GRADING = ("Prompts", "Expectations", "Rubric dimensions", JUDGE)
"""What makes deltas compare unlike things: other tasks, other checks, another judge."""


class SetupDifference(NamedTuple):
    """Something that differs besides the skill.

    Attributes:
        kind: what sort of thing it is.
        about: what it is of.
        before: how it is in the first iteration; None where it is not there.
        after: the same of the second.
    """

    kind: str
    about: str
    before: str | None
    after: str | None


def compare_setup(ws: Workspace, pair: Pair) -> list[SetupDifference]:
    """Every known difference between two iterations, other than skill and figures.

    `ws` has the runs of these two iterations of one skill alone.
    """
    runs, scores = ws.polars("runs"), ws.polars("rubric_scores")
    shared = set.intersection(*(set(_rows_of(runs, side)["eval_id"]) for side in pair))
    base = Path(ws.path) if ws.path else None
    scores = scores if all(_rows_of(scores, side).height for side in pair) else scores.clear()
    return [
        *_compare_sets("Evals", pair, runs, "eval_id", "eval_name"),
        *(_compare_prompts(runs, pair, base) if base else ()),
        *_compare_checks(ws.polars("expectations"), pair, shared),
        *_compare_sets("Rubric dimensions", pair, scores, "dimension", "dimension"),
        *_compare_models(runs, pair),
        *(_compare_plans(runs, pair, base) if base else ()),
    ]


def _rows_of(frame: pl.DataFrame, iteration: str) -> pl.DataFrame:
    return frame.filter(iteration=iteration)


def _changed_words(
    kind: str, before: Mapping[Any, str], after: Mapping[Any, str]
) -> list[SetupDifference]:
    """The texts that differ, by what they are about; one that a side lacks is no change."""
    return [
        SetupDifference(kind, str(about), words, after[about])
        for about, words in before.items()
        if after.get(about, words) != words
    ]


def _compare_sets(
    kind: str, pair: Pair, frame: pl.DataFrame, key: str, name: str
) -> list[SetupDifference]:
    """What is in only one of the two iterations."""
    a, b = (_rows_of(frame, side).unique(key, maintain_order=True) for side in pair)
    gone, new = (mine.join(other, on=key, how="anti")[name] for mine, other in ((a, b), (b, a)))
    return [
        *(SetupDifference(kind, name, name, None) for name in gone),
        *(SetupDifference(kind, name, None, name) for name in new),
    ]


def _compare_checks(known: pl.DataFrame, pair: Pair, shared: set[str]) -> Iterator[SetupDifference]:
    """Expectations of one iteration alone, and those whose wording changed under the same id."""
    in_eval = ["eval_id", "layer"]
    columns = [*in_eval, "expectation_id", "text", "eval_name"]
    known = known.unique(["iteration", *columns], maintain_order=True)
    known = known.filter(known["eval_id"].is_in(list(shared))).select("iteration", *columns)
    a, b = (_rows_of(known, side) for side in pair)
    if a.is_empty() or b.is_empty():
        return
    by_text, by_id = [*in_eval, "text"], [*in_eval, "expectation_id"]
    gone, new = a.join(b, on=by_text, how="anti"), b.join(a, on=by_text, how="anti")
    now = b.unique(by_id, keep="last").select(*by_id, after="text")
    for row in gone.join(now, on=by_id, how="left", maintain_order="left").to_dicts():
        named = f"{row['eval_name']}, {row['expectation_id']}"
        about = row["eval_name"] if row["after"] is None else named
        yield SetupDifference("Expectations", about, row["text"], row["after"])
    for row in new.join(a, on=by_id, how="anti").to_dicts():
        yield SetupDifference("Expectations", row["eval_name"], None, row["text"])


def _compare_prompts(runs: pl.DataFrame, pair: Pair, base: Path) -> list[SetupDifference]:
    """Prompts that the metadata of the two iterations have in other words."""
    prompts: dict[str, dict[str, str]] = {side: {} for side in pair}
    names: dict[str, str] = {}
    first = runs.unique(["iteration", "eval_id"], keep="first", maintain_order=True)
    for row in first.to_dicts():
        place = base / row["path"]
        folder = iteration_folder(place, row["iteration"])
        metadata = nearest_metadata(place, folder) if folder else None
        if metadata is not None and metadata.prompt:
            name = names.setdefault(row["eval_id"], row["eval_name"])
            prompts[row["iteration"]][name] = metadata.prompt.strip()
    return _changed_words("Prompts", *prompts.values())


def _compare_models(runs: pl.DataFrame, pair: Pair) -> list[SetupDifference]:
    a, b = (
        {
            words: ", ".join(sorted(_rows_of(runs, side)[column].drop_nulls().unique()))
            for column, words in MODELS.items()
        }
        for side in pair
    )
    stated = {about: models for about, models in a.items() if models and b[about]}
    return _changed_words("Models", stated, b)


def _compare_plans(runs: pl.DataFrame, pair: Pair, base: Path) -> list[SetupDifference]:
    """What our journals say about how the two iterations were run."""
    settings: list[dict[str, str]] = []
    for side in pair:
        path = next(iter(_rows_of(runs, side)["path"]), None)
        folder = iteration_folder(base / path, side) if path else None
        plan = read_settings(folder).plan if folder else {}
        own = {**plan.get("runs", {}), **plan.get("grading", {})}
        if not own:
            return []
        kept = {name: of for name, of in own.items() if name not in SHOWN_APART}
        settings.append(dict(_flatten_settings(kept)))
    every = dict.fromkeys([*settings[0], *settings[1]], "none")
    return _changed_words("How it was run", *(every | own for own in settings))


def _flatten_settings(settings: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """The settings of a plan, each under its own name."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flatten_settings(value, f"{above}{name}, ")
        else:
            yield f"{above}{name}", "none" if value is None else str(value)


def unlike_view(found: Sequence[SetupDifference], pair: Pair) -> Node:
    """All that differs besides the skill and the figures."""
    if not found:
        return notice(
            "As far as the files show, nothing else differs: evals, prompts, expectations, rubric "
            "dimensions and models are the same.",
            fine=True,
        )
    doubt = "Where prompts, expectations, rubric or judge differ, a delta compares unlike things."
    touched = any({change.kind, change.about} & {*OF_GRADING} for change in found)
    alone = any(change.kind in ALONE for change in found)
    rows = [(change.kind, change.about, *_change_cells(change)) for change in found]
    return h(
        "div",
        notice(doubt) if touched else None,
        table(("What", "Of", *pair), rows),
        note("What only one iteration has is in no delta between the two.") if alone else None,
    )


def _change_cells(change: SetupDifference) -> list[Child]:
    before, after = change.before, change.after
    if before is None or after is None:
        return [h("div", words or MISSING, dir="auto") for words in (before, after)]
    both = zip(mark_changes(before, after), ("old", "new"), strict=True)
    return [
        h("div", spans(pieces, kind), cls="sen-diff-asked", dir="auto") for pieces, kind in both
    ]


# ── the widget ───────────────────────────────────────────────────────────────────────────────────

NOTHING = (
    "There are no two iterations of a skill to compare. Change the skill, evals or models: the "
    "next run starts a new iteration."
)


def diff(ws: Any, a: str | None = None, b: str | None = None) -> Diff:
    """Show what changed between two iterations of a skill.

    It shows the verdicts for all evals, each eval and each rubric dimension; the expectations
    that flipped; the runs behind each, both iterations side by side; the skill's own files as a
    text diff, if the runs kept them; and what else differs between the two.

    Args:
        ws: a `Workspace`, or the path of one.
        a: the iteration to compare against; the one before `b` if not given.
        b: the other one; the last if not given.

    Returns:
        a widget; its `.selection` is the table of the runs behind what was clicked.

    Raises:
        ValueError: if an iteration does not exist, or both are the same.
    """
    return Diff(ws, a, b)


class Diff(Explorer):
    """What changed between two iterations, as a widget."""

    label: ClassVar[str] = "What changed between two iterations"
    _css: Any = style(
        SHOWING_CSS,
        Path(__file__).parents[1] / "explore" / "explore.css",
        Path(__file__).with_name("diff.css"),
    )
    turned = True
    TABS: ClassVar = {name: VIEWS[name][0] for name in ("evals", "outputs", "dimensions")} | {
        "checks": "Expectations",
        "skill": "Skill files",
        "others": "What else differs",
    }
    WITHOUT_RUNS = frozenset(("skill", "others"))

    def __init__(self, ws: Any, a: str | None = None, b: str | None = None) -> None:
        self.versions: dict[str, str] = {}
        """By `old` and `new` the version of the skill that was chosen, by its name."""
        self.side_by_side = False
        self.lines: frozenset[tuple[str, int]] = frozenset()
        """Of which file, and from which row on, unchanged lines are shown."""
        super().__init__(ws, Choice(configuration=b, baseline=a))

    def _check_request(self, suites: Sequence[SkillRuns], request: Choice) -> Choice:
        """The first choice: of the first skill that has these iterations.

        Raises:
            ValueError: for an iteration that is not there, or the same one twice.
        """
        a, b = request.baseline, request.configuration
        names = set(request.sides)
        known = {name for suite in suites for name in suite.configurations}
        for name in names - known:
            raise no_such("iteration", name, known)
        if a is not None and a == b:
            raise ValueError(f"Give two different iterations, not `{a}` twice.")
        mine = [suite for suite in suites if names <= set(suite.configurations)]
        if names and not mine:
            raise ValueError(f"`{a}` and `{b}` do not belong to one skill in one workspace.")
        suite = suite_of([suite for suite in mine if len(suite.configurations) > 1], Choice())
        return replace(request, workspace=suite.workspace, skill=suite.skill) if suite else request

    def view(self) -> Child:
        """All of it."""
        if self.source.lacking is not None:
            return nothing_view((), None, self.source)
        if self.has_pair:
            return super().view()
        suites = [suite for suite in self.counted.suites if suite.n_runs]
        lines = [f"{suite.skill}: {', '.join(suite.configurations)}" for suite in suites]
        return [notice(NOTHING), h("ul", [h("li", line) for line in lines])]

    @property
    def has_pair(self) -> bool:
        """Whether there are two iterations to compare."""
        return self.suite is not None and len(self.choice.sides) > 1

    @property
    def selection(self) -> Any:
        """The runs of both iterations behind what was clicked, else all that are looked at.

        The rows are those of `ws.runs`, and the table is of its kind.
        """
        ws = self.source.ws
        return super().selection if self.has_pair else to_backend_of(ws, ws.polars("runs").clear())

    # what a person does

    def _change_choice(self, request: Choice) -> None:
        super()._change_choice(request)
        self.versions, self.lines = {}, frozenset()

    @action
    def choose_version(self, which: str, name: str) -> None:
        """Compare another version of the skill, whatever iterations are chosen."""
        self.versions = {**self.versions, which: name}
        self.lines = frozenset()

    @action
    def lay_out(self, side_by_side: bool) -> None:
        """Show the lines of the skill's files in one column or side by side."""
        self.side_by_side = side_by_side

    @action
    def show_lines(self, name: str, at: int) -> None:
        """Show unchanged lines of a file."""
        self.lines |= {(name, at)}

    # what is seen

    def _draw_look(self, look: Look) -> Node:
        configuration, pair = look.choice.iteration, _pair_of(look)
        self._every, self._skills = choose_versions(
            self.source.ws, look.suite, pair, configuration, self.versions
        )
        old, new = self._skills
        self._compared = compare(old.folder, new.folder) if old and new else None
        return super()._draw_look(look)

    def _content(self, look: Look) -> Child:
        if self.seen.tab == "skill":
            choice = self._version_choice() if self._every else None
            return h("div", self._why_no_diff(look), choice, self._files_view())
        if self.seen.tab == "others":
            found = self._setup_differences(look)
            return waiting_note("Counting") if found is None else unlike_view(found, _pair_of(look))
        return super()._content(look)

    def _why_no_diff(self, look: Look) -> Child:
        """Why there is no diff of the two iterations, and what to do."""
        sides = zip(_pair_of(look), self._skills, strict=True)
        missing = [iteration for iteration, version in sides if version is None]
        if not missing:
            return None
        who = look.choice.iteration
        if is_without_skill(who):
            return notice(f"{who} offers no skill: choose a configuration that does.")
        first = f"No copy of the skill that {who} had in {some(missing)} was kept."
        return notice(first, "Choose two versions that were." if self._every else HOW_KEPT)

    def _version_choice(self) -> Node:
        options = {"": UNCHOSEN, **{name: name for name in self._every}}
        ways = {"One column": False, "Side by side": True}
        buttons = [
            button(words, ("lay_out", way), aria_pressed=way == self.side_by_side)
            for words, way in ways.items()
        ]
        group = {"role": "group", "aria_label": "Layout of the diff"}
        old, new = (version.name if version else "" for version in self._skills)
        return h(
            "div",
            choose("Skill before", options, old, ("choose_version", "old")),
            choose("Skill after", options, new, ("choose_version", "new")),
            h("div", buttons, cls="sen-row sen-diff-ways", **group),
            cls="sen-row",
        )

    def _files_view(self) -> Node | None:
        """Every file that differs, and the names of those that do not."""
        found = self._compared
        if found is None:
            return None
        if not found.files:
            return h("p", "The two versions are the same, file by file.")
        same = f"{tie(len(found.same), 'file')} unchanged: {', '.join(found.same[:12])}"
        same += " …" if len(found.same) > 12 else ""
        files = [
            details(_file_head(file), self._file_body(file), unfolded=at < 3, key=file.name)
            for at, file in enumerate(found.files)
        ]
        return h("div", files, note(same) if found.same else None)

    def _file_body(self, file: versions.FileChange) -> Node:
        note = h("p", file.note, cls="sen-soft") if file.note else None
        if not file.rows:
            return h("div", note)
        rows: list[Row | Gap] = []
        for part in fold_rows(file.rows):
            if isinstance(part, Gap) and (file.name, part.at) in self.lines:
                rows += file.rows[part.at : part.at + part.n]
            else:
                rows.append(part)

        def unfold(gap: Gap) -> Child:
            words, show = tie(gap.n, "unchanged line"), ("show_lines", file.name, gap.at)
            return button(words, show, kind="quiet", aria_label=f"Show {words}")

        label = f"Lines of {file.name}"
        return h("div", note, draw_rows(rows, label, beside=self.side_by_side, unfold=unfold))

    def _summary_beside(self, look: Look) -> Child:
        facts = (
            _skill_fact(self._compared),
            _flipped_fact(_count_flips(look)),
            _unlike_fact(self._setup_differences(look)),
            _fact_item("!", "odd", SESSIONS),
        )
        return h(
            "div",
            h("ul", facts, cls="sen-diff-facts"),
            safely(summary, look),
            safely(self._each_against_its_baseline, look),
        )

    def _each_against_its_baseline(self, look: Look) -> Child:
        """What the skill changed in either iteration, as an explorer has it."""
        pair, now = _pair_of(look), look.choice
        choice = Choice(now.workspace, now.skill, tuple(pair), metric=now.metric, model=now.model)
        suite = suite_of(self.sides.suites, choice)
        if suite is None or len(suite.configurations) < 2:
            return None
        own = self._make_look(self.sides, suite, settle_choice(suite, choice))
        own.links = False
        return tracks(own, differences(own))

    def _renew_counts(self) -> None:
        self.sides = Counted(self.source.ws, self._later)
        super()._renew_counts()

    def _setup_differences(self, look: Look) -> list[SetupDifference] | None:
        """What else differs; None while that is being looked for."""
        pair, now = _pair_of(look), look.choice
        keys = {"workspace": now.workspace or "", "skill": now.skill or "", **dict(now.model)}

        def count_unlike() -> list[SetupDifference]:
            part = self.source.ws.select(iteration=tuple(pair), **keys)
            return compare_setup(part, pair)

        return self.counted.get(("unlike", pair, *keys.values()), count_unlike)


def _pair_of(look: Look) -> Pair:
    return look.choice.baseline or "", look.choice.configuration or ""


def _count_flips(look: Look) -> list[int] | None:
    """How many expectations fail newly, and pass newly; None while that is being counted."""
    found = look.figures(count_flips)
    if any(rows is None for rows in found.values()):
        return None
    classes = [row["class"] for rows in found.values() for row in rows]
    return [classes.count(turn) for turn in FLIPS]


COUNTING = waiting_note("Counting")


def _fact_item(sign: str, kind: str, words: Child) -> Node:
    """A sign, how it stands out, and what is to be known."""
    look = f"sen-diff-fact sen-diff-fact-{kind or 'same'}"
    return h("li", h("span", sign, cls=look, aria_hidden="true"), words)


def _skill_fact(compared: SkillDiff | None) -> Node:
    if compared is None:
        return _fact_item("?", "odd", "The skill's files were not kept in both")
    if not compared.files:
        return _fact_item("=", "", "The skill's files are the same")
    lines = [*_line_counts(compared.added, compared.removed), " lines"]
    return _fact_item("≠", "", [f"The skill: {_say_differ(len(compared.files), 'file')}, ", *lines])


def _flipped_fact(turned: Sequence[int] | None) -> Node:
    if turned is None:
        return _fact_item("…", "", COUNTING)
    failing, passing = turned
    if not failing and not passing:
        return _fact_item("=", "", "No expectation flipped")
    words = f"{tie(failing, 'expectation')} newly failing, {passing:,} newly passing"
    return _fact_item("▼", "bad", words) if failing else _fact_item("▲", "good", words)


def _unlike_fact(found: Sequence[SetupDifference] | None) -> Node:
    if found is None:
        return _fact_item("…", "", COUNTING)
    if not found:
        return _fact_item("=", "", "Evals, expectations and models are the same")
    return _fact_item("!", "odd", f"{_say_differ(len(found), 'other thing')} besides the skill")


def _say_differ(number: int, noun: str) -> str:
    return f"{tie(number, noun)} {'differs' if number == 1 else 'differ'}"
