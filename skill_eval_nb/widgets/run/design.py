"""The next best design: what the runs that are there say would be enough, and its price."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from skill_eval_nb.charts.metrics import Metric, metric
from skill_eval_nb.running.journal import FINISHED, LAUNCHED, NAME, read
from skill_eval_nb.stats import plan
from skill_eval_nb.stats.plan import AS_IT_WAS
from skill_eval_nb.stats.values import RUBRIC, UNITS, natural
from skill_eval_nb.text import count, dollars

from ..ui import Node, h
from ..ui.form import Field
from ..ui.parts import button, choose, details, pill, soft, table
from ..ui.track import amount

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables import Workspace


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
