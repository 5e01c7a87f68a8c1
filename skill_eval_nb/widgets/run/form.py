"""The form: what is chosen, what `plan_runs` is called with for it, and how it is shown.

With it the next best design: what the runs that are there say would be enough, and its price.
"""

from __future__ import annotations

import difflib
import inspect
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from skill_eval_nb.charts.metrics import Metric, metric
from skill_eval_nb.models import Prices
from skill_eval_nb.models.stand_in.settings import EXECUTOR, JUDGE
from skill_eval_nb.running import Executor, plan_runs
from skill_eval_nb.running.journal import FINISHED, LAUNCHED, NAME, read
from skill_eval_nb.running.protocol import executor_names
from skill_eval_nb.stats import plan
from skill_eval_nb.stats.plan import AS_IT_WAS
from skill_eval_nb.stats.values import RUBRIC, UNITS, natural
from skill_eval_nb.text import brief, count, dollars, in_terms

from ..ui import Child, Node, h
from ..ui.form import BUDGET, Field, Fields, controls, faults_view, form_card, model, priced
from ..ui.parts import button, choose, details, entry, frame, notice, pill, soft, table, tick, ticks
from ..ui.track import amount

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.running.suite import Suite
    from skill_eval_nb.tables import Workspace


Folder = str | os.PathLike[str] | None

WITH, WITHOUT = "with_skill", "without_skill"
OFFLINE = "offline"
STAND_IN = {"executor_model": EXECUTOR, "judge_model": JUDGE}
"""The offline executor's own models, which need not be chosen."""


@dataclass(frozen=True)
class FixedArgs:
    """What was given in code and the form does not show.

    Attributes:
        skill: the skill's folder.
        evals: the evals file; None for that of the skill.
        workspace: the folder that runs go to; None for the one beside the skill.
        executor: the executor that was given, by its name or itself.
        rest: limits, connection, prices, options of that executor.
    """

    skill: Folder
    evals: Folder = None
    workspace: Folder = None
    executor: str | Executor = OFFLINE
    rest: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Form:
    """What somebody has chosen so far; a number that is None was left empty.

    Attributes:
        sides: the configurations that there are, each with the folder of its skill, or None.
        configurations: the names of those that are to run.
        evals_only: the ids of the evals that are to run; None for all, also of those to come.
        unlimited: whether money may be spent without a budget.

    The others are called as `plan_runs` calls them.
    """

    sides: Mapping[str, Folder] = field(default_factory=dict)
    configurations: tuple[str, ...] = (WITH, WITHOUT)
    evals_only: tuple[str, ...] | None = None
    executor: str = OFFLINE
    executor_model: str | None = None
    judge_model: str | None = None
    runs: int | None = None
    judgings: int | None = 1
    judge_per_dimension: bool = False
    judge_batch: bool = False
    budget_usd: float | None = None
    concurrency: int | None = 8
    seed: int | None = 0
    sandbox: str = "bubblewrap"
    allow_scripts: bool = False
    retry_errored: bool = False
    iteration: int | None = None
    unlimited: bool = False


_OWN = ("sides", "unlimited")
"""Fields that `plan_runs` does not know."""

FIELDS: Fields = {
    "runs": Field("Runs of an eval", least=1),
    "judgings": Field("Judgings of a run", least=0, needed=True),
    "budget_usd": BUDGET,
    "concurrency": Field("Steps at a time", least=1, needed=True),
    "judge_per_dimension": Field("Judge each dimension by a call of its own", "tick"),
    "judge_batch": Field("Judge by message batches: half the price, and later", "tick"),
    "retry_errored": Field("Do runs that errored again", "tick"),
    "seed": Field("Seed of the order", least=0, needed=True),
    "iteration": Field("Iteration", least=1, placeholder="as it fits"),
    "allow_scripts": Field(
        "Run the scripts that evals have (custom_script), in the sandbox", "tick"
    ),
}
NUMBERS = ("runs", "judgings", "budget_usd", "concurrency")
FLAGS = ("judge_per_dimension", "judge_batch", "retry_errored")

