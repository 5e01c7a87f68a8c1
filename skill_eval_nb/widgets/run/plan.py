"""The form, the plan that is made from it, and iterations to be continued, as they are shown."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from skill_eval_nb.documents.sides import SIDES, WITH, WITHOUT
from skill_eval_nb.grading.sandbox import available
from skill_eval_nb.models import StandIn
from skill_eval_nb.models.stand_in import EXECUTOR, JUDGE
from skill_eval_nb.running import Executor, Limits, Plan, Refused, plan_runs
from skill_eval_nb.running.journal import ENDED, NAME, Record, read_journal
from skill_eval_nb.running.options import read_all
from skill_eval_nb.running.spec import iterations_of, reason_errored
from skill_eval_nb.running.suite import Suite
from skill_eval_nb.stats.values import OFFLINE
from skill_eval_nb.text import clip, did_you_mean, dollars, in_terms
from skill_eval_nb.view import blocks_of
from skill_eval_nb.workspace.jobs import PLANNED, STARTED, read_job, read_settings

from ..ui import Child, Node, h
from ..ui.paid import (
    Launch,
    PaidForm,
    Preview,
    form_field,
    in_labels,
    make_token,
)
from ..ui.parts import button, details, entry, frame, notice, ticks

Folder = str | os.PathLike[str]

STAND_IN = {"executor_model": EXECUTOR, "judge_model": JUDGE}
"""The offline executor's own models, which need not be chosen."""


@dataclass(frozen=True)
class FixedArgs:
    """What was given in code and the form does not show.

    Attributes:
        skill: the skill's folder.
        evals: the evals file; None for that of the skill.
        workspace: the folder for the runs; None for the one next to the skill.
        executor: the executor that was given, by its name or itself.
        rest: limits, connection, prices, options of that executor.
    """

    skill: Folder
    evals: Folder | None = None
    workspace: Folder | None = None
    executor: str | Executor = OFFLINE
    rest: Mapping[str, Any] = field(default_factory=dict)


BATCHES = "Judge with message batches: half the price, but slower"
BARE = "Without a sandbox: an agent's commands can read and change anything I can"
SCRIPTS = "Run the evals' own scripts (custom_script) in the sandbox"


@dataclass(frozen=True)
class Form(PaidForm):
    """What is chosen; None stands for what `plan_runs` finds by itself.

    Attributes:
        sides: all configurations, each with the folder of its skill, or None.
        configurations: the names of those to run.
        bare: whether commands may run without a sandbox.
        evals_only: the ids of the evals to run; None for all, also of those to come.

    The others are named as in `plan_runs`.
    """

    sides: Mapping[str, Folder | None] = field(default_factory=dict)
    configurations: tuple[str, ...] = SIDES
    evals_only: tuple[str, ...] | None = None
    executor: str = form_field("Executor", "executor", default=OFFLINE)
    executor_model: str | None = form_field("Executor's model", "model")
    judge_model: str | None = form_field("Judge's model", "model")
    runs: int | None = form_field("Runs per eval", least=1)
    looks: str = form_field("Planned looks", "text", default="", placeholder="2, 4, 6, 10")
    judgings: int | None = form_field("Judgings per run", default=1, least=0)
    judge_per_dimension: bool = form_field("Judge each dimension in a separate call", "tick")
    judge_batch: bool = form_field(BATCHES, "tick")
    concurrency: int | None = form_field("Concurrency", default=8, least=1)
    seed: int | None = form_field("Seed for the run order", default=0, least=0)
    bare: bool = form_field(BARE, "tick")
    allow_scripts: bool = form_field(SCRIPTS, "tick")
    retry_errored: bool = form_field("Retry runs that errored", "tick")
    iteration: int | None = form_field("Iteration", least=1, placeholder="auto")


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
    stated = {name: value for name, value in given.items() if value is not None}
    shown = {name: value for name, value in stated.items() if name in SHOWN}
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
    if bare := rest.get("sandbox") == "none":
        del rest["sandbox"]
    form = Form(**shown | {"looks": looks, "sides": sides, "bare": bare})
    return form, FixedArgs(skill, evals, workspace, executor, rest)


def plan_options(form: Form, fixed: FixedArgs) -> dict[str, Any]:
    """The arguments of `plan_runs` besides skill, evals and workspace.

    >>> form, fixed = open_form("a-skill", None, None, {"runs": 2, "prices": "mine.json"})
    >>> given = plan_options(form, fixed)
    >>> given["runs"], given["prices"], given["configurations"]
    (2, 'mine.json', {'with_skill': 'a-skill', 'without_skill': None})
    """
    given = {name: getattr(form, name) for name in SHOWN} | dict(fixed.rest)
    given |= {"sandbox": "none"} if form.bare else {}
    if form.sides.keys() >= {*form.configurations}:
        given["configurations"] = {name: form.sides[name] for name in form.configurations}
    if form.executor == name_of(fixed.executor):
        return given | {"executor": fixed.executor}
    return {name: value for name, value in given.items() if name != "executor_options"}


