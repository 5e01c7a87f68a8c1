"""What changed between two iterations: the skill's files, verdicts, expectations."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from skill_eval_nb.stats.confounds import SESSIONS
from skill_eval_nb.stats.values import no_such
from skill_eval_nb.tables.columns import like
from skill_eval_nb.text import MISSING, mark_changes, tied
from skill_eval_nb.widgets.explore.explorer import VIEWS, Explorer, nothing_view, safely
from skill_eval_nb.workspace.jobs import iteration_folder, read_settings
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
from ..explore.look import Look
from ..explore.verdict import differences, summary, tracks
from ..show.run import SHOWING_CSS
from ..ui import Child, Node, action, h, style
from ..ui.parts import notice, soft, spans, table, waiting_note
from .skill import Pair, SkillDiff, compare, skill_pair, skill_view

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables import Workspace

__all__ = ["Diff", "diff"]


SHOWN_APART = frozenset(("skills", "evals", "executor_model", "judge", "stand_in"))
"""Parts of a plan that have a place of their own here, or are no setting."""
JUDGE = "judge's model"
MODELS = {"executor_model": "executor's model", "judge_model": JUDGE}
ALONE = "Evals of one iteration only are in no delta between the two."
KINDS = {
    "Evals": ALONE,
    "Prompts": "",
    "Expectations": "",
    "Rubric dimensions": ALONE,
    "Models": "",
    "How it was run": "",
}
"""What can differ, and what to know of it."""
OF_GRADING = ("Prompts", "Expectations", "Rubric dimensions", JUDGE)
"""What makes deltas compare unlike things: other tasks, other checks, another judge."""


@dataclass(frozen=True, slots=True)
class SetupDifference:
    """Something that differs besides the skill.

    Attributes:
        kind: a key of KINDS.
        about: what it is of.
        before: how it is in the first iteration; None where it is not there.
        after: the same of the second.
    """

    kind: str
    about: str
    before: str | None
    after: str | None


def unlike(ws: Workspace, pair: Pair) -> list[SetupDifference]:
    """All that is known to differ between two iterations but their skill and their figures.

    `ws` has the runs of these two iterations of one skill alone.
    """
    runs, scores = ws.polars("runs"), ws.polars("rubric_scores")
    shared = set.intersection(*(set(_of(runs, side)["eval_id"]) for side in pair))
    base = Path(ws.path) if ws.path else None
    both_scored = all(_of(scores, side).height for side in pair)
    return [
        *_alone("Evals", pair, runs, "eval_id", "eval_name"),
        *(_prompts(runs, pair, base) if base else ()),
        *_checks(ws.polars("expectations"), pair, shared),
        *(_alone("Rubric dimensions", pair, scores, *["dimension"] * 2) if both_scored else ()),
        *_models(runs, pair),
        *(_plans(runs, pair, base) if base else ()),
    ]


def _of(frame: pl.DataFrame, iteration: str) -> pl.DataFrame:
    return frame.filter(iteration=iteration)


def _changed_words(
    kind: str, before: Mapping[Any, str], after: Mapping[Any, str]
) -> list[SetupDifference]:
    """What is another one on either side, by what it is about; a part missing is no change."""
    return [
        SetupDifference(kind, str(about), words, after[about])
        for about, words in before.items()
        if after.get(about, words) != words
    ]


def _alone(
    kind: str, pair: Pair, frame: pl.DataFrame, key: str, name: str
) -> list[SetupDifference]:
    """What stands in one iteration only."""
    a, b = (_of(frame, side).unique(key, maintain_order=True) for side in pair)
    gone, new = (mine.join(other, on=key, how="anti")[name] for mine, other in ((a, b), (b, a)))
    return [
        *(SetupDifference(kind, name, name, None) for name in gone),
        *(SetupDifference(kind, name, None, name) for name in new),
    ]


def _checks(checks: pl.DataFrame, pair: Pair, shared: Collection[str]) -> Iterator[SetupDifference]:
    """Expectations of one iteration alone, and those whose wording changed under the same id."""
    in_eval = ["eval_id", "layer"]
    columns = [*in_eval, "expectation_id", "text", "eval_name"]
    known = checks.unique(["iteration", *columns], maintain_order=True)
    known = known.filter(known["eval_id"].is_in(list(shared))).select("iteration", *columns)
    a, b = (_of(known, side) for side in pair)
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


def _prompts(runs: pl.DataFrame, pair: Pair, base: Path) -> list[SetupDifference]:
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


def _models(runs: pl.DataFrame, pair: Pair) -> list[SetupDifference]:
    a, b = (
        {
            words: ", ".join(sorted(_of(runs, side)[column].drop_nulls().unique()))
            for column, words in MODELS.items()
        }
        for side in pair
    )
    stated = {about: models for about, models in a.items() if models and b[about]}
    return _changed_words("Models", stated, b)


def _plans(runs: pl.DataFrame, pair: Pair, base: Path) -> list[SetupDifference]:
    """What our journals say of how the two were run."""
    settings: list[dict[str, str]] = []
    for side in pair:
        path = next(iter(_of(runs, side)["path"]), None)
        folder = iteration_folder(base / path, side) if path else None
        plan = read_settings(folder).plan if folder else {}
        own = {**plan.get("runs", {}), **plan.get("grading", {})}
        if not own:
            return []
        settings.append(
            dict(_flat({name: of for name, of in own.items() if name not in SHOWN_APART}))
        )
    every = dict.fromkeys([*settings[0], *settings[1]], "none")
    return _changed_words("How it was run", *(every | own for own in settings))


def _flat(settings: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """The settings of a plan, each under its own name."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{name}, ")
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
    sections: list[Child] = [notice(doubt) if touched else None]
    for kind, note in KINDS.items():
        rows = [(change.about, *_change_cells(change)) for change in found if change.kind == kind]
        if rows:
            known = soft(note) if note else None
            sections.append(h("section", h("h4", kind), known, table(("Of", *pair), rows)))
    return h("div", sections)


