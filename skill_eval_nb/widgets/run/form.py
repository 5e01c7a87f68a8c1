"""The form: what is chosen, what `plan_runs` is called with for it, and how it is shown."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from skill_eval_nb.documents.sides import SIDES, WITH, WITHOUT
from skill_eval_nb.models import Prices
from skill_eval_nb.models.stand_in import EXECUTOR, JUDGE
from skill_eval_nb.running import Executor, plan_runs
from skill_eval_nb.running.protocol import executor_names
from skill_eval_nb.text import brief, did_you_mean

from ..ui import Node, h
from ..ui.paid import Launch, PaidForm, form_field, models_with_prices
from ..ui.parts import button, choose, details, entry, frame, notice, tick, ticks

if TYPE_CHECKING:
    from skill_eval_nb.running.suite import Suite

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