def name_of(executor: str | Executor) -> str:
    """The name of an executor."""
    return executor if isinstance(executor, str) else executor.name


TERMS = {
    "evals_only names no eval; leave it out for all of them": "no eval is chosen",
    'sandbox="none"': "Without a sandbox",
}
"""What is said of arguments in Python that have no field of their name in the form."""


@dataclass(frozen=True, kw_only=True)
class PlanPreview(Preview):
    """A plan before it is started, or what stands in its way.

    Attributes:
        suite: the evals that there are; None if they cannot be read.
        found: the plan; None if something stands in the way.
        todo: its runs that are not complete.
        errored: by the folder of a run that is stored as errored why it is.
        continues: the iteration that it continues; "" if it begins one.
    """

    suite: Suite | None
    found: Plan | None = None
    todo: int = 0
    errored: Mapping[str, str] = field(default_factory=dict)
    continues: str = ""


DONE = "Everything is done. To do more, add runs, judgings or evals."
DONE_AGAIN = " To retry runs that errored, see More settings."


def preview_plan(form: Form, fixed: FixedArgs) -> PlanPreview:
    """Plan; nothing is spent and nothing is written."""
    _, suite, _ = read_all(fixed.skill, fixed.evals, fixed.workspace, [])
    try:
        plan = plan_runs(fixed.skill, fixed.evals, fixed.workspace, **plan_options(form, fixed))
    except Refused as error:
        faults = (in_labels(in_terms(fault, TERMS), form) for fault in error.faults)
        return PlanPreview(suite=suite, faults=tuple(faults))
    todo = {run.cell.folder for run in plan.todo}
    ended = [cell.folder for cell in plan.cells if cell.folder not in todo]
    why = {folder: reason_errored(plan.workspace / folder) for folder in ended}
    why = {folder: reason for folder, reason in why.items() if reason is not None}
    warnings = tuple(in_labels(in_terms(each, TERMS), form) for each in plan.warnings)
    *shown, _ = blocks_of(replace(plan, warnings=warnings))  # the last one says plan.start()
    return PlanPreview(
        suite=suite,
        found=plan,
        shown=tuple(shown),
        todo=len(todo),
        errored=why,
        continues=plan.folder.name if (plan.folder / NAME).exists() else "",
        token=make_token(shown, plan.fingerprint),
        complete=None if todo else f"{DONE}{DONE_AGAIN if why else ''}",
        costs=plan.connection.stand_in is None,
    )


def form_view(launch: Launch[PlanPreview]) -> Iterator[Child]:
    """The controls of the form."""
    form, plan = launch.form, launch.plan
    suite = plan.suite if plan is not None else None
    stated = suite.config if suite is not None else None
    usual = form.looks.rpartition(",")[2].strip() or (stated and stated.runs_per_eval) or 3
    own = stated.judge_model if stated is not None else None
    unsaid: dict[str, dict[str, Any]] = {"executor_model": {}, "judge_model": {}}
    if own:
        unsaid["judge_model"] = {"placeholder": f"{own} (the suite's)"}
    if form.executor == OFFLINE:  # which has models of its own
        unsaid = {name: {"options": {}, "placeholder": own} for name, own in STAND_IN.items()}
    sides = ticks("Configurations", list(form.sides), form.configurations, ("tick_configuration",))
    numbers = map(launch.control, ("judgings", "budget_usd", "concurrency"))
    yield h("div", launch.control("executor"), sides, cls="sen-row sen-pair")
    models = [launch.control(name, **more) for name, more in unsaid.items()]
    yield h("div", models, cls="sen-row sen-pair")
    yield _eval_ticks(form, suite) if suite is not None else None
    yield h("div", launch.control("runs", placeholder=f"{usual}"), numbers, cls="sen-row")
    yield _script_controls(launch, plan) if plan is not None else None
    yield details("More settings", _more_settings(launch), key="more")


def _eval_ticks(form: Form, suite: Suite) -> Node:
    every = {eval_.id: clip(eval_.name, 60) for eval_ in suite.evals}
    chosen = list(every) if form.evals_only is None else form.evals_only
    ticked = len([id_ for id_ in chosen if id_ in every])
    boxes = ticks(f"Evals ({ticked:,} of {len(every):,})", every, chosen, ("tick_eval",))
    quick = [
        button("All evals", ("all_evals", True), kind="quiet"),
        button("No evals", ("all_evals", False), kind="quiet"),
    ]
    shown = boxes if len(every) <= 8 else frame(boxes, "evals", "sen-many")
    return h("div", shown, h("div", quick, cls="sen-quick"), cls="sen-evals")


