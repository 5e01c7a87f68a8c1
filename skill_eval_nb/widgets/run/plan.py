"""Plans and what was begun and is not whole: made from a form, priced, and shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from skill_eval_nb.grading.sandbox import available
from skill_eval_nb.models import StandIn
from skill_eval_nb.running import Limits, Plan, Refused, plan_runs
from skill_eval_nb.running.journal import ENDED, NAME, read_journal
from skill_eval_nb.running.options import read_all
from skill_eval_nb.running.plan import name_blocks
from skill_eval_nb.running.spec import reason_errored
from skill_eval_nb.running.suite import Suite
from skill_eval_nb.text import dollars
from skill_eval_nb.view import Block
from skill_eval_nb.workspace.jobs import PLANNED, STARTED, read_job

from ..ui import Child, Node, h
from ..ui.paid import Preview, empty
from ..ui.parts import blocks_view, button
from .form import (
    OFFLINE,
    STAND_IN,
    FixedArgs,
    Form,
    fill_usual,
    in_labels,
    name_of,
    open_form,
    options,
)


@dataclass(frozen=True, kw_only=True)
class PlanPreview(Preview):
    """A plan before it is started, or what stands in its way.

    Attributes:
        form: what it was planned from.
        suite: the evals that there are; None where they cannot be read.
        plan: the plan; None where something stands in the way.
        shown: what is shown of it, by name; empty without a plan.
        todo: runs of it that are not complete.
        errored: by the folder of a run of it that is stored as errored why it is.
        continues: the iteration that it goes on with; "" where it begins one.
        no_sandbox: why no sandbox works here; None where one does.
    """

    form: Form
    suite: Suite | None
    plan: Plan | None = None
    shown: Mapping[str, Block] = field(default_factory=dict)
    todo: int = 0
    errored: Mapping[str, str] = field(default_factory=dict)
    continues: str = ""
    no_sandbox: str | None = None


DONE = "Everything is done: more runs, more judgings or other evals give it more to do."
DONE_AGAIN = " Runs that errored can be done again: see More settings."


def home_of(fixed: FixedArgs) -> Path:
    """The workspace's folder, which need not be there."""
    assert fixed.skill is not None
    _, _, home = read_all(fixed.skill, fixed.evals, fixed.workspace, [])
    assert home is not None
    return home


def make(form: Form, fixed: FixedArgs) -> PlanPreview:
    """Plan; nothing is spent and nothing is written."""
    assert fixed.skill is not None
    _, suite, _ = read_all(fixed.skill, fixed.evals, fixed.workspace, [])
    missing = available()
    faults = empty(form)
    preview = PlanPreview(form=form, suite=suite, faults=faults, no_sandbox=missing)
    try:  # with what is lacking filled in, so that every fault is told at once
        given = options(fill_usual(form), fixed)
        plan = plan_runs(fixed.skill, fixed.evals, fixed.workspace, **given)
    except Refused as error:
        return replace(preview, faults=faults + error.faults)
    if faults:
        return preview
    todo = {run.cell.folder for run in plan.todo}
    ended = [cell.folder for cell in plan.cells if cell.folder not in todo]
    why = {folder: reason_errored(plan.workspace / folder) for folder in ended}
    why = {folder: reason for folder, reason in why.items() if reason is not None}
    shown = dict(name_blocks(plan, plan.estimate, map(in_labels, plan.warnings)))
    return replace(
        preview,
        plan=plan,
        shown=shown,
        todo=len(todo),
        errored=why,
        continues=plan.folder.name if (plan.folder / NAME).exists() else "",
        token=f"{hash(repr(shown)):x}-{plan.fingerprint.digest[:12]}",
        complete=None if todo else f"{DONE}{DONE_AGAIN if why else ''}",
        costs=plan.connection.stand_in is None,
    )


def first_evals_hint(preview: PlanPreview, fixed: FixedArgs) -> Node | None:
    """How a skill without evals gets some; None where it has them, or others were named."""
    if preview.suite is not None or not any(" has no evals" in fault for fault in preview.faults):
        return None
    model, usd = preview.form.judge_model or "…", preview.form.budget_usd or 1
    asked = f'{str(fixed.skill)!r}, model="{model}", budget_usd={usd:g}'
    return h(
        "div",
        h("p", "This skill has no evals yet. A model drafts some: the first line says its price."),
        h("pre", f"sen.draft_evals({asked}, dry_run=True)\nsen.drafts(sen.draft_evals({asked}))"),
        h("p", "Without a model, sen.draft_evals gives a form to fill in.", cls="sen-soft"),
    )


