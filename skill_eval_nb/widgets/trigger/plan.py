"""What is chosen and what Start would do: the forms, the calls, drafting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_eval_nb.models.stand_in import EXECUTOR
from skill_eval_nb.running.protocol import executor_names, refuse
from skill_eval_nb.text import count
from skill_eval_nb.triggers import DraftedQueries, Measured, Query, draft_queries, measure, optimise

from ..ui import Child, Node, h
from ..ui.paid import Launch, PaidForm, Preview, at_most, faults_view, form_field
from ..ui.parts import button, choose, details

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


@dataclass(frozen=True)
class RunForm(PaidForm):
    """How queries are run; a number that is None was left empty.

    Attributes:
        executor: what runs a query.
        model: the model that runs it; None if none is chosen.
        runs: of each query.
        others: a key of OTHERS.
        own: the folders of further skills, one a line.
        concurrency: runs at a time.
        again: whether runs that errored are made again.
    """

    executor: str = OFFLINE
    model: str | None = form_field("Model", "model", default=EXECUTOR)
    runs: int | None = form_field("Runs of a query", default=3, least=1, needed=True)
    others: str = form_field("Other skills on offer", "choice", default="bundled", options=OTHERS)
    own: str = form_field(OWN, "lines", default="", placeholder="skills/tidy-tables")
    concurrency: int | None = form_field("Runs at a time", default=4, least=1, needed=True)
    again: bool = form_field("Make the runs that errored again", "tick")

    @property
    def beside(self) -> Any:
        """The further skills, as `measure` takes them.

        >>> RunForm(others="own", own="skills/a").beside
        ['skills/a']
        """
        if self.others != "own":
            return self.others
        return [line.strip() for line in self.own.splitlines() if line.strip()]


@dataclass(frozen=True)
class SearchForm(PaidForm):
    """How a description is looked for; a number that is None was left empty.

    Attributes:
        proposer_model: the model that proposes descriptions; None for the one that runs queries.
        rounds: descriptions that are tried at most.
        held_out: the share of the queries that no proposal rests on.
        competing: whether the proposer sees the descriptions of the further skills.
    """

    proposer_model: str | None = form_field("Who proposes", "model")
    rounds: int | None = form_field("Maximum rounds", default=5, least=1, needed=True)
    held_out: float | None = form_field(
        "Share held out", "number", default=0.4, least=0, needed=True
    )
    competing: bool = form_field(COMPETING, "tick", default=True)


@dataclass(frozen=True)
class DraftForm(PaidForm):
    """How queries are drafted; a number that is None was left empty.

    Attributes:
        model: the model that drafts; None for the one that runs queries.
        n: how many.
    """

    model: str | None = form_field("Who drafts", "model")
    n: int | None = form_field("How many", default=20, least=2, needed=True)


@dataclass(frozen=True, slots=True)
class Calls:
    """The functions that do what the forms say.

    Attributes:
        skill: the skill's folder.
        connection: how models are reached; None for the usual way.
        prices: what calls cost; None for the bundled table.
    """

    skill: Path
    connection: Connection | None
    prices: Prices | None

    def measure(self, form: RunForm, queries: Sequence[Query], **given: Any) -> Measured:
        """`measure`, as the form has it."""
        given |= {"budget_usd": form.budget_usd, "retry_errored": form.again}
        return measure(self.skill, queries, **self._measuring(form), **given)

    def search(
        self, form: SearchForm, runs: RunForm, queries: Sequence[Query], **given: Any
    ) -> Optimised:
        """`optimise`, as the forms have it."""
        own = ("proposer_model", "rounds", "held_out", "budget_usd")
        given |= {name: getattr(form, name) for name in own}
        given |= {"competing": runs.beside if form.competing else "none"}
        return optimise(self.skill, queries, **self._measuring(runs), **given)

    def draft(
        self, form: DraftForm, runs: RunForm, queries: Sequence[Query], **given: Any
    ) -> DraftedQueries:
        """`draft_queries`, as the forms have it."""
        model = form.model or runs.model
        if not model:
            raise refuse("Who drafts is not said")
        given |= {"n": form.n, "budget_usd": form.budget_usd, "others": runs.beside}
        given |= {"connection": self.connection, "prices": self.prices, "existing": queries}
        return draft_queries(self.skill, model=model, **given)

    def _measuring(self, form: RunForm) -> dict[str, Any]:
        own = {name: getattr(form, name) for name in ("executor", "model", "runs", "concurrency")}
        given = {"connection": self.connection, "prices": self.prices, "others": form.beside}
        return own | given


ALL_THERE = "All runs are there: more runs or other queries give it more to do."


def name_complete(found: Measured) -> str | None:
    """What to say if no run is missing."""
    return None if found.price.attempts else ALL_THERE


def stored_runs(preview: Preview | None) -> Measured | None:
    """The runs of the set that are stored already; None if there are none."""
    found: Measured | None = preview.found if preview is not None else None
    outcomes = {each.outcome for each in found.attempts} if found is not None else set()
    if found is None or not outcomes - {"not run"}:
        return None
    return replace(found, status="partial" if found.price.attempts else "done", message="")


def measuring_form(launch: Launch[Preview], models: Mapping[str, str]) -> Node:
    """How queries are run; `models` are those that are offered."""
    form = launch.form
    names = dict.fromkeys([OFFLINE, *executor_names(), form.executor])
    row = [
        choose("Executor", list(names), form.executor, ("set_executor",)),
        launch.control("model", options=models),
        map(launch.control, ("runs", "others", "concurrency", "budget_usd")),
    ]
    return launch.form_card(
        "How queries are run",
        h("div", row, cls="sen-row"),
        launch.control("own") if form.others == "own" else None,
    )


def search_form(launch: Launch[Preview], runs: RunForm, models: Mapping[str, str]) -> Node:
    """Description search; `runs` is how queries are run."""
    measured = (
        f"Each description is measured as the part Run says: {runs.executor}, "
        f"{runs.model or 'no model yet'}, {count(runs.runs or 0, 'run')} of a query, "
        f"beside {OTHERS[runs.others]}."
    )
    same = f"the same: {runs.model or 'none yet'}"
    row = [
        launch.control("proposer_model", options=models, placeholder=same),
        map(launch.control, ("rounds", "held_out", "budget_usd")),
    ]
    return launch.form_card(
        "Description search",
        h("p", measured, cls="sen-soft"),
        h("div", row, cls="sen-row"),
        launch.control("competing"),
    )


WHAT_IS_DRAFTED = (
    "From the skill's name and description and those of its neighbours: queries that "
    "should and should not pick it up, near misses above all. They come into the grid, "
    "and are saved where you save them."
)


def drafting_view(launch: Launch[Preview], runs: RunForm, models: Mapping[str, str]) -> Node:
    """The way to drafts: the price is worked out when somebody asks for it."""
    form, plan = launch.form, launch.current
    next_step: Child = button("What would it cost?", ("price_draft",), key="price-draft")
    if plan is not None and not plan.faults:
        usd = h("p", f"Price: {at_most(plan.found.price_usd)}.")
        next_step = [usd, launch.row(plan, f"Draft {count(form.n, 'query')}", look="")]
    same = f"the same: {runs.model}" if runs.model else None
    row = [
        launch.control("model", options=models, placeholder=same),
        map(launch.control, ("n", "budget_usd")),
    ]
    content = [
        faults_view(launch.faults),
        h("p", WHAT_IS_DRAFTED, cls="sen-soft"),
        h("div", row, cls="sen-row"),
        h("div", next_step),
    ]
    return details("Draft more by a model", h("div", content, cls="sen-form"), key="drafting")
