"""The form: what is chosen, what `plan_runs` is called with for it, and how it is shown."""

from __future__ import annotations

import difflib
import inspect
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from skill_eval_nb.models import Prices
from skill_eval_nb.models.stand_in.settings import EXECUTOR, JUDGE
from skill_eval_nb.running import Executor, plan_runs
from skill_eval_nb.running.protocol import executor_names
from skill_eval_nb.text import brief, in_terms

from ..ui import Child, Node, h
from ..ui.form import BUDGET, Field, Fields, controls, faults_view, form_card, model, priced
from ..ui.parts import button, choose, details, entry, frame, notice, tick, ticks

if TYPE_CHECKING:
    from skill_eval_nb.running.suite import Suite

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
