"""What is chosen and what Start would do: the form, the plan with its price, drafting."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2s
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_eval_nb.models import Prices
from skill_eval_nb.models.stand_in.settings import EXECUTOR
from skill_eval_nb.running.protocol import Refused, executor_names
from skill_eval_nb.text import count
from skill_eval_nb.triggers import draft_queries, measure, optimise
from skill_eval_nb.triggers.attempt import read_offer

from ..ui import Child, Node, h
from ..ui.form import BUDGET, Field, Fields, controls, empty, faults_view, form_card, model, priced
from ..ui.parts import button, choose, details, field, waiting
from ..ui.source import rows_of
from ..ui.task import at_most

if TYPE_CHECKING:
    from skill_eval_nb.models import Connection, Prices
    from skill_eval_nb.triggers import Attempt, Measured, Optimised, Query
    from skill_eval_nb.triggers.draft import DraftedQueries


OFFLINE = "offline"
OTHERS = {
    "bundled": "bundled ones",
    "none": "none: it is alone",
    "own": "those in these folders",
}
"""Which further skills are on offer."""


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
    model: str | None = EXECUTOR
    runs: int | None = 3
    others: str = "bundled"
    own: str = ""
    concurrency: int | None = 4
    budget_usd: float | None = None
    unlimited: bool = False
    again: bool = False
    proposer_model: str | None = None
    rounds: int | None = 5
    held_out: float | None = 0.4
    competing: bool = True
    search_budget_usd: float | None = None
    search_unlimited: bool = False
    draft_model: str | None = None
    draft_n: int | None = 20
    draft_budget_usd: float | None = None

    @property
    def beside(self) -> Any:
        """The further skills, as `measure` takes them.

        >>> Form(others="own", own="skills/a").beside
        ['skills/a']
        """
        if self.others != "own":
            return self.others
        return [line.strip() for line in self.own.splitlines() if line.strip()]


FIELDS: Fields = {
    "runs": Field("Runs of a query", least=1, needed=True),
    "others": Field("Skills beside it", "choice", options=OTHERS),
    "concurrency": Field("Runs at a time", least=1, needed=True),
    "budget_usd": BUDGET,
    "rounds": Field("Rounds at most", least=1, needed=True),
    "held_out": Field("Share held out", "number", 0, 1, needed=True),
    "search_budget_usd": BUDGET,
    "competing": Field("Show who proposes the descriptions of the skills beside it", "tick"),
    "draft_n": Field("How many", least=2, needed=True),
    "draft_budget_usd": BUDGET,
}


def part(form: Form, names: Sequence[str]) -> Form:
    """The form with these fields alone, the others as they are at first."""
    return Form(**{name: getattr(form, name) for name in names})


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

    @property
    def given(self) -> dict[str, Any]:
        """The same as keywords."""
        return {"connection": self.connection, "prices": self.prices}


def measure_set(deps: Deps, form: Form, queries: Sequence[Query], **given: Any) -> Measured:
    """`measure`, as the form has it."""
    return measure(
        deps.skill,
        queries,
        **_measuring(form),
        budget_usd=form.budget_usd,
        retry_errored=form.again,
        **deps.given,
        **given,
    )


def search(deps: Deps, form: Form, queries: Sequence[Query], **given: Any) -> Optimised:
    """`optimise`, as the form has it."""
    return optimise(
        deps.skill,
        queries,
        **_measuring(form),
        proposer_model=form.proposer_model,
        rounds=form.rounds or 0,
        held_out=form.held_out or 0.0,
        budget_usd=form.search_budget_usd,
        competing=neighbours(deps, form) if form.competing else (),
        **deps.given,
        **given,
    )


def neighbours(deps: Deps, form: Form) -> list[Path]:
    """The folders of the further skills on offer.

    Raises:
        Refused: one of them cannot be read.
    """
    return [other.folder for other in read_offer(deps.skill, form.beside, None).others]


def draft_more(deps: Deps, form: Form, queries: Sequence[Query], **given: Any) -> DraftedQueries:
    """`draft_queries`, as the form has it."""
    return draft_queries(
        deps.skill,
        model=form.draft_model or form.model or "",
        n=form.draft_n or 0,
        others=neighbours(deps, form),
        existing=queries,
        budget_usd=form.draft_budget_usd,
        **deps.given,
        **given,
    )


def _measuring(form: Form) -> dict[str, Any]:
    """How queries are run."""
    return {
        "executor": form.executor,
        "model": form.model,
        "runs": form.runs,
        "others": form.beside,
        "concurrency": form.concurrency,
    }


Figures = Mapping[str, Any]
QueryKey = tuple[str, bool]
"""The words of a query, and whether it should trigger."""


@dataclass(frozen=True, slots=True)
class Results:
    """A measurement, counted.

    Attributes:
        measured: the measurement.
        doubts: a row of `stats.trigger_doubts` each.
        scores: the row of `stats.trigger_scores`; None where there is none.
        rates: a row of `stats.trigger_rates` each, the most wrong first.
        attempts: the runs of each query.
    """

    measured: Measured
    doubts: Sequence[Figures]
    scores: Figures | None
    rates: Sequence[Figures]
    attempts: Mapping[QueryKey, Sequence[Attempt]]

    @property
    def errored(self) -> list[Attempt]:
        """The runs that tell nothing since they broke."""
        return [attempt for attempt in self.measured.attempts if attempt.outcome == "errored"]


def results_of(measured: Measured) -> Results:
    """Count a measurement."""
    attempts: dict[QueryKey, list[Attempt]] = {}
    for attempt in measured.attempts:
        attempts.setdefault((attempt.query.query, attempt.query.should_trigger), []).append(attempt)
    return Results(
        measured,
        list(rows_of(measured.doubts)),
        next(rows_of(measured.scores), None),
        # those without a rate last
        sorted(
            rows_of(measured.rates), key=lambda row: (row["right"] is None, row["right"] or 0.0)
        ),
        attempts,
    )


RUNNING = ("executor", "model", "runs", "others", "own", "concurrency", "budget_usd", "again")
"""Fields of the form on which a run of the set rests."""
SEARCHING = (
    *("executor", "model", "runs", "others", "own", "concurrency", "search_budget_usd"),
    *("proposer_model", "rounds", "held_out", "competing"),
)
"""Fields of the form on which a search rests."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """A run of the set, before it is begun.

    Attributes:
        faults: what stands in its way.
        measured: the same as a dry run; None where something stands in its way.
        results: what is there already; None where nothing is.
        token: a name for what is shown: another one where something else would be done.
    """

    faults: tuple[str, ...] = ()
    measured: Measured | None = None
    results: Results | None = None
    token: str = ""

    @property
    def costs(self) -> bool:
        """Whether it may cost money, as far as is known."""
        return bool(self.missing and self.measured and self.measured.price.worst_usd != 0)

    @property
    def missing(self) -> int:
        """Runs that are to be made."""
        return self.measured.price.attempts if self.measured is not None else 0

    @property
    def complete(self) -> str | None:
        """What to say where nothing is left to do."""
        done = "All runs are there: more runs or other queries give it more to do."
        return None if self.missing else done

    def covers(self, other: RunPlan) -> bool:
        """Whether the other does no more than this: others may have made runs meanwhile."""
        if self.measured is None or other.measured is None:
            return False
        return self.measured.folder == other.measured.folder and other.missing <= self.missing


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """A search for a better description, before it is begun; as `RunPlan`."""

    faults: tuple[str, ...] = ()
    optimised: Optimised | None = None
    token: str = ""
    complete: None = None

    @property
    def costs(self) -> bool:
        """Whether it may cost money, as far as is known."""
        return self.optimised is not None and self.optimised.estimate.worst != 0


def run_plan(
    deps: Deps, form: Form, queries: tuple[Query, ...], latest: Measured | None = None
) -> RunPlan:
    """Plan a run of the set; what is there already is read back.

    Args:
        deps: what it works with.
        form: how queries are run.
        queries: the set.
        latest: the measurement that was made last: it is shown where it is still what is there.
    """
    if faults := empty(FIELDS, form, ("runs", "concurrency")):
        return RunPlan(faults)
    try:
        found = measure_set(deps, form, queries, dry_run=True)
    except Refused as error:
        return RunPlan(error.faults)
    there = _ended(found)
    shown = replace(found, status="done", message="") if there == found.attempts else found
    if latest is not None and latest.folder == found.folder and _ended(latest) == there:
        shown = latest
    token = _token(part(form, RUNNING), queries, found.folder, found.price)
    return RunPlan((), found, results_of(shown) if there else None, token)


def search_plan(deps: Deps, form: Form, queries: tuple[Query, ...]) -> SearchPlan:
    """Plan a search."""
    if faults := empty(FIELDS, form, ("runs", "concurrency", "rounds", "held_out")):
        return SearchPlan(faults)
    try:
        found = search(deps, form, queries, dry_run=True)
    except Refused as error:
        return SearchPlan(error.faults)
    token = _token(part(form, SEARCHING), queries, found.folder, found.n_runs, found.estimate)
    return SearchPlan((), found, token)


def _ended(measured: Measured) -> tuple[Attempt, ...]:
    return tuple(attempt for attempt in measured.attempts if attempt.outcome != "not run")


def _token(*shown: Any) -> str:
    return blake2s(repr(shown).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def model_of(
    form: Form,
    name: str,
    label: str,
    prices: Prices | None,
    typed: Container[str],
    unsaid: str = "choose one",
) -> Node:
    """The choice.

    Args:
        form: what is chosen.
        name: the field of the form.
        label: what the model is for.
        prices: of the models that are offered.
        typed: fields that have room for any name.
        unsaid: what it means that none is chosen.
    """
    known = priced([EXECUTOR, *(prices.models if prices is not None else ())], prices)
    return model(
        label,
        known,
        getattr(form, name),
        ("set_model", name),
        other=name in typed,
        unsaid=unsaid,
    )


def measuring_form(
    form: Form, prices: Prices | None, typed: Container[str], faults: Sequence[str]
) -> Node:
    """How queries are run.

    Args:
        form: what is chosen.
        prices: of the models that are offered.
        typed: fields of models that have room for any name.
        faults: what stands in the way.
    """
    names = dict.fromkeys([OFFLINE, *executor_names(), form.executor])
    return form_card(
        "How queries are run",
        faults_view(faults),
        h(
            "div",
            choose("Executor", list(names), form.executor, ("set_executor",)),
            model_of(form, "model", "Model", prices, typed),
            controls(FIELDS, form, ("runs", "others", "concurrency", "budget_usd")),
            cls="sen-row",
        ),
        _own(form) if form.others == "own" else None,
    )


def search_form(
    form: Form, prices: Prices | None, typed: Container[str], faults: Sequence[str]
) -> Node:
    """How a description is looked for; see `measuring_form`."""
    runs = count(form.runs or 0, "run")
    measured = (
        f"Each description is measured as the part Run says: {form.executor}, "
        f"{form.model or 'no model yet'}, {runs} of a query, beside {OTHERS[form.others]}."
    )
    unsaid = f"the same: {form.model or 'none yet'}"
    return form_card(
        "How a description is looked for",
        faults_view(faults),
        h("p", measured, cls="sen-soft"),
        h(
            "div",
            model_of(form, "proposer_model", "Who proposes", prices, typed, unsaid),
            controls(FIELDS, form, ("rounds", "held_out", "search_budget_usd")),
            cls="sen-row",
        ),
        controls(FIELDS, form, ["competing"]),
    )


def _own(form: Form) -> Node:
    area = h(
        "textarea",
        value=form.own,
        rows=3,
        key="own",
        spellcheck="false",
        placeholder="skills/tidy-tables",
        on={"change": ("set", "own")},
    )
    return field("Their folders, or folders of such, one a line", area)


def between(low: float | None, high: float | None) -> str:
    """An interval; nothing where it is not known.

    >>> between(0.2, 0.94), between(None, None)
    ('20–94%', '')
    """
    return "" if low is None or high is None else f"{100 * low:.0f}–{high:.0%}"


def drafting_view(
    form: Form,
    draft: DraftedQueries | None,
    prices: Prices | None,
    typed: Container[str],
    *,
    busy: bool,
) -> Node:
    """The way to drafts.

    Args:
        form: what is chosen.
        draft: what asking with this form would cost; None where nobody wanted to know yet.
        prices: of the models that are offered.
        typed: fields of models that have room for any name.
        busy: whether a model is being asked, or a price worked out.
    """
    next_step: Child
    if busy:
        next_step = waiting("At it")
    elif draft is None:
        next_step = button("What would it cost?", ("price_draft",), key="price-draft")
    else:
        lacks = draft.price_usd != 0 and form.draft_budget_usd is None
        label = f"Draft {count(form.draft_n or 0, 'query')}"
        next_step = [
            button(label, None if lacks else ("draft",), key="draft"),
            h("span", f"{at_most(draft.price_usd)}{'; give a budget' * lacks}", cls="sen-soft"),
        ]
    content = [
        h(
            "p",
            "From the skill's name and description and those of its neighbours: queries that "
            "should and should not pick it up, near misses above all. They come into the grid, "
            "and are saved where you save them.",
            cls="sen-soft",
        ),
        h(
            "div",
            model_of(
                form,
                "draft_model",
                "Who drafts",
                prices,
                typed,
                f"the same: {form.model}" if form.model else "choose one",
            ),
            controls(FIELDS, form, ("draft_n", "draft_budget_usd")),
            cls="sen-row",
        ),
        h("div", next_step, cls="sen-row sen-middle"),
    ]
    form_of_it = h("div", content, cls="sen-form")
    return details("Draft more by a model", form_of_it, key="drafting")
