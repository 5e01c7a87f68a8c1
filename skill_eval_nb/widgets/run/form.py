"""The form: what is chosen, what `plan_runs` is called with for it, and how it is shown.

With it the next best design: what the runs that are there say would be enough, and its price.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from skill_eval_nb.charts.metrics import metric
from skill_eval_nb.documents.sides import SIDES, WITH, WITHOUT
from skill_eval_nb.models import Prices
from skill_eval_nb.models.stand_in import EXECUTOR, JUDGE
from skill_eval_nb.running import Executor, plan_runs
from skill_eval_nb.running.journal import FINISHED, read_journal
from skill_eval_nb.running.protocol import executor_names
from skill_eval_nb.stats import plan
from skill_eval_nb.stats.values import RUBRIC, UNITS, order_iterations
from skill_eval_nb.text import brief, count, did_you_mean, dollars

from ..ui import Child, Node, h
from ..ui.paid import Field, Launch, PaidForm, form_field, models_with_prices
from ..ui.parts import button, choose, details, entry, frame, notice, soft, tick, ticks
from ..ui.track import amount

if TYPE_CHECKING:
    from skill_eval_nb.running.suite import Suite
    from skill_eval_nb.tables import Workspace

    from .plan import PlanPreview


Folder = str | os.PathLike[str]

OFFLINE = "offline"
STAND_IN = {"executor_model": EXECUTOR, "judge_model": JUDGE}
"""The offline executor's own models, which need not be chosen."""


@dataclass(frozen=True)
class FixedArgs:
    """What was given in code and the form does not show.

    Attributes:
        skill: the skill's folder.
        evals: the evals file; None for that of the skill.
        workspace: the folder for the runs; None for the one beside the skill.
        executor: the executor that was given, by its name or itself.
        rest: limits, connection, prices, options of that executor.
    """

    skill: Folder
    evals: Folder | None = None
    workspace: Folder | None = None
    executor: str | Executor = OFFLINE
    rest: Mapping[str, Any] = field(default_factory=dict)


BATCHES = "Judge by message batches: half the price, and later"
SCRIPTS = "Run the scripts that evals have (custom_script), in the sandbox"


@dataclass(frozen=True)
class Form(PaidForm):
    """What is chosen; a number that is None was left empty.

    Attributes:
        sides: all configurations, each with the folder of its skill, or None.
        configurations: the names of those to run.
        evals_only: the ids of the evals to run; None for all, also of those to come.

    The others are named as in `plan_runs`.
    """

    sides: Mapping[str, Folder | None] = field(default_factory=dict)
    configurations: tuple[str, ...] = SIDES
    evals_only: tuple[str, ...] | None = None
    executor: str = OFFLINE
    executor_model: str | None = form_field("Executor's model", "model")
    judge_model: str | None = form_field("Judge's model", "model")
    runs: int | None = form_field("Runs per eval", least=1)
    looks: str = form_field("Planned looks", "text", default="", placeholder="2, 4, 6, 10")
    judgings: int | None = form_field("Judgings per run", default=1, least=0, needed=True)
    judge_per_dimension: bool = form_field("Judge each dimension in a separate call", "tick")
    judge_batch: bool = form_field(BATCHES, "tick")
    concurrency: int | None = form_field("Concurrency", default=8, least=1, needed=True)
    seed: int | None = form_field("Seed of the order", default=0, least=0, needed=True)
    sandbox: str = "bubblewrap"
    allow_scripts: bool = form_field(SCRIPTS, "tick")
    retry_errored: bool = form_field("Do runs that errored again", "tick")
    iteration: int | None = form_field("Iteration", least=1, placeholder="as it fits")


OPTIONS = tuple(inspect.signature(plan_runs).parameters)[3:]
SHOWN = tuple(name for name in Form.__dataclass_fields__ if name in OPTIONS)
"""The options of `plan_runs` that the form shows."""