SHOWN = tuple(option.name for option in fields(Form) if option.name not in _OWN)
"""The options of `plan_runs` that the form shows."""


def opened(
    skill: Folder, evals: Folder, workspace: Folder, given: Mapping[str, Any]
) -> tuple[Form, FixedArgs]:
    """The form as it is first shown, and what stands fast.

    Raises:
        TypeError: for an option that `plan_runs` does not have.
    """
    known = [*inspect.signature(plan_runs).parameters][3:]
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f" Did you mean `{near[0]}`?" if near else ""
            raise TypeError(f"run_panel takes what plan_runs takes; it has no `{name}`.{hint}")
    shown = {name: value for name, value in given.items() if name in SHOWN}
    rest = {name: value for name, value in given.items() if name not in SHOWN}
    executor = shown.get("executor", OFFLINE)
    shown["executor"] = name_of(executor)
    sides: dict[str, Folder] = {WITH: skill, WITHOUT: None}
    configurations = shown.get("configurations", (WITH, WITHOUT))
    if isinstance(configurations, Mapping):
        sides = dict(configurations)
    names = [configurations] if isinstance(configurations, str) else configurations
    shown["configurations"] = tuple(names)
    only = shown.get("evals_only")
    if only is not None:
        shown["evals_only"] = tuple(map(str, [only] if isinstance(only, str | int) else only))
    return Form(sides=sides, **shown), FixedArgs(skill, evals, workspace, executor, rest)


def options(form: Form, fixed: FixedArgs) -> dict[str, Any]:
    """What `plan_runs` is called with, beside skill, evals and workspace.

    >>> form, fixed = opened("a-skill", None, None, {"runs": 2, "prices": "mine.json"})
    >>> given = options(form, fixed)
    >>> given["runs"], given["prices"], given["configurations"]
    (2, 'mine.json', ('with_skill', 'without_skill'))
    """
    given = {name: getattr(form, name) for name in SHOWN} | dict(fixed.rest)
    usual = {WITH: fixed.skill, WITHOUT: None}
    if any(form.sides.get(name, "") != usual.get(name, "") for name in form.configurations):
        given["configurations"] = {
            name: form.sides[name] for name in form.configurations if name in form.sides
        }
    if form.executor == name_of(fixed.executor):
        return given | {"executor": fixed.executor}
    return {name: value for name, value in given.items() if name != "executor_options"}


def name_of(executor: str | Executor) -> str:
    """The name of an executor."""
    return executor if isinstance(executor, str) else executor.name


def filled(form: Form) -> Form:
    """The form with the usual numbers where they were left empty.

    >>> filled(Form(judgings=None, concurrency=2)) == Form(concurrency=2)
    True
    """
    usual = Form()
    lacks = [name for name, field in FIELDS.items() if field.needed and getattr(form, name) is None]
    return replace(form, **{name: getattr(usual, name) for name in lacks})


def with_design(form: Form, design: tuple[int, int, int], evals: tuple[str, ...]) -> Form:
    """The form with so many evals, runs and judgings; `evals` are the ids of all there are.

    Evals that are ticked come first, then the others in the order of the suite.

    >>> with_design(Form(evals_only=("b",)), (2, 3, 1), ("a", "b", "c")).evals_only
    ('a', 'b')
    """
    n_evals, runs, judgings = design
    ticked = form.evals_only or ()
    first = sorted(evals, key=lambda eval_: eval_ not in ticked)[:n_evals]
    only = tuple(eval_ for eval_ in evals if eval_ in first) if n_evals < len(evals) else None
    return replace(form, evals_only=only, runs=runs, judgings=judgings)