def _change_cells(change: SetupDifference) -> list[Child]:
    before, after = change.before, change.after
    if before is None or after is None:
        return [h("div", words or MISSING, dir="auto") for words in (before, after)]
    both = zip(mark_changes(before, after), ("old", "new"), strict=True)
    return [
        h("div", spans(pieces, kind), cls="sen-diff-asked", dir="auto") for pieces, kind in both
    ]


NOTHING = (
    "There are no two iterations of a skill to compare. A changed skill, or other evals or "
    "models, begin the next one when it is run."
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
            raise ValueError(f"Two different iterations are compared, not `{a}` with itself.")
        mine = [suite for suite in suites if names <= set(suite.configurations)]
        if names and not mine:
            raise ValueError(f"`{a}` and `{b}` are not of one skill in one workspace.")
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
        return super().selection if self.has_pair else like(ws, ws.polars("runs").clear())

    # ── what a person does ────────────────────────────────────────────────────────────────────

    def _choose(self, request: Choice) -> None:
        super()._choose(request)
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

    # ── what is seen ──────────────────────────────────────────────────────────────────────────

    def _draw_look(self, look: Look) -> Node:
        configuration = look.choice.iteration
        found = skill_pair(self.source.ws, look.suite, _pair_of(look), configuration, self.versions)
        self._skills = found
        self._compared = None
        if found.old and found.new:
            self._compared = compare(found.old.folder, found.new.folder)
        return super()._draw_look(look)

    def _content(self, look: Look) -> Child:
        if self.seen.tab == "skill":
            layout = {"side_by_side": self.side_by_side}
            return skill_view(self._skills, self._compared, self.lines, **layout)
        if self.seen.tab == "others":
            found = self._unlike(look)
            return waiting_note("Counting") if found is None else unlike_view(found, _pair_of(look))
        return super()._content(look)

    def _summary_beside(self, look: Look) -> Child:
        facts = (
            _skill_fact(self._compared),
            _flipped_fact(_count_flips(look)),
            _unlike_fact(self._unlike(look)),
            _fact("!", "odd", SESSIONS),
        )
        return h(
            "div",
            h("ul", facts, cls="sen-diff-facts"),
            safely(summary, look),
            safely(self._each_against_its_baseline, look),
        )

    def _number_of(self, look: Look, tab: str) -> str:
        if tab == "checks" and (turned := _count_flips(look)) is not None:
            return f" ({sum(turned):,} flipped)"
        if tab == "skill" and self._compared is not None:
            return f" ({len(self._compared.files):,})"
        if tab == "others" and (found := self._unlike(look)) is not None:
            return f" ({len(found):,})"
        return ""

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

    def _count(self) -> None:
        self.sides = Counted(self.source.ws, self._later)
        super()._count()

    def _unlike(self, look: Look) -> list[SetupDifference] | None:
        """What else differs; None while that is being looked for."""
        pair, now = _pair_of(look), look.choice
        keys = {"workspace": now.workspace or "", "skill": now.skill or "", **dict(now.model)}

        def count_unlike() -> list[SetupDifference]:
            part = self.source.ws.select(iteration=tuple(pair), **keys)
            return unlike(part, pair)

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


def _fact(sign: str, kind: str, words: Child) -> Node:
    """A sign, how it stands out, and what is to be known."""
    look = f"sen-diff-fact sen-diff-fact-{kind or 'same'}"
    return h("li", h("span", sign, cls=look, aria_hidden="true"), words)


def _skill_fact(compared: SkillDiff | None) -> Node:
    if compared is None:
        return _fact("?", "odd", "The skill's files were not kept in both")
    if not compared.files:
        return _fact("=", "", "The skill's files are the same")
    lines = [h("ins", f"+{compared.added:,}"), " ", h("del", f"−{compared.removed:,}"), " lines"]
    return _fact("≠", "", [f"The skill: {_differ(len(compared.files), 'file')}, ", *lines])


def _flipped_fact(turned: Sequence[int] | None) -> Node:
    if turned is None:
        return _fact("…", "", COUNTING)
    failing, passing = turned
    if not failing and not passing:
        return _fact("=", "", "No expectation flipped")
    words = f"{tied(failing, 'expectation')} newly failing, {passing:,} newly passing"
    return _fact("▼", "bad", words) if failing else _fact("▲", "good", words)


def _unlike_fact(found: Sequence[SetupDifference] | None) -> Node:
    if found is None:
        return _fact("…", "", COUNTING)
    if not found:
        return _fact("=", "", "Evals, expectations and models are the same")
    return _fact("!", "odd", f"{_differ(len(found), 'other thing')} besides the skill")


def _differ(number: int, noun: str) -> str:
    return f"{tied(number, noun)} {'differs' if number == 1 else 'differ'}"