def open_form(
    skill: Folder, evals: Folder | None, workspace: Folder | None, given: Mapping[str, Any]
) -> tuple[Form, FixedArgs]:
    """The form as it is first shown, and what it does not show.

    Raises:
        TypeError: for an option that `plan_runs` does not have.
    """
    for name in given:
        if name not in OPTIONS:
            hint = did_you_mean(name, OPTIONS)
            raise TypeError(f"run_panel takes what plan_runs takes; it has no `{name}`.{hint}")
    shown = {name: value for name, value in given.items() if name in SHOWN}
    rest = {name: value for name, value in given.items() if name not in SHOWN}
    executor = shown.get("executor", OFFLINE)
    shown["executor"] = name_of(executor)
    names = shown.get("configurations", SIDES)
    sides = dict(names) if isinstance(names, Mapping) else {WITH: skill, WITHOUT: None}
    shown["configurations"] = (names,) if isinstance(names, str) else tuple(names)
    if not isinstance(looks := shown.get("looks") or "", str):
        looks = ", ".join(map(str, looks))
    only = shown.get("evals_only")
    if only is not None:
        shown["evals_only"] = tuple(map(str, [only] if isinstance(only, str | int) else only))
    form = Form(**shown | {"looks": looks, "sides": sides})
    return form, FixedArgs(skill, evals, workspace, executor, rest)


def options(form: Form, fixed: FixedArgs) -> dict[str, Any]:
    """What `plan_runs` is called with, beside skill, evals and workspace.

    >>> form, fixed = open_form("a-skill", None, None, {"runs": 2, "prices": "mine.json"})
    >>> given = options(form, fixed)
    >>> given["runs"], given["prices"], given["configurations"]
    (2, 'mine.json', {'with_skill': 'a-skill', 'without_skill': None})
    """
    given = {name: getattr(form, name) for name in SHOWN} | dict(fixed.rest)
    if form.sides.keys() >= {*form.configurations}:
        given["configurations"] = {name: form.sides[name] for name in form.configurations}
    if form.executor == name_of(fixed.executor):
        return given | {"executor": fixed.executor}
    return {name: value for name, value in given.items() if name != "executor_options"}


def name_of(executor: str | Executor) -> str:
    """The name of an executor."""
    return executor if isinstance(executor, str) else executor.name


def with_design(form: Form, design: tuple[int, int, int], evals: tuple[str, ...]) -> Form:
    """The form with so many evals, runs and judgings; `evals` are the ids of all.

    Evals that are ticked come first, then the others in the order of the suite.

    >>> with_design(Form(evals_only=("b",)), (2, 3, 1), ("a", "b", "c")).evals_only
    ('a', 'b')
    """
    n_evals, runs, judgings = design
    ticked = form.evals_only or ()
    first = sorted(evals, key=lambda eval_: eval_ not in ticked)[:n_evals]
    only = tuple(eval_ for eval_ in evals if eval_ in first) if n_evals < len(evals) else None
    return replace(form, evals_only=only, runs=runs, looks="", judgings=judgings)


TERMS = (
    ("evals_only names no eval; leave it out for all of them", "no eval is chosen"),
    ("judgings=0", "Judgings per run is 0"),
    ("with allow_scripts=True", "if that is ticked in the form"),
    (
        "raise budget_usd, or lower what a run may cost with limits=Limits(usd=…)",
        "raise the budget, or in code lower what a run may cost with limits=",
    ),
    ('sandbox="none"', "Without a sandbox"),
)
"""What is said of arguments in Python, and how this form says it."""


def form_view(launch: Launch[PlanPreview], fixed: FixedArgs, prices: Prices | None) -> Node:
    """The form.

    Args:
        launch: what is chosen, and what was planned for it.
        fixed: what was given in code.
        prices: of the models that are offered.
    """
    form, plan = launch.form, launch.plan
    suite = plan.suite if plan is not None else None
    stated = suite.config if suite is not None else None
    usual = form.looks.rpartition(",")[2].strip() or (stated and stated.runs_per_eval) or 3
    known = models_with_prices(prices.models, prices) if prices else {}
    unsaid = {}
    if stated is not None and stated.judge_model:
        unsaid = {"judge_model": f"{stated.judge_model} (the suite's)"}
    if form.executor == OFFLINE:
        known, unsaid = {}, STAND_IN
    names = dict.fromkeys([OFFLINE, *executor_names(), name_of(fixed.executor), form.executor])
    wrong = any(fault.startswith("executor ") for fault in launch.faults) or None
    act = ("set_executor",)
    pair = [
        choose("Executor", list(names), form.executor, act, aria_invalid=wrong),
        ticks("Configurations", list(form.sides), form.configurations, ("tick_configuration",)),
    ]
    models = [
        launch.control(name, options=known, placeholder=unsaid.get(name)) for name in STAND_IN
    ]
    numbers = map(launch.control, ("judgings", "budget_usd", "concurrency"))
    return launch.form_card(
        "What to run",
        h("div", pair, cls="sen-row sen-pair"),
        h("div", models, cls="sen-row sen-pair"),
        _eval_ticks(form, suite) if suite is not None else None,
        h("div", launch.control("runs", placeholder=f"{usual}"), numbers, cls="sen-row"),
        _sandbox(launch, suite, plan.no_sandbox if plan is not None else None),
        details("More settings", _more(launch), key="more"),
    )