def _sandbox(form: Form, suite: Suite | None, missing: str | None) -> Iterator[Node]:
    """Whether scripts may run, where some eval has one; what doing without a sandbox means."""
    evals = suite.evals if suite is not None else ()
    if any(check.type == "custom_script" for eval_ in evals for check in eval_.checks):
        yield h("div", controls(FIELDS, form, ["allow_scripts"]), key="scripts")
    if missing is None and form.sandbox == "bubblewrap":
        return
    yield h(
        "div",
        notice(missing) if missing and form.sandbox == "bubblewrap" else None,
        tick(
            "Without a sandbox: an agent's commands can read and change whatever I can",
            form.sandbox == "none",
            ("set_bare",),
        ),
        key="sandbox",
    )


def _more(form: Form) -> Iterator[Child]:
    """What is seldom changed."""
    yield h("div", controls(FIELDS, form, FLAGS), cls="sen-ticks")
    yield h("div", controls(FIELDS, form, ("seed", "iteration")), cls="sen-row")
    yield h(
        "div",
        entry("Configuration", None, ("name_side", "name"), placeholder="old_skill"),
        entry("Folder of its skill", None, ("name_side", "folder"), placeholder="skills/x-old"),
        button("Add", ("add_side",)),
        cls="sen-row",
    )
    yield button("Ask the API which models there are", ("ask_models",), kind="quiet")


LABELS = {"executor_model": "Executor's model", "judge_model": "Judge's model"}

TERMS = {
    **LABELS,
    "evals_only names no eval; leave it out for all of them": "no eval is chosen",
    "budget_usd": BUDGET.label,
    **{f"{name} is": f"{FIELDS[name].label} is" for name in ("runs", "judgings", "concurrency")},
    "judgings=0": "Judgings of a run is 0",
    "with allow_scripts=True": "where that is ticked below",
    "raise budget_usd, or lower what a run may cost with limits=Limits(usd=…)": (
        "raise the budget, or in code lower what a run may cost with limits="
    ),
    'sandbox="none"': "Without a sandbox",
}
"""What is said of arguments in Python, and how this form says it."""


def in_labels(fault: str) -> str:
    """What is said of an argument, by the label that the form has for it."""
    return in_terms(fault, TERMS)


LONGEST = 60
"""Characters of an eval's name that are shown."""

MANY = 8
"""Evals above which they have a box that scrolls."""


def form_view(
    form: Form,
    fixed: FixedArgs,
    suite: Suite | None,
    no_sandbox: str | None,
    faults: Sequence[str],
    *,
    prices: Prices | None,
    listed: Sequence[str],
    typed: frozenset[str],
) -> Node:
    """The form.

    Args:
        form: what is chosen.
        fixed: what was given in code.
        suite: the evals that there are; None where they cannot be read, or not yet.
        no_sandbox: why no sandbox works here; None where one does.
        faults: what stands in its way.
        prices: of the models that are offered.
        listed: further models that can be had.
        typed: fields of models that have room for any name.
    """
    wrong = {
        name for name in Form.__dataclass_fields__ if any(_is_of(name, fault) for fault in faults)
    }
    stated = suite.config.judge_model if suite is not None else None
    usual = (suite.config.runs_per_eval if suite is not None else None) or 3
    models = [
        _model(name, form, stated, prices, listed, name in typed, name in wrong) for name in LABELS
    ]
    numbers = controls(
        FIELDS, replace(form, runs=usual if form.runs is None else form.runs), NUMBERS, wrong
    )
    return form_card(
        "What to run",
        faults_view(faults, in_labels),
        h(
            "div",
            _executor(form, fixed, "executor" in wrong),
            ticks("Configurations", list(form.sides), form.configurations, ("tick_configuration",)),
            cls="sen-row sen-pair",
        ),
        h("div", models, cls="sen-row sen-pair"),
        _evals(form, suite),
        h("div", numbers, cls="sen-row"),
        _sandbox(form, suite, no_sandbox),
        details("More settings", list(_more(form)), key="more"),
    )


def _is_of(name: str, fault: str) -> bool:
    label = FIELDS[name].label if name in FIELDS else name
    return fault.startswith((f"{name} ", f"{name}:", f"{name[:-1]} `", f"{label} "))