def _script_controls(launch: Launch[PlanPreview], plan: PlanPreview) -> Iterator[Node]:
    """Whether scripts may run, if an eval has one; what doing without a sandbox means."""
    evals, missing = plan.suite.evals if plan.suite is not None else (), available()
    if any(check.type == "custom_script" for eval_ in evals for check in eval_.checks):
        yield h("div", launch.control("allow_scripts"), key="scripts")
    bare = launch.form.bare
    if missing is not None or bare:
        why = notice(in_terms(missing, TERMS)) if missing and not bare else None
        yield h("div", why, launch.control("bare"), key="sandbox")


def _more_settings(launch: Launch[PlanPreview]) -> list[Node]:
    """What is seldom changed."""
    example = "old_skill=skills/x-old"
    side = entry("Another configuration", None, ("add_side",), placeholder=example)
    flags = map(launch.control, ("judge_per_dimension", "judge_batch", "retry_errored"))
    numbers = map(launch.control, ("looks", "seed", "iteration"))
    return [
        h("div", flags, cls="sen-ticks"),
        h("div", numbers, cls="sen-row"),
        h("div", side, cls="sen-row"),
    ]


def first_evals_hint(preview: PlanPreview, form: Form, fixed: FixedArgs) -> Node | None:
    """How a skill without evals gets some; None if it has them, or others were named."""
    if preview.suite is not None or not any(" has no evals" in fault for fault in preview.faults):
        return None
    model, usd = form.judge_model or "…", form.budget_usd or 1
    asked = f'{str(fixed.skill)!r}, model="{model}", budget_usd={usd:g}'
    return h(
        "div",
        h("p", "This skill has no evals yet. A model can draft some; the first line is the price."),
        h("pre", f"sen.draft_evals({asked}, dry_run=True)\nsen.drafts(sen.draft_evals({asked}))"),
        h("p", "Without a model, sen.draft_evals gives a form to fill in.", cls="sen-soft"),
    )


MOST = 3
"""Iterations that are looked at, the newest first."""


@dataclass(frozen=True)
class Unfinished:
    """An iteration that was begun and lacks runs.

    Attributes:
        number: of the iteration.
        form, fixed: the settings of its last start; the form leaves the number open.
        preview: its plan with them; without a plan if something has changed since.
        spent_usd: US dollars, over all starts.
        why: how its last start ended.
        at_it: which process is at work on it, as far as the journal tells; None if none is.
    """

    number: int
    form: Form
    fixed: FixedArgs
    preview: PlanPreview
    spent_usd: float
    why: str
    at_it: str | None


def find_unfinished(home: Path, form: Form, fixed: FixedArgs) -> list[Unfinished]:
    """The iterations of a workspace that lack something, the newest first."""
    there = {n: at for n, at in iterations_of(home).items() if (at / NAME).is_file()}
    numbers = sorted(there, reverse=True)[:MOST]
    looked = (_read_unfinished(there[number], number, form, fixed) for number in numbers)
    return [rest for rest in looked if rest is not None]


def _read_unfinished(folder: Path, number: int, form: Form, fixed: FixedArgs) -> Unfinished | None:
    try:
        record = read_journal(folder)
    except ValueError:  # somebody else wrote there: planning says so
        return None
    call = read_call(record, form.sides)
    events = (event for event in record.events if event.get("event") in (STARTED, ENDED))
    why = [*events][-1].get("status", "interrupted") if call else "done"
    if why == "done":
        return None
    mine, args = _open_call(call, form, fixed)
    preview = preview_plan(replace(mine, iteration=number), args)
    if preview.found is not None and not preview.todo:
        return None
    at_it = read_job(folder).at_it
    return Unfinished(number, mine, args, preview, record.spent_usd, why, at_it)


def _open_call(call: Mapping[str, Any], form: Form, fixed: FixedArgs) -> tuple[Form, FixedArgs]:
    """The settings of a call in the journal, with what only code can give."""
    given = {**fixed.rest, **call}
    if not isinstance(fixed.executor, str) and fixed.executor.name == call["executor"]:
        given |= {"executor": fixed.executor, "executor_options": None}
    elif fixed.executor == call["executor"]:
        own = fixed.rest.get("executor_options") or {}
        given["executor_options"] = own | call["executor_options"]
    mine, args = open_form(fixed.skill, fixed.evals, fixed.workspace, given)
    return replace(mine, sides={**form.sides, **mine.sides}), args