def plan_view(shown: Mapping[str, Block], start: Child) -> Node:
    """The plan; `start` is what begins it, and stands where its price does."""
    first = [shown[name] for name in ("title", "counts", "size", "warnings", "estimate")]
    rest = [shown[name] for name in ("settings", "assumptions", "order")]
    return h("div", blocks_view(first), start, blocks_view(rest))


MOST = 3
"""So many iterations are looked at, the newest first."""


@dataclass(frozen=True)
class Unfinished:
    """An iteration that was begun.

    Attributes:
        number: of the iteration.
        preview: its plan, from the settings that it was started with; without a plan where
            something has changed that stands in the way.
        fixed: what its plan was made with beside the form.
        cells: runs that it is to have.
        spent_usd: US dollars, over all starts.
        why: how its last start ended.
        at_it: which process is at it now, as far as the journal tells; None where none is.
        is_last: whether no later iteration was begun.
        is_left: whether the settings that the cell gives would leave it, and begin another.
    """

    number: int
    preview: PlanPreview
    fixed: FixedArgs
    cells: int
    spent_usd: float
    why: str
    at_it: str | None
    is_last: bool = False
    is_left: bool = False


def find_unfinished(home: Path, form: Form, fixed: FixedArgs) -> list[Unfinished]:
    """The iterations of a workspace that lack something, the newest first."""
    assert fixed.skill is not None
    _, suite, _ = read_all(fixed.skill, fixed.evals, fixed.workspace, [])
    n_evals = len(suite.evals) if suite is not None else 0
    numbers = _begun_iterations(home)
    found = [rest for number in numbers if (rest := _look(home, number, form, fixed, n_evals))]
    if found and numbers[0] == found[0].number:
        own = make(form, fixed).plan
        is_left = own is None or own.iteration != found[0].number
        found[0] = replace(found[0], is_last=True, is_left=is_left)
    return found


def _begun_iterations(home: Path) -> list[int]:
    """The newest iterations that have a journal."""
    names = [path.parent.name.partition("iteration-") for path in home.glob(f"iteration-*/{NAME}")]
    numbers = [int(number) for _, _, number in names if number.isdecimal()]
    return sorted(numbers, reverse=True)[:MOST]


def _look(home: Path, number: int, form: Form, fixed: FixedArgs, n_evals: int) -> Unfinished | None:
    try:
        record = read_journal(home / f"iteration-{number}")
    except ValueError:  # somebody else wrote there: planning says so
        return None
    last = {str(event.get("event")): at for at, event in enumerate(record.events)}
    if STARTED not in last:
        return None
    start = record.events[last[STARTED]]
    end = record.events[last[ENDED]] if last.get(ENDED, -1) > last[STARTED] else None
    if end is not None and end.get("status") == "done":
        return None
    mark = record.events[last[PLANNED]]["fingerprint"]
    preview, used = _remake_plan(number, mark, form_of(mark, start, form, n_evals), fixed)
    if preview.plan is not None and not preview.todo:
        return None
    cells = len(preview.plan.cells) if preview.plan is not None else int(start.get("cells", 0))
    why = "interrupted" if end is None else str(end.get("status"))
    at_it = read_job(home / f"iteration-{number}").at_it
    return Unfinished(number, preview, used, cells, record.spent_usd, why, at_it)


def _remake_plan(
    number: int, mark: Mapping[str, Any], form: Form, fixed: FixedArgs
) -> tuple[PlanPreview, FixedArgs]:
    """The plan of an iteration from what its journal says; its form leaves the number open.

    What was given in code counts first, since a cell that runs again gives the same again;
    else what the journal has of it.
    """
    recorded = replace(fixed, rest={**fixed.rest, **_rest_of(mark, fixed)})
    for args in (fixed, recorded):
        preview = replace(make(replace(form, iteration=number), args), form=form)
        if preview.plan is not None:
            break
    return preview, args


def form_of(
    mark: Mapping[str, Any], start: Mapping[str, Any], form: Form, n_evals: int = 0
) -> Form:
    """The form as it was at a start, from the journal alone.

    Args:
        mark: the fingerprint's runs and grading.
        start: the line that says that the job was started.
        form: where what the journal does not say is taken from.
        n_evals: evals that the suite has: how many runs there were follows from it, where
            an older journal does not say.
    """
    runs, grading = mark["runs"], mark["grading"]
    args = start.get("asked") or {}
    skills = args.get("skills") or {name: form.sides.get(name) for name in runs["skills"]}
    judge = grading.get("judge") or {}
    executor = runs["executor"]["name"]
    models = {"executor_model": runs["executor_model"], "judge_model": judge.get("model")}
    if executor == OFFLINE:  # its own models are those that need not be chosen
        models = {name: None if id_ == STAND_IN[name] else id_ for name, id_ in models.items()}
    cells, sides = start.get("cells") or 0, len(runs["skills"])
    each = cells // (n_evals * sides) if n_evals and sides else 0
    only = args.get("evals")
    own = ("judgings", "judge_batch", "concurrency", "retry_errored")
    return replace(
        form,
        **{name: args.get(name, getattr(form, name)) for name in own},
        **models,
        sides={**skills, **form.sides},
        configurations=tuple(runs["skills"]),
        evals_only=None if only is None or len(only) == n_evals else tuple(map(str, only)),
        executor=executor,
        runs=None if args.get("looks") else args.get("runs") or each or form.runs,
        judge_per_dimension=bool(judge.get("per_dimension")),
        budget_usd=start.get("ceiling_usd"),
        seed=runs["seed"],
        sandbox=runs["sandbox"],
        allow_scripts=bool(grading.get("allow_scripts")),
        iteration=None,
    )