def _eval_ticks(form: Form, suite: Suite) -> Node:
    every = {eval_.id: brief(eval_.name, 60) for eval_ in suite.evals}
    chosen = list(every) if form.evals_only is None else form.evals_only
    ticked = len([id_ for id_ in chosen if id_ in every])
    boxes = ticks(f"Evals ({ticked:,} of {len(every):,})", every, chosen, ("tick_eval",))
    quick = [
        button("All evals", ("all_evals", True), kind="quiet"),
        button("No eval", ("all_evals", False), kind="quiet"),
    ]
    shown = boxes if len(every) <= 8 else frame(boxes, "evals", "sen-many")
    return h("div", shown, h("div", quick, cls="sen-quick"), cls="sen-evals")


def _sandbox(
    launch: Launch[PlanPreview], suite: Suite | None, missing: str | None
) -> Iterator[Node]:
    """Whether scripts may run, if an eval has one; what doing without a sandbox means."""
    evals = suite.evals if suite is not None else ()
    if any(check.type == "custom_script" for eval_ in evals for check in eval_.checks):
        yield h("div", launch.control("allow_scripts"), key="scripts")
    bare = launch.form.sandbox == "none"
    if missing is not None or bare:
        words = "Without a sandbox: an agent's commands can read and change anything I can"
        why = notice(missing) if missing and not bare else None
        yield h("div", why, tick(words, bare, ("set_bare",)), key="sandbox")


def _more(launch: Launch[PlanPreview]) -> list[Node]:
    """What is seldom changed."""
    side = [
        entry("Configuration", None, ("name_side", "name"), placeholder="old_skill"),
        entry("Folder of its skill", None, ("name_side", "folder"), placeholder="skills/x-old"),
        button("Add", ("add_side",)),
    ]
    flags = map(launch.control, ("judge_per_dimension", "judge_batch", "retry_errored"))
    numbers = map(launch.control, ("looks", "seed", "iteration"))
    return [
        h("div", flags, cls="sen-ticks"),
        h("div", numbers, cls="sen-row"),
        h("div", side, cls="sen-row"),
    ]


Scope = Literal["suite", "population"]

SCOPES: Mapping[str, str] = {"suite": "these evals", "population": "tasks like these"}

USUAL = ("pass_rate", "structural_pass_rate", "rubric_weighted_mean")
"""Columns of `runs` that are offered, if they have figures."""

Design = Mapping[str, Any]
"""A row of `stats.plan`: evals, runs and judgings, what they would find, what they cost."""


@dataclass(frozen=True)
class Question:
    """What is to be found, and on what."""

    metric: str = "pass_rate"
    effect: float | None = None
    scope: Scope = "suite"

    @property
    def is_rate(self) -> bool:
        """Whether differences are percentage points, and not points of a scale."""
        return UNITS.get(self.metric) == "rate"


@dataclass(frozen=True)
class Proposal:
    """A design to take.

    Attributes:
        question: the question that it answers, complete.
        metrics: what could be asked about.
        design: the design, or what was run if none is enough; None if nothing can be planned.
        notes: what it is based on, in sentences.
        most_evals: evals of the suite: a design with more of them needs new ones.
    """

    question: Question
    metrics: Sequence[str]
    design: Design | None
    notes: str
    most_evals: int