def read_call(record: Record, sides: Mapping[str, Folder | None]) -> dict[str, Any]:
    """What `plan_runs` was called with at the last start; nothing if there was none.

    Without skill, evals and workspace, and as far as the journal has it as plain values.

    Args:
        record: the journal of the iteration.
        sides: by configuration the folder of its skill, if it may lie elsewhere by now.
    """
    last = {str(event.get("event")): event for event in record.events}
    if PLANNED not in last or "asked" not in last.get(STARTED, {}):
        return {}
    start, mark = last[STARTED], last[PLANNED]["fingerprint"]
    runs, grading, asked = mark["runs"], mark["grading"], start["asked"]
    judge, executor = grading["judge"] or {}, runs["executor"]
    models = {"executor_model": runs["executor_model"], "judge_model": judge.get("model")}
    if executor["name"] == OFFLINE:  # its own models need not be chosen
        models = {name: None if id_ == STAND_IN[name] else id_ for name, id_ in models.items()}
    same = ("judgings", "judge_batch", "concurrency", "retry_errored")
    return {
        **{name: asked[name] for name in same},
        **models,
        "configurations": {name: sides.get(name, at) for name, at in asked["skills"].items()},
        "evals_only": asked["evals"],
        "runs": None if asked.get("looks") else asked["runs"],
        "executor": executor["name"],
        "executor_options": {
            name: _stand_in(value) if isinstance(value, Mapping) else value
            for name, value in _without_kind(executor["options"]).items()
            if value is None
            or isinstance(value, str | int | float)
            or (isinstance(value, Mapping) and value.get("is") == StandIn.__name__)
        },
        "judge_per_dimension": bool(judge.get("per_dimension")),
        "budget_usd": start["ceiling_usd"],
        "seed": runs["seed"],
        "limits": Limits(**_without_kind(runs["limits"])),
        "sandbox": runs["sandbox"],
        "allow_scripts": bool(grading["allow_scripts"]),
    }


def _stand_in(stated: Mapping[str, Any]) -> StandIn:
    """The stand-in of a journal, without settings that only an older version had."""
    known = StandIn.__dataclass_fields__
    return StandIn(**{name: value for name, value in stated.items() if name in known})


def _without_kind(stated: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in stated.items() if name != "is"}


def settings_of(folder: Path, skill: Path, runs: int) -> dict[str, Any]:
    """The arguments of `run_panel` with which each eval of an iteration gets `runs` runs a side.

    They are the settings of its last start, so that what is finished is not done again. An
    iteration that another tool has run has none, and all runs are made anew.

    Raises:
        ValueError: its journal was changed by something else.
    """
    call = read_call(read_journal(folder), {WITH: skill, WITHOUT: None})
    if not call:
        return {"skill": skill, "runs": runs}
    suite = read_settings(folder).asked["suite"]
    return {"skill": skill, "evals": suite, "workspace": folder.parent, **call, "runs": runs}


def unfinished_view(found: Sequence[Unfinished], planned: Plan | None) -> Node | None:
    """A line an iteration that lacks something; None if none does.

    Args:
        found: what lacks something.
        planned: what is planned already: its own button, the large one, goes on with it.
    """
    lines = [_unfinished_line(rest, planned) for rest in found]
    return h("div", lines, cls="sen-unfinished", key="unfinished") if lines else None


def _unfinished_line(rest: Unfinished, planned: Plan | None) -> Node:
    name, plan = f"iteration-{rest.number}", rest.preview.found
    if plan is None:
        lacks = [h("li", fault) for fault in rest.preview.faults]
        words = h("p", h("b", f"{name} is incomplete"), ", and cannot be continued yet:")
        return h("div", words, h("ul", lacks), cls="sen-notice", key=name)
    ceiling = rest.form.budget_usd
    of = f" of {dollars(ceiling)}" if ceiling is not None else ""
    spent = f", {dollars(rest.spent_usd)}{of} spent" if rest.spent_usd or ceiling else ""
    runs = len(plan.cells)
    there = f"{name}: {runs - rest.preview.todo:,} of {runs:,} runs are there"
    why = f"It last ended as “{rest.why}”. Finished runs are not paid for again."
    if rest.at_it is not None:
        why = f"A job is working on it, in {rest.at_it}. What it finishes is not done again."
    way = button(f"Plan the rest of {name}", ("go_on", rest.number))
    if planned and (planned.iteration, planned.asked) == (rest.number, plan.asked):
        way = button("Start a new iteration", ("begin_anew",), kind="quiet")
    words = h("p", h("b", there), f"{spent}. ", why)
    return h("div", words, way, cls="sen-notice sen-go-on", key=name)
