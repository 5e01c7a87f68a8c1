"""What is chosen and what Start would do: the form, the plan with its price, drafting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2s
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_eval_nb.models.stand_in import EXECUTOR
from skill_eval_nb.running.protocol import Refused, executor_names, refuse
from skill_eval_nb.text import count
from skill_eval_nb.triggers import DraftedQueries, Measured, Query, draft_queries, measure, optimise

from ..ui import Child, Node, h
from ..ui.paid import (
    Models,
    Preview,
    at_most,
    budget_setting,
    controls,
    empty,
    faults_view,
    form_card,
    form_field,
    unlimited_setting,
)
from ..ui.parts import button, choose, details, waiting_note

if TYPE_CHECKING:
    from skill_eval_nb.models import Connection, Prices
    from skill_eval_nb.triggers import Optimised


OFFLINE = "offline"
OTHERS = {
    "bundled": "bundled ones",
    "none": "none: it is alone",
    "own": "those in these folders",
}
"""Which further skills are on offer."""
OWN = "Their folders, or folders of such, one a line"
COMPETING = "Show the proposer the other skills' descriptions"


@dataclass(frozen=True, slots=True)
class Form:
    """What is chosen; a number that is None was left empty.

    Attributes:
        executor: what runs a query.
        model: who runs it; None where nobody said.
        runs: of each query.
        others: a key of OTHERS.
        own: the folders of further skills, one a line.
        concurrency: runs at a time.
        budget_usd: the most that a run of the set may cost, in US dollars.
        unlimited: whether it may cost whatever it costs.
        again: whether runs that errored are made again.
        proposer_model: who proposes descriptions; None for the model that runs the queries.
        rounds: descriptions that are tried at most.
        held_out: the share of the queries that no proposal rests on.
        competing: whether who proposes is told the descriptions of the further skills.
        search_budget_usd: the most that a search may cost, in US dollars.
        search_unlimited: whether it may cost whatever it costs.
        draft_model: who drafts queries; None for the model that runs them.
        draft_n: how many are drafted.
        draft_budget_usd: the most that drafting may cost, in US dollars.
    """

    executor: str = OFFLINE
    model: str | None = form_field("Model", "model", default=EXECUTOR)
    runs: int | None = form_field("Runs of a query", default=3, least=1, needed=True)
    others: str = form_field("Other skills on offer", "choice", default="bundled", options=OTHERS)
    own: str = form_field(OWN, "lines", default="", placeholder="skills/tidy-tables")
    concurrency: int | None = form_field("Runs at a time", default=4, least=1, needed=True)
    budget_usd: float | None = budget_setting()
    unlimited: bool = unlimited_setting()
    again: bool = form_field("Make the runs that errored again", "tick")
    proposer_model: str | None = form_field("Who proposes", "model")
    rounds: int | None = form_field("Maximum rounds", default=5, least=1, needed=True)
    held_out: float | None = form_field(
        "Share held out", "number", default=0.4, least=0, most=1, needed=True
    )
    competing: bool = form_field(COMPETING, "tick", default=True)
    search_budget_usd: float | None = budget_setting()
    search_unlimited: bool = unlimited_setting()
    draft_model: str | None = form_field("Who drafts", "model")
    draft_n: int | None = form_field("How many", default=20, least=2, needed=True)
    draft_budget_usd: float | None = budget_setting()

    @property
    def beside(self) -> Any:
        """The further skills, as `measure` takes them.

        >>> Form(others="own", own="skills/a").beside
        ['skills/a']
        """
        if self.others != "own":
            return self.others
        return [line.strip() for line in self.own.splitlines() if line.strip()]


MEASURING = ("executor", "model", "runs", "concurrency")
"""Fields of the form that `measure` and `optimise` take as they are."""
RUNNING = (*MEASURING, "others", "own", "budget_usd", "again")
"""Fields of the form on which a run of the set rests."""
SEARCHING = (
    *(*MEASURING, "others", "own", "search_budget_usd"),
    *("proposer_model", "rounds", "held_out", "competing"),
)
"""Fields of the form on which a search rests."""
DRAFTING = ("draft_model", "model", "draft_n", "others", "own")
"""Fields of the form on which drafting rests, but for the budget."""


@dataclass(frozen=True, slots=True)
class Deps:
    """What a panel works with.

    Attributes:
        skill: the skill's folder.
        connection: how models are reached; None for the usual way.
        prices: what calls cost; None for the bundled table.
    """

    skill: Path
    connection: Connection | None
    prices: Prices | None

    def measure(self, form: Form, queries: Sequence[Query], **given: Any) -> Measured:
        """`measure`, as the form has it."""
        given |= {"budget_usd": form.budget_usd, "retry_errored": form.again}
        return measure(self.skill, queries, **self._given(form, *MEASURING), **given)

    def search(self, form: Form, queries: Sequence[Query], **given: Any) -> Optimised:
        """`optimise`, as the form has it."""
        given |= self._given(form, *MEASURING, "proposer_model", "rounds", "held_out")
        given |= {"competing": form.beside if form.competing else "none"}
        return optimise(self.skill, queries, budget_usd=form.search_budget_usd, **given)

    def draft(self, form: Form, queries: Sequence[Query], **given: Any) -> DraftedQueries:
        """`draft_queries`, as the form has it."""
        given |= {"n": form.draft_n or 0, "budget_usd": form.draft_budget_usd, "existing": queries}
        model = form.draft_model or form.model
        if not model:
            raise refuse("Who drafts is not said")
        return draft_queries(self.skill, model=model, **self._given(form), **given)

    def _given(self, form: Form, *names: str) -> dict[str, Any]:
        """What all three take, and fields of the form."""
        own = {name: getattr(form, name) for name in names}
        own |= {"connection": self.connection, "prices": self.prices}
        return own | {"others": form.beside}


Inputs = tuple[Form, tuple[Query, ...]]
"""What a plan rests on."""


@dataclass(frozen=True, kw_only=True)
class TriggerPreview(Preview):
    """Something that may cost, before it is begun.

    Attributes:
        found: what a dry run of it gives; None where something stands in its way.
    """

    found: Any = None

    @cached_property
    def measured(self) -> Measured | None:
        """Of a run of the set, what is there already; None where nothing is."""
        found = self.found
        outcomes = {each.outcome for each in found.attempts} if isinstance(found, Measured) else ()
        if not outcomes or outcomes == {"not run"}:
            return None
        return replace(found, status="partial" if found.price.attempts else "done", message="")


ALL_THERE = "All runs are there: more runs or other queries give it more to do."


def plan_work(call: Callable[..., Any], inputs: Inputs) -> TriggerPreview:
    """What a method of `Deps` would do; a number that is needed may have been left empty."""
    if faults := empty(inputs[0]):
        return TriggerPreview(faults)
    try:
        found = call(*inputs, dry_run=True)
    except Refused as error:
        return TriggerPreview(error.faults)
    shown = repr((inputs, found, getattr(found, "folder", None)))
    complete = isinstance(found, Measured) and not found.price.attempts
    worst = found.price_usd if isinstance(found, DraftedQueries) else found.worst_usd
    return TriggerPreview(
        found=found,
        costs=worst != 0,
        token=blake2s(shown.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest(),
        complete=ALL_THERE if complete else None,
    )


def measuring_form(form: Form, models: Models, faults: Sequence[str]) -> Node:
    """How queries are run.

    Args:
        form: what is chosen.
        models: those that are offered.
        faults: what stands in the way.
    """
    names = dict.fromkeys([OFFLINE, *executor_names(), form.executor])
    shown = ("model", "runs", "others", "concurrency", "budget_usd")
    row = [
        choose("Executor", list(names), form.executor, ("set_executor",)),
        controls(form, shown, models=models),
    ]
    return form_card(
        "How queries are run",
        faults,
        h("div", row, cls="sen-row"),
        controls(form, ["own"]) if form.others == "own" else None,
    )


def search_form(form: Form, models: Models, faults: Sequence[str]) -> Node:
    """Description search; see `measuring_form`."""
    measured = (
        f"Each description is measured as the part Run says: {form.executor}, "
        f"{form.model or 'no model yet'}, {count(form.runs or 0, 'run')} of a query, "
        f"beside {OTHERS[form.others]}."
    )
    models = replace(models, unsaid={"proposer_model": f"the same: {form.model or 'none yet'}"})
    shown = ("proposer_model", "rounds", "held_out", "search_budget_usd")
    return form_card(
        "Description search",
        faults,
        h("p", measured, cls="sen-soft"),
        h("div", controls(form, shown, models=models), cls="sen-row"),
        controls(form, ["competing"]),
    )


def between(low: float | None, high: float | None) -> str:
    """An interval; nothing where it is not known.

    >>> between(0.2, 0.94), between(None, None)
    ('20–94%', '')
    """
    return "" if low is None or high is None else f"{100 * low:.0f}–{high:.0%}"


WHAT_IS_DRAFTED = (
    "From the skill's name and description and those of its neighbours: queries that "
    "should and should not pick it up, near misses above all. They come into the grid, "
    "and are saved where you save them."
)


def drafting_view(
    form: Form,
    plan: TriggerPreview | None,
    models: Models,
    *,
    busy: bool,
) -> Node:
    """The way to drafts.

    Args:
        form: what is chosen.
        plan: what asking with this form would cost; None where nobody wanted to know yet.
        models: those that are offered.
        busy: whether a model is being asked, or a price worked out.
    """
    next_step: Child = button("What would it cost?", ("price_draft",), key="price-draft")
    if busy:
        next_step = waiting_note("At it")
    elif plan is not None and not plan.faults:
        lacks, usd = plan.costs and form.draft_budget_usd is None, at_most(plan.found.price_usd)
        label = f"Draft {count(form.draft_n or 0, 'query')}"
        next_step = [
            button(label, None if lacks else ("press", plan.token), key="draft"),
            h("span", f"{usd}{'; give a budget' * lacks}", cls="sen-soft"),
        ]
    if form.model:
        models = replace(models, unsaid={"draft_model": f"the same: {form.model}"})
    shown = ("draft_model", "draft_n", "draft_budget_usd")
    content = [
        faults_view(plan.faults) if plan is not None else None,
        h("p", WHAT_IS_DRAFTED, cls="sen-soft"),
        h("div", controls(form, shown, models=models), cls="sen-row"),
        h("div", next_step, cls="sen-row sen-middle"),
    ]
    return details("Draft more by a model", h("div", content, cls="sen-form"), key="drafting")
