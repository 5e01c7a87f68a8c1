"""Notable, what no figure rests on, and what a benchmark.json states otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import isclose
from typing import TYPE_CHECKING

from skill_eval_nb import stats
from skill_eval_nb.stats.second_opinion import OPINIONS, OTHER_WAY, UNTOLD
from skill_eval_nb.stats.values import MODEL, model_name
from skill_eval_nb.text import count, p_value, some

from .measured import (
    MISSING,
    Bullets,
    IterationFigures,
    Paragraph,
    Part,
    Row,
    cut_table,
    difference,
    in_unit,
    interval,
    line,
    metric_name,
    print_difference,
)
from .verdicts import answers

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace


SEVERITIES = *NAMED, _ = ("error", "warning", "info")
"""The severities of problems, worst first; the first two are named one by one."""
MESSAGE = 300

MOST = 20
"""Problems that are named one by one."""


def list_left_out(measured: IterationFigures) -> Iterator[Part]:
    """What was left out of an iteration."""
    if sentences := lacking_sentences(measured):
        yield Bullets(tuple(sentences))
    yield from problem_parts(measured.ws)


def problem_parts(ws: Workspace) -> Iterator[Part]:
    """How many problems there are of each severity, and which are errors or warnings."""
    problems = ws.polars("problems").select("severity", "path", "where", "message").rows()
    counts = Counter(severity for severity, *_ in problems)
    if not counts:
        return
    found = [
        f"{counts[name]:,} info" if name == "info" else count(counts[name], name)
        for name in SEVERITIES
        if counts[name]
    ]
    yield Paragraph(f"Problems in the files: {some(found)}.")
    rows = (
        (severity, line(f"{path} {where or ''}"), line(message, MESSAGE))
        for name in NAMED
        for severity, path, where, message in problems
        if severity == name
    )
    title, heads = "Errors first, then warnings", ("Severity", "File", "Problem")
    yield from cut_table(title, heads, rows, 3, MOST, ": the table `problems` has them all")


def lacking_sentences(measured: IterationFigures) -> list[str]:
    """What a reader of the figures must know: pairs, runs and verdicts that are missing."""
    return [
        *_say_no_runs(measured),
        *_say_without_figures(measured),
        *_say_uneven_runs(measured),
        *_say_not_scored(measured),
        *_list_alike(measured),
    ]


def _say_no_runs(measured: IterationFigures) -> Iterator[str]:
    if measured.stated and measured.metrics:
        yield (
            "No run was found behind these figures: they are what benchmark.json states, "
            "and could not be checked."
        )
    elif measured.stated and measured.ws.polars("stated").height:
        yield "No run was found, and benchmark.json states no mean that could be read."
    elif measured.stated:
        yield "No run was found: these evals have not been run yet."


def _say_without_figures(measured: IterationFigures) -> Iterator[str]:
    """Evals and runs that are in no difference of pass rates, or not in all figures."""
    yield from _note_texts(measured, lost=True)
    if not (measured.compared or measured.stated):
        reasons = stats.deltas_by_eval(measured.ws)["unpaired"].drop_nulls()
        for reason in reasons.unique(maintain_order=True):
            yield f"There is nothing to compare: {line(reason)}."


def _say_uneven_runs(measured: IterationFigures) -> Iterator[str]:
    """Evals with different numbers of runs, and the differences that this changes."""
    runs = measured.ws.polars("runs")
    cells = runs.group_by("eval_id", "eval_name", "configuration").len()["len"]
    if cells.n_unique() > 1:
        yield f"Evals have {cells.min()} to {cells.max()} runs per configuration."
    turned = [  # beyond what rounding inside the machine may add
        f"{metric_name(metric).lower()} {difference(delta, metric)} "
        f"against {difference(gap, metric)}"
        for name in measured.compared[:1]
        for metric in measured.metrics
        if (gap := measured.gap(name, metric)) is not None
        and (delta := measured.delta(name, metric)) is not None
        and not isclose(gap, delta, rel_tol=1e-9, abs_tol=1e-12)
        and print_difference(gap, metric) != print_difference(delta, metric)
    ]
    if turned and not measured.stated:
        yield (
            "Some evals have more runs on one side, so paired differences are not "
            f"those of the two means: {some(turned, most=4)}."
        )


def _say_not_scored(measured: IterationFigures) -> Iterator[str]:
    verdicts = Counter(measured.ws.polars("expectations")["passed"].to_list())
    if verdicts[None]:
        yield (
            f"{verdicts[None]:,} of {count(verdicts.total(), 'verdict')} not scored: "
            "neither passed nor failed, and in no pass rate."
        )


def _list_alike(measured: IterationFigures) -> Iterator[str]:
    """Metrics that are in no table of means and deltas, as no run differs from another."""
    if alike := measured.constant_costs:
        known = [f"{metric_name(name).lower()} {in_unit(it, name)}" for name, it in alike.items()]
        yield f"The same in every run, and so left out of the tables: {some(known, 6)}."


ELSEWHERE = ("left out", "unpaired")
"""Kinds of notes whose story a section of its own tells."""


def _note_texts(measured: IterationFigures, *, lost: bool) -> list[str]:
    """The notes on an iteration, those that matter most first: of what is `lost`, or the others."""
    notes = (row for row in measured.notes if (row["kind"] in ELSEWHERE) == lost)
    return [line(row["text"], 2000) for row in notes]


def list_noted(measured: IterationFigures) -> Iterator[Part]:
    """What to look at first."""
    if sentences := _note_texts(measured, lost=False):
        yield Bullets(tuple(sentences))


FIRST = ("mean", "value")
"""The statistics that are shown first."""
MOST_STATED = 30
"""Disagreements that are shown."""


STATED = "What benchmark.json states"


def list_audit(measured: IterationFigures) -> Iterator[Part]:
    """The audit of an iteration that has runs to hold it against."""
    return iter(()) if measured.stated else audit_parts(measured.ws)


def audit_parts(ws: Workspace) -> Iterator[Part]:
    """The audit of the figures that a workspace states."""
    rows = stats.audit(ws).to_dicts()
    if not rows:
        return
    wrong = sorted(
        (row for row in rows if not row["agrees"]), key=lambda row: row["statistic"] not in FIRST
    )
    files = some(sorted({line(row["path"]) for row in rows}), 6)
    every = f"{count(len(rows), 'figure')} of {files}"
    if not wrong:
        yield Paragraph(f"Stated figures agree with the runs ({every}).")
        return
    yield Paragraph(f"Not in agreement with the runs: {len(wrong):,} of {every}.")
    heads = ("Configuration", "Figure", "Likely cause", "Stated", "Runs give")
    title, more = "Stated figures and the runs'", ": stats.audit has them all"
    yield from cut_table(title, heads, map(_stated_row, wrong), 3, MOST_STATED, more)


def _stated_row(row: Row) -> tuple[str, ...]:
    return (
        line(row["configuration"]),
        f"{metric_name(row['metric'])}, {row['statistic']}",
        line(row["cause"]),
        line(row["printed"]),
        _print_as_stated(row["recomputed"], row["printed"]),
    )


def _print_as_stated(value: float | None, printed: str) -> str:
    """What the runs give, in percent where the file has percent."""
    if value is None:
        return MISSING
    return f"{value * 100:.1f}%" if "%" in printed else f"{value:.4f}".rstrip("0").rstrip(".")


OPINION = "Second opinion"


def opinion_parts(ws: Workspace) -> Iterator[Part]:
    """The second opinion on the claims that a workspace states."""
    rows = stats.second_opinion(ws).to_dicts()
    claims = [row for row in rows if row["claimed"] is not None]
    if not claims:
        return
    counts = Counter(row["opinion"] for row in claims)
    found = " ".join(f"{name.capitalize()}: {counts[name]:,}." for name in OPINIONS if counts[name])
    yield Paragraph(
        f"{count(len(claims), 'stated difference')}. {found} A difference survives if its runs "
        "differ in the same direction; the size may not be the stated one."
    )
    several = len({(row["configuration"], model_name(row)) for row in claims}) > 1
    named = [(_name_claim(row, several=several), row) for row in claims]
    heads = ("Difference", "Opinion", "Stated", "Runs give", "Interval", "p")
    rows = ((name, row["opinion"], *_show_figures(row)) for name, row in named)
    title, more = "Stated differences and the runs'", ": stats.second_opinion has them all"
    yield from cut_table(title, heads, rows, 2, MOST_STATED, more)
    reasons: dict[str, list[str]] = {}
    for name, row in named[:MOST_STATED]:
        if row["opinion"] == OTHER_WAY or (row["opinion"] == UNTOLD and row["verdict"] is None):
            reasons.setdefault(" ".join(filter(None, (row["why"], row["settle"]))), []).append(name)
    if reasons:
        yield Bullets(tuple(line(f"{some(of, 6)}: {why}", 2000) for why, of in reasons.items()))


def _name_claim(row: Row, *, several: bool) -> str:
    """What a claim is called, with whom it is about if that differs."""
    about = [row[side] for side in ("configuration", *MODEL) if several and row[side]]
    return ", ".join([metric_name(row["metric"]), *map(line, about)])


def _show_figures(row: Row) -> tuple[str, ...]:
    """The claimed difference, and the one from the runs with its interval and p."""
    both = (difference(row[name], row["metric"]) for name in ("claimed", "estimate"))
    return *both, interval(row), p_value(row["p"])


def list_remarks(measured: IterationFigures) -> list[str]:
    """The remarks on an iteration, each once."""
    analyst_notes = measured.ws.polars("notes").filter(kind="analyst")["text"].to_list()
    beside = [
        words
        for answer in answers(measured)
        for words in (answer.lean, *(step for step, _ in answer.next_steps))
    ]
    noted = [*_note_texts(measured, lost=False), *filter(None, beside)]
    ours = [*_say_compared_pair(measured), *noted, *lacking_sentences(measured)]
    return list(dict.fromkeys([*analyst_notes, *ours]))


def _say_compared_pair(measured: IterationFigures) -> Iterator[str]:
    """Which two configurations `delta` compares, if that could be taken for another pair."""
    if len(measured.compared) > 1:
        name, *others = (line(name) for name in measured.compared)
        yield f"delta is {name} minus {line(measured.baseline or '')}, not {some(others, 6)}."