def _executor(form: Form, fixed: FixedArgs, faulty: bool) -> Node:
    names = dict.fromkeys([OFFLINE, *executor_names(), name_of(fixed.executor), form.executor])
    act, wrong = ("set_executor",), faulty or None
    return choose("Executor", list(names), form.executor, act, aria_invalid=wrong)


def _model(
    name: str,
    form: Form,
    stated: str | None,
    prices: Prices | None,
    listed: Sequence[str],
    other: bool,
    faulty: bool,
) -> Node:
    if form.executor == OFFLINE:
        known: dict[str, str] = {}
        unsaid = STAND_IN[name]
    else:
        known = priced(dict.fromkeys([*(prices.models if prices else ()), *listed]), prices)
        suites = f"{stated} (the suite's)" if name == "judge_model" and stated else None
        unsaid = suites or "choose one"
    return model(
        LABELS[name],
        known,
        getattr(form, name),
        ("set_model", name),
        other=other,
        unsaid=unsaid,
        faulty=faulty,
    )


def _evals(form: Form, suite: Suite | None) -> Node | None:
    if suite is None:
        return None
    every = {eval_.id: brief(eval_.name, LONGEST) for eval_ in suite.evals}
    chosen = list(every) if form.evals_only is None else form.evals_only
    boxes = ticks(
        f"Evals ({len([id_ for id_ in chosen if id_ in every]):,} of {len(every):,})",
        every,
        chosen,
        ("tick_eval",),
    )
    quick = h(
        "div",
        button("All evals", ("all_evals", True), kind="quiet"),
        button("No eval", ("all_evals", False), kind="quiet"),
        cls="sen-quick",
    )
    if len(every) <= MANY:
        return h("div", boxes, quick, cls="sen-evals")
    return h("div", frame(boxes, "evals", "sen-many"), quick, cls="sen-evals")


Scope = Literal["suite", "population"]

SCOPES: Mapping[str, str] = {"suite": "these evals", "population": "tasks like these"}

USUAL = ("pass_rate", "structural_pass_rate", "rubric_weighted_mean")
"""Columns of `runs` that are offered, where they have figures."""

LEAST = {"rate": 0.1, "1-5": 0.5}
"""The difference that is looked for at first, by unit."""

NEAR = (-2, -1, 1, 2)
"""Which of the designs around are shown: so many evals, runs or judgings more or less."""


@dataclass(frozen=True)
class Question:
    """What is to be told, and on what."""

    metric: str | None = None
    effect: float | None = None
    scope: Scope = "suite"


@dataclass(frozen=True)
class Design:
    """Evals, runs of each on each side and judgings of each output, and what they would tell.

    Attributes:
        size: the three numbers.
        tells: the smallest difference that is found with 80 % power; None where nothing is.
        usd: about what all of it costs, in US dollars; None where no price is known.
        changed: what differs from the design that is proposed.
    """

    size: tuple[int, int, int]
    tells: float | None
    usd: float | None
    changed: str | None = None


@dataclass(frozen=True)
class Proposal:
    """A design to take, and those around it.

    Attributes:
        question: what it is to answer, complete.
        metrics: what could be asked about.
        design: the one to take, or the one that was run where none is enough; None where
            nothing can be planned.
        enough: whether it answers the question.
        others: those around it.
        iteration: what it was measured on.
        notes: what it rests on, in sentences.
    """

    question: Question
    metrics: tuple[str, ...]
    design: Design | None
    enough: bool
    others: tuple[Design, ...]
    iteration: str
    notes: str