def best_design(ws: Workspace, home: Path, question: Question, most_evals: int) -> Proposal | None:
    """The next best design, from the newest iteration; None if nothing was measured.

    Args:
        ws: the workspace, as polars frames.
        home: its folder.
        question: what is to be found; what it leaves open is filled in.
        most_evals: evals of the suite.
    """
    iteration = next(iter(order_iterations(ws.polars("runs"))[::-1]), None)
    if iteration is None:
        return None
    mine = ws.select(iteration=iteration)
    runs, scores = mine.polars("runs"), mine.polars("rubric_scores").drop_nulls("score")
    metrics = [name for name in USUAL if runs[name].is_not_null().any()]
    metrics += [f"{RUBRIC}{name}" for name in sorted(scores["dimension"].unique().drop_nulls())]
    if not metrics:
        return None
    if question.metric not in metrics:
        question = replace(question, metric=metrics[0])
    if not question.effect:
        question = replace(question, effect=0.1 if question.is_rate else 0.5)
    found = plan(
        mine,
        metric=question.metric,
        effect=question.effect,
        scope=question.scope,
        price_per_judging=_judging_price(home / iteration),
        max_evals=max(most_evals, 1),
    )
    rows = found.to_dicts()
    if not rows:
        return None
    design = next((row for row in rows if row["n_evals"] is not None), None)
    notes = f"From {iteration}. {(design or rows[0])['note'] or ''}"
    return Proposal(question, metrics, design, notes, most_evals)


def _judging_price(folder: Path) -> float | None:
    """The mean US dollars of a judging of an iteration, by its journal; None if it has none."""
    events = read_journal(folder).events
    judged = {event["launch"] for event in events if event.get("step") == "judge"}
    ended = [event for event in events if event.get("event") == FINISHED]
    prices = [event.get("usd") for event in ended if event.get("launch") in judged]
    known = [usd for usd in prices if usd is not None]
    return sum(known) / len(known) if known else None


NOTHING = (
    "Nothing has been measured in this workspace yet, so nothing can be proposed. Two runs of "
    "each eval on each side are enough for a first look at the noise."
)


def proposal_view(found: Proposal | None, *, busy: bool, costs: bool) -> Node:
    """The proposal, or why there is none.

    Args:
        found: the proposal.
        busy: whether it is being looked for.
        costs: whether the form has a real model: what the stand-in cost is then no price.
    """
    content: Child = h("p", "Looking at what was measured…" if busy else NOTHING)
    if found is not None:
        content = list(_proposal_nodes(found, costs=costs))
    return h(
        "section",
        h("h4", "The next best design"),
        content,
        cls="sen-card sen-proposal",
        aria_label="the next best design",
        key="proposal",
    )


def _proposal_nodes(found: Proposal, *, costs: bool) -> Iterator[Node]:
    question, design, notes = found.question, found.design, found.notes
    if design is None:
        yield h("p", "Nothing can be planned from what is there.", cls="sen-says")
    else:
        price = _price(design, costs=costs)
        yield h("p", f"{_finding(design, question)}{price}.", cls="sen-says")
        lacks = design["n_evals"] - found.most_evals
        if design["chosen"] and lacks > 0:
            yield h("span", f"needs {count(lacks, 'more eval')}", cls="sen-soft sen-small")
        elif design["chosen"]:
            yield button("Put it into the form", ("take_design", *_size(design)))
            if not price:
                notes += " No price was measured there: the plan says it, once this is in the form."
    effect = Field(f"of, in {'pp' if question.is_rate else 'points'}", "number", 0)
    shown = (100 if question.is_rate else 1) * (question.effect or 0)
    names = {name: metric(name).name for name in found.metrics}
    yield h(
        "div",
        choose("To detect a difference in", names, question.metric, ("ask", "metric")),
        effect.view(shown, ("ask", "effect")),
        choose("on", SCOPES, question.scope, ("ask", "scope")),
        cls="sen-row",
    )
    yield soft(notes)


def _finding(design: Design, question: Question) -> str:
    """A design, and the smallest difference that it would detect."""
    finds = "nothing for sure"
    if design["mde"] is not None:
        finds = amount(metric(question.metric), design["mde"]).removeprefix("+")
    how = " would detect" if design["chosen"] else ", as it is now, can detect"
    return f"{size(design)}{how} {finds}"


def _size(design: Design) -> tuple[int, int, int]:
    return design["n_evals"], design["n_runs"], design["n_judgings"]


def size(design: Design) -> str:
    """A design in words.

    >>> size({"n_evals": 3, "n_runs": 2, "n_judgings": 1})
    '3 evals × 2 runs × 1 judging'
    """
    nouns = zip(_size(design), ("eval", "run", "judging"), strict=True)
    return " × ".join(count(number, noun) for number, noun in nouns)


def _price(design: Design, *, costs: bool) -> str:
    """What a design costs, as the end of a sentence."""
    usd = design["price_usd"]
    if usd is not None and round(usd, 6):
        return f"; ~{dollars(usd)}"
    return ", at no cost" if usd is not None and not costs else ""
