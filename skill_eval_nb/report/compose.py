"""The whole of a report: one benchmark, or several under one heading."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from skill_eval_nb import charts
from skill_eval_nb.stats.summary import HEADLINE
from skill_eval_nb.stats.values import Model, model_name
from skill_eval_nb.text import count

from .content import Cell, Figure, Paragraph, Part, Picture, Section, Table, Verdict, line, section
from .left_out import STATED, audit, audit_parts, lacking, noted, problem_parts
from .measured import (
    MISSING,
    NO_ITERATION,
    Measured,
    Slice,
    difference,
    figure,
    measure,
    slices,
    with_n,
)
from .spread import checks, judge, variance
from .verdicts import certainty, cost, evals, full_name, heading_of, opening, rubric, verdicts

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace

SECTIONS: dict[str, Callable[[Measured], Iterator[Part]]] = {
    "What stands out": noted,
    "How sure is that?": certainty,
    "Evals": evals,
    "Rubric dimensions": rubric,
    "Where the variance comes from": variance,
    "Can the judge be trusted?": judge,
    "Checks": checks,
    "What was left out, and why": lacking,
    STATED: audit,
    "What it cost": cost,
}
"""What follows the opening table, in order. A section with nothing in it is not shown."""


@dataclass(frozen=True, slots=True)
class Reported:
    """An iteration: its figures, and what is said of them."""

    measured: Measured
    section: Section


def reported(ws: Workspace, progress: Callable[[str], object] | None = None) -> list[Reported]:
    """Every iteration of a workspace, in natural order; `progress` is told which comes next."""
    places = slices(ws)
    every = []
    for number, place in enumerate(places, 1):
        if progress is not None:
            progress(f"working out the figures: {number:,} of {count(len(places), 'benchmark')}")
        measured = measure(ws, place)
        every.append(Reported(measured, _section_of(measured)))
    return every


def whole(ws: Workspace, every: Sequence[Reported]) -> Section:
    """The report of some iterations of a workspace."""
    if not every:
        return section(
            "Nothing to report",
            [Paragraph("No run, no benchmark.json and no eval was found."), *problem_parts(ws)],
        )
    audits = tuple(_audits(ws, every))
    if len(every) == 1:
        return replace(every[0].section, sections=(*every[0].section.sections, *audits))
    skills = {report.measured.place.skill for report in every}
    of = line(skills.pop()) if len(skills) == 1 else count(len(skills), "skill")
    parts = (replace(report.section, heading=full_name(report.measured)) for report in every)
    return section(f"Benchmarks of {of}", _overview(ws, every), (*parts, *audits))


def _audits(ws: Workspace, every: Sequence[Reported]) -> Iterator[Section]:
    """What is stated of iterations that are reported model by model: it is of all models."""
    places = (iteration.measured.place for iteration in every)
    for place in dict.fromkeys(place.whole for place in places if place.model):
        parts = tuple(audit_parts(place.of(ws)))
        if parts:
            names = dict.fromkeys((place.workspace, place.skill, place.iteration))
            of = ", ".join(line(name) for name in names if name not in ("", NO_ITERATION))
            yield Section(f"{STATED}: {of}, all models", parts)


def _section_of(measured: Measured) -> Section:
    """What stands first, then the sections that have something to say."""
    sections = (section(heading, parts(measured)) for heading, parts in SECTIONS.items())
    return section(
        heading_of(measured), opening(measured), (part for part in sections if part.parts)
    )


def _overview(ws: Workspace, every: Sequence[Reported]) -> Iterator[Part]:
    """What each skill does, and the iterations side by side."""
    rows = [(_labels(report.measured.place), report.measured) for report in every]
    columns = ["Workspace", "Skill", "Iteration"]
    if any(report.measured.place.model for report in every):  # a further column has to find room
        told_apart = [name for name in columns if len({labels[name] for labels, _ in rows}) > 1]
        columns = [*told_apart, "Model"]
    yield from _verdicts(every)
    yield Picture(
        "The pass rate and the rubric of each configuration, iteration by iteration.",
        partial(charts.iterations, ws),
    )
    yield Table(
        "Pass rate: means over runs (n = runs); delta paired by eval (n = evals)",
        (*columns, "Compared", "Baseline", "Delta", "These evals"),
        tuple((*(labels[name] for name in columns), *_line(measured)) for labels, measured in rows),
        labels=len(columns),
    )


def _verdicts(every: Sequence[Reported]) -> Iterator[Part]:
    """For each skill the verdict of its last iteration that compares anything, a model each."""
    last: dict[tuple[str, str, Model], tuple[Measured, Verdict]] = {}
    for report in every:
        place = report.measured.place
        parts = [part for part in verdicts(report.measured) if isinstance(part, Verdict)]
        compares = any(
            row["n_evals"] for row in report.measured.deltas.values() if "n_evals" in row
        )
        key = place.workspace, place.skill, place.model
        if parts and (compares or key not in last):
            last[key] = report.measured, parts[0]
    for measured, verdict in last.values():
        yield replace(verdict, claim=f"{full_name(measured)}: {verdict.claim}")


def _labels(place: Slice) -> dict[str, str]:
    """What a part is called, column by column."""
    names = place.workspace, place.skill, place.iteration, model_name(dict(place.model))
    return dict(zip(("Workspace", "Skill", "Iteration", "Model"), map(line, names), strict=True))


def _line(measured: Measured) -> tuple[Cell, ...]:
    """An iteration: the compared configuration, its baseline, the delta."""
    compared = next(iter(measured.compared or measured.configurations), None)
    baseline = measured.baseline if measured.baseline != compared else None
    return (
        _side(measured, compared),
        _side(measured, baseline),
        with_n(
            difference(measured.delta(compared or "", HEADLINE), HEADLINE),
            measured.delta(compared or "", HEADLINE, "n_evals"),
        ),
        measured.delta(compared or "", HEADLINE, "verdict") or MISSING,
    )


def _side(measured: Measured, name: str | None) -> Figure:
    if name is None:
        return Figure(MISSING)
    shown = figure(measured.figure(name, HEADLINE), HEADLINE)
    return Figure(f"{line(name)} {shown}", measured.figure(name, HEADLINE, "n"))