def propose(ws: Workspace, home: Path, question: Question, most_evals: int) -> Proposal | None:
    """The next best design, from the newest iteration; None where nothing was measured.

    Args:
        ws: the workspace, as polars frames.
        home: its folder.
        question: what is to be told; what it leaves open is filled in.
        most_evals: evals that the suite has.
    """
    runs = ws.polars("runs")
    if runs.is_empty():
        return None
    iteration = max(runs["iteration"].unique(), key=natural)
    mine = ws.select(iteration=iteration)
    metrics = metrics_of(mine)
    if not metrics:
        return None
    metric = question.metric if question.metric in metrics else metrics[0]
    effect = question.effect or LEAST[unit(metric)]
    question = Question(metric, effect, question.scope)
    per_judging, seconds = judging_took(home, iteration)
    found = plan(
        mine,
        metric=metric,
        effect=effect,
        scope=question.scope,
        price_per_judging=per_judging,
        seconds_per_judging=seconds,
        max_evals=max(most_evals, 1),
    )
    rows = _first(found)
    if not rows:
        return None
    designs = [_design(row) for row in rows]
    whole = [design for design in designs if design is not None]
    return Proposal(
        question=question,
        metrics=metrics,
        design=whole[0] if whole else None,
        enough=bool(rows[0]["chosen"]),
        others=tuple(_near(whole)),
        iteration=iteration,
        notes=rows[0]["note"] or "",
    )


def metrics_of(ws: Workspace) -> tuple[str, ...]:
    """What can be asked about: figures of runs, and the rubric's dimensions."""
    runs = ws.polars("runs")
    figures = [name for name in USUAL if runs[name].is_not_null().any()]
    scores = ws.polars("rubric_scores")
    scored = scores.filter(scores["score"].is_not_null())["dimension"].unique().drop_nulls()
    return (*figures, *(f"{RUBRIC}{name}" for name in sorted(scored)))


def unit(metric: str) -> str:
    """The unit of a metric: "rate" or "1-5"."""
    return "rate" if UNITS.get(metric) == "rate" else "1-5"


def _first(found: pl.DataFrame) -> list[dict[str, Any]]:
    """The rows of the first comparison that has a design, else of the first."""
    keys = ["workspace", "skill", "iteration", "configuration", "baseline", "metric"]
    groups = [part.to_dicts() for part in found.partition_by(keys, maintain_order=True)]
    return next((rows for rows in groups if rows[0]["n_evals"]), groups[0] if groups else [])


def _design(row: Mapping[str, Any]) -> Design | None:
    if row["n_evals"] is None:
        return None
    size = (row["n_evals"], row["n_runs"], row["n_judgings"])
    usd = row["price_usd"]
    return Design(size, row["mde"], None if usd is None else round(usd, 6), row["changed"])


def _near(designs: list[Design]) -> list[Design]:
    """Of the designs around the first: that which was run, and the nearest of each kind."""
    if not designs:
        return []
    first, *others = designs
    wanted = {
        (*first.size[:at], first.size[at] + step, *first.size[at + 1 :])
        for at in range(3)
        for step in (*NEAR, first.size[at])
    }
    return [other for other in others if other.size in wanted or other.changed == AS_IT_WAS]


def judging_took(home: Path, iteration: str) -> tuple[float | None, float | None]:
    """US dollars and seconds that a judging came to, by the journal; None where it has none."""
    if not (home / iteration / NAME).is_file():
        return None, None
    record = read(home / iteration)
    judged = {
        event["launch"]
        for event in record.events
        if event.get("event") == LAUNCHED and event.get("step") == "judge"
    }
    usd = [
        event["usd"]
        for event in record.events
        if event.get("event") == FINISHED
        and event.get("launch") in judged
        and event.get("usd") is not None
    ]
    total, count = record.seconds.get("judge", (0.0, 0))
    return (sum(usd) / len(usd) if usd else None), (total / count if count else None)


def proposal_view(found: Proposal | None, *, busy: bool, most_evals: int, costs: bool) -> Node:
    """The proposal; None where nothing was measured.

    Args:
        found: what was found.
        busy: whether it is being looked for.
        most_evals: evals that the suite has: a design with more of them needs new ones.
        costs: whether the form has a real model: what the stand-in came to is then no price.
    """
    return h(
        "section",
        h("h4", "The next best design"),
        _content(found, most_evals, costs) if found is not None else h("p", _nothing(busy)),
        cls="sen-card sen-proposal",
        aria_label="the next best design",
        key="proposal",
    )