def settings_of(folder: Path, skill: Path, runs: int) -> dict[str, Any]:
    """What `run_panel` is given so that each eval of an iteration has so many runs a side.

    With the settings of its last start, so that what is finished is not done again; of an
    iteration that another tool has run there are none, and all runs are made anew.

    Raises:
        ValueError: its journal was changed by something else.
    """
    record = read_journal(folder)
    last = {str(event.get("event")): event for event in record.events}
    if not {PLANNED, STARTED} <= last.keys():
        return {"skill": skill, "runs": runs}
    start, mark = last[STARTED], last[PLANNED]["fingerprint"]
    executor = mark["runs"]["executor"]["name"]
    form, fixed = open_form(skill, start["asked"]["suite"], folder.parent, {"executor": executor})
    fixed = replace(fixed, rest=_rest_of(mark, fixed))
    given = options(replace(form_of(mark, start, form), runs=runs), fixed)
    return {"skill": skill, "evals": fixed.evals, "workspace": fixed.workspace, **given}


def _rest_of(mark: Mapping[str, Any], fixed: FixedArgs) -> dict[str, Any]:
    """Limits and the executor's options, as far as the journal has them as plain values."""
    runs = mark["runs"]
    rest: dict[str, Any] = {"limits": Limits(**_fields(runs["limits"]))}
    executor = runs["executor"]
    if name_of(fixed.executor) != executor["name"] or isinstance(fixed.executor, str):
        rest["executor_options"] = {
            name: StandIn(**_fields(value)) if isinstance(value, Mapping) else value
            for name, value in _fields(executor["options"]).items()
            if value is None
            or isinstance(value, str | int | float)
            or (isinstance(value, Mapping) and value.get("is") == StandIn.__name__)
        }
    return rest


def _fields(stated: Any) -> dict[str, Any]:
    named = stated if isinstance(stated, Mapping) else {}
    return {name: value for name, value in named.items() if name != "is"}


WHY = {
    "interrupted": "it was interrupted",
    "stopped": "it was stopped",
    "partial": "the budget was reached",
    "failed": "it failed",
}


def unfinished_view(found: Sequence[Unfinished], planned: PlanPreview | None) -> Node | None:
    """A line an iteration that lacks something; None where none does.

    Args:
        found: what lacks something.
        planned: what is planned already: its own button, the large one, goes on with it.
    """
    lines = [_line(rest, planned.plan if planned is not None else None) for rest in found]
    return h("div", lines, cls="sen-unfinished", key="unfinished") if lines else None


def _line(rest: Unfinished, planned: Plan | None) -> Node:
    name, plan = f"iteration-{rest.number}", rest.preview.plan
    if plan is None:
        lacks = [h("li", in_labels(fault)) for fault in rest.preview.faults]
        words = h("p", h("b", f"{name} is not whole"), ", and cannot be continued as things are:")
        return h("div", words, h("ul", lacks), cls="sen-notice", key=name)
    ceiling = rest.preview.form.budget_usd
    of = f" of {dollars(ceiling)}" if ceiling is not None else ""
    spent = f", {dollars(rest.spent_usd)}{of} spent" if rest.spent_usd or ceiling else ""
    there = f"{name}: {max(rest.cells - rest.preview.todo, 0):,} of {rest.cells:,} runs are there"
    why = f"The last time {WHY.get(rest.why, rest.why)}; what is finished is not paid for twice."
    if rest.at_it is not None:
        why = f"A job is at it, in {rest.at_it}: what it has done will not be done twice."
    way = button(f"Plan the rest of {name}", ("go_on", rest.number))
    if planned and (planned.iteration, planned.asked) == (rest.number, plan.asked):
        anew = button("Begin a new iteration", ("begin_anew", rest.number), kind="quiet")
        way = anew if rest.is_last else None
    words = h("p", h("b", there), f"{spent}. ", why)
    return h("div", words, way, cls="sen-notice sen-go-on", key=name)