def _nothing(busy: bool) -> str:
    if busy:
        return "Looking at what was measured…"
    return (
        "Nothing has been measured in this workspace yet, so nothing can be proposed. Two runs of "
        "each eval on each side are enough for a first look at the noise."
    )


def _content(found: Proposal, most_evals: int, costs: bool) -> list[Node | None]:
    question, design = found.question, found.design
    metric_name = question.metric or ""
    rate = unit(metric_name) == "rate"
    names = {name: metric(name).name for name in found.metrics}
    effect = (100 if rate else 1) * (question.effect or 0)
    return [
        h("p", _sentence(found, costs), cls="sen-says"),
        _take(design, most_evals, "Put it into the form") if design and found.enough else None,
        h(
            "div",
            choose("To tell a difference in", names, metric_name, ("ask", "metric")),
            Field(f"of, in {'pp' if rate else 'points'}", "number", 0).view(
                effect, ("ask", "effect")
            ),
            choose("on", SCOPES, question.scope, ("ask", "scope")),
            cls="sen-row",
        ),
        soft(" ".join(_notes(found, costs))),
        details("A little more or less", _around(found, most_evals), key="around")
        if found.others
        else None,
    ]


def _notes(found: Proposal, costs: bool) -> Iterator[str]:
    """What it rests on."""
    yield f"From {found.iteration}."
    yield found.notes
    if found.enough and found.design is not None and not price(found.design, costs):
        yield "No price was measured there: the plan says it, once this is in the form."


def _sentence(found: Proposal, costs: bool) -> str:
    design, meant = found.design, metric(found.question.metric or "pass_rate")
    if design is None:
        return "Nothing can be planned from what is there."
    finds, cost = tells(design, meant), price(design, costs)
    if found.enough:
        return f"{size(design)} would tell {finds}{cost}."
    wanted = difference(found.question.effect or 0.0, meant)
    return (
        f"No design within reach tells {wanted}. {size(design)}, as it is now, tells {finds}{cost}."
    )


def size(design: Design) -> str:
    """A design in words.

    >>> size(Design((3, 2, 1), 0.1, 1.2))
    '3 evals × 2 runs × 1 judging'
    """
    nouns = zip(design.size, ("eval", "run", "judging"), strict=True)
    return " × ".join(count(number, noun) for number, noun in nouns)


def tells(design: Design, meant: Metric) -> str:
    """The smallest difference that a design finds."""
    return "nothing for sure" if design.tells is None else difference(design.tells, meant)


def difference(value: float, meant: Metric) -> str:
    """A difference in its unit, whichever its sign."""
    return amount(meant, value).removeprefix("+")


def price(design: Design, costs: bool) -> str:
    """What a design costs, as the end of a sentence.

    >>> price(Design((3, 2, 1), 0.1, 1.2), costs=True), price(Design((3, 2, 1), 0.1, 0.0), False)
    ('; ~$1.20', ', at no cost')
    """
    if design.usd:
        return f"; ~{dollars(design.usd)}"
    return ", at no cost" if design.usd is not None and not costs else ""


def _take(design: Design, most_evals: int, label: str, kind: str = "") -> Node:
    lacks = design.size[0] - most_evals
    if lacks > 0:
        return h("span", f"needs {count(lacks, 'more eval')}", cls="sen-soft sen-small")
    return button(label, ("take_design", *design.size), kind=kind, title=f"{label}: {size(design)}")


def _around(found: Proposal, most_evals: int) -> Node:
    meant = metric(found.question.metric or "pass_rate")
    rows = [
        (
            [
                " × ".join(map(str, other.size)),
                [" ", pill("as it was run")] if other.changed == AS_IT_WAS else None,
            ],
            tells(other, meant),
            dollars(other.usd) if other.usd is not None else "–",
            _take(other, most_evals, "Use", "quiet"),
        )
        for other in found.others
    ]
    return table(("evals × runs × judgings", "tells", "about", "take it"), rows, numbers=(1, 2))
