"""`notes`: what an analyst would say of an iteration, written by rule from the statistics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from typing import Any

from skill_eval_nb.tables import Workspace
from skill_eval_nb.tables.frames import like
from skill_eval_nb.text import (
    MINUS,
    NOTHING,
    brief,
    chance,
    count,
    figure,
    lower_first,
    quoted,
    some,
)

from .comparison import SCOPES
from .confounds import OF_STAND_IN
from .deltas import deltas, deltas_by_dimension
from .expectations import (
    FAILS,
    HURTS,
    PASSES,
    at_least,
    discrimination,
    fewest_scored,
    flakiness_by_eval,
)
from .families import propose_families
from .pairing import pairs, side, sides
from .summary import outliers
from .triggers import trigger_doubts
from .values import (
    GROUP,
    MODEL,
    RUN,
    UNITS,
    Key,
    is_of_several_models,
    model_name,
    natural,
    runs_by_model,
    runs_of,
    values_of,
)
from .variance import variance
from .verdict import beyond_comes_first

KINDS = (
    "broken measurement",
    "gain and cost",
    "hurts",
    "left out",
    "unpaired",
    "noisy dimension",
    "flaky eval",
    "always passes",
    "always fails",
    "outlier",
    "families",
)
"""What a note is about, in the order in which it matters."""

Row = Mapping[str, Any]
Note = dict[str, Any]
"""A row of `notes`."""


def note(of: Row, kind: str, text: str, numbers: Mapping[str, float], **about: Any) -> Note:
    """A note on the group of a row; `numbers` are those of its text, and a few behind them."""
    nothing: Note = {"configuration": None, "evals": [], "expectations": [], "runs": []}
    named = [{"name": name, "value": float(value)} for name, value in numbers.items()]
    group = {name: of.get(name) for name in GROUP}
    return {**group, **nothing, "kind": kind, "text": text, **about, "numbers": named}


def group_of(row: Row) -> tuple[str | None, ...]:
    """The workspace, skill, iteration and model of a row of any statistic."""
    return tuple(row[name] for name in GROUP)


COSTS = ("time_seconds", "tokens", "cost_usd")
NOISE = ("run", "judge", "run + judge")
"""The components that differ from one run of an eval to the next."""


def gains(ws: Workspace, baseline: str | None, level: float) -> Iterator[Note]:
    """What each configuration gains in pass rate, and for what: a note a comparison."""
    costs = {metric: _differences(ws, metric, baseline) for metric in COSTS}
    these, beyond = (
        deltas(ws, "pass_rate", baseline, level=level, scope=scope).to_dicts() for scope in SCOPES
    )
    for gain, other in zip(these, beyond, strict=True):
        key = *group_of(gain), gain["configuration"]
        paid = {metric: known[key] for metric, known in costs.items() if key in known}
        if gain["estimate"] is None or not paid:
            continue
        who = f"{brief(gain['configuration'])} against {brief(gain['baseline'])}"
        who = f"{OF_STAND_IN} {who}" if gain["stand_in"] else who
        rate = amount(gain["estimate"], "pass_rate")
        wide = beyond_comes_first(gain, other)
        row, where = (other, " on tasks like these") if wide else (gain, "")
        p = "" if row["p"] is None else f", p {chance(row['p'])}"
        answer = f"{row['verdict'] or 'no verdict'}{where}{p}"
        evals = count(gain["n_evals"], "paired eval")
        differs = {metric: value for metric, value in paid.items() if value} or paid
        price = some([amount(value, metric) for metric, value in differs.items()])
        yield note(
            gain,
            kind="gain and cost",
            configuration=gain["configuration"],
            text=f"{who}: {rate} pass rate on {evals} ({answer}), for {price} a run.",
            numbers={"pass_rate": gain["estimate"], "n_evals": gain["n_evals"]}
            | ({"p": row["p"]} if p else {})
            | paid,
        )


def _differences(ws: Workspace, metric: str, baseline: str | None) -> dict[Any, float]:
    """The mean difference over paired evals, by group, model and configuration."""
    import polars as pl

    paired = pairs(values_of(ws, metric), sides(runs_of(ws), baseline)).drop_nulls("estimate")
    means = paired.group_by(*GROUP, "configuration").agg(pl.col("estimate").mean())
    return {row[:-1]: row[-1] for row in means.iter_rows()}


def noisy_dimensions(ws: Workspace, baseline: str | None, level: float) -> Iterator[Note]:
    """The dimensions of a comparison on which runs differ more than sides: a note for all."""
    found = deltas_by_dimension(ws, baseline, level=level)
    if found.is_empty():
        return
    noise = _noise(ws)
    unproven: dict[Any, list[tuple[Row, float, float]]] = {}
    for row in found.iter_rows(named=True):
        own, other = (
            noise.get((*group_of(row), row[end], row["dimension"]))
            for end in ("configuration", "baseline")
        )
        if row["estimate"] is None or row["verdict"] in ("helps", "hurts") or not (own and other):
            continue
        spread, judged = (sqrt((own[at] + other[at]) / 2) for at in (0, 1))
        if spread > abs(row["estimate"]):
            key = *group_of(row), row["configuration"], row["baseline"]
            unproven.setdefault(key, []).append((row, spread, judged))
    for (*_, who, other), rows in unproven.items():
        rows.sort(key=lambda entry: (abs(entry[0]["estimate"]) / entry[1], entry[0]["dimension"]))
        effects = [
            f"{quoted(row['dimension'], 40)} (runs of an eval differ by {figure(spread)} points, "
            f"the sides by {figure(abs(row['estimate']))})"
            for row, spread, _ in rows
        ]
        judge = [row["dimension"] for row, spread, judged in rows if judged**2 > spread**2 / 2]
        runs = "" if len(judge) == len(rows) else "More runs would narrow it down."
        names = some([quoted(name, 40) for name in judge])
        more = f"{names}: it is mostly the judge, so judge each output more often." if judge else ""
        title = f"More noise than effect, {brief(who)} against {brief(other)}"
        yield note(
            rows[0][0],
            kind="noisy dimension",
            configuration=who,
            text=" ".join(filter(None, (f"{title}: {some(effects)}.", runs, more))),
            numbers={
                f"{what} of {row['dimension']}": value
                for row, spread, _ in rows
                for what, value in (("estimate", row["estimate"]), ("noise", spread))
            },
        )


def _noise(ws: Workspace) -> dict[Any, tuple[float, float]]:
    """Variances inside evals by group, configuration and dimension: in all, and the judge's."""
    import polars as pl

    known = pl.col("component").is_in(NOISE) & pl.col("variance").is_not_null()
    found: dict[Any, tuple[float, float]] = {}
    for row in variance(ws).filter(known).iter_rows(named=True):
        key = *group_of(row), row["configuration"], row["dimension"]
        whole, judge = found.get(key, (0.0, 0.0))
        own = row["variance"]
        found[key] = whole + own, judge + (own if row["component"] == "judge" else 0.0)
    return found


ADVISED = 10
"""Runs a side below which nothing is advised: what a skill lifts from 80 to 100 % looks like this
after three of them, in half of all cases."""
NAMED = 3
"""Expectations or evals that a text names."""


def silent_or_hurting(ws: Workspace, baseline: str | None, level: float) -> Iterator[Note]:
    """A note for each of three classes, in each comparison that has expectations of it."""
    classes: dict[Any, list[Row]] = defaultdict(list)
    sizes: dict[Any, int] = defaultdict(int)
    for row in discrimination(ws, baseline, level).iter_rows(named=True):
        comparison = *group_of(row), row["configuration"], row["baseline"]
        sizes[comparison] += 1
        classes[comparison, row["class"]].append(row)

    def always(rows: Sequence[Row], every: int) -> str:
        return _always(rows, every, level)

    sentences = {HURTS: _hurts, PASSES: always, FAILS: always}
    for (comparison, kind), own in classes.items():
        if kind in sentences:
            own.sort(key=lambda row: (-len(row["evals"]), row["text"]))
            yield note(
                own[0],
                kind=kind,
                configuration=own[0]["configuration"],
                text=sentences[kind](own, sizes[comparison]),
                evals=list(dict.fromkeys(name for row in own for name in row["evals"])),
                expectations=[row["text"] for row in own],
                numbers={"n": len(own), "n_expectations": sizes[comparison]} | _verdicts(own),
            )


def _hurts(rows: Sequence[Row], every: int) -> str:
    who, other = brief(rows[0]["configuration"]), brief(rows[0]["baseline"])
    named = some([f"{quoted(row['text'])} ({_sides(row)})" for row in rows], NAMED)
    return (
        f"{len(rows):,} of {count(every, 'expectation')} passed less often in {who} than in "
        f"{other}: {named}. See what the skill makes worse."
    )


def _always(rows: Sequence[Row], every: int, level: float) -> str:
    passed = rows[0]["class"] == PASSES
    other = rows[0]["baseline"]
    where = f" and {brief(other)}" if other is not None else ""
    verb = "passed" if passed else "failed"
    advice = (
        "Make them harder, or leave them out" if passed else "See whether they can be met at all"
    )
    fewest = min(map(fewest_scored, rows))
    little = (
        f"{count(fewest, 'run')} a side support no more than ‘{at_least(fewest, level)}’: run them "
        f"{ADVISED} times a side before you change them"
    )
    return (
        f"{len(rows):,} of {count(every, 'expectation')} always {verb} in "
        f"{brief(rows[0]['configuration'])}{where}: "
        f"{some([quoted(row['text']) for row in rows], NAMED)}. "
        f"{advice if fewest >= ADVISED else little}."
    )


def _sides(row: Row) -> str:
    """Passes in verdicts on either side."""
    sides = ((row[f"n_passed{end}"], row[f"n_failed{end}"]) for end in ("", "_baseline"))
    return " against ".join(f"{passed} of {passed + failed}" for passed, failed in sides)


def _verdicts(rows: Sequence[Row]) -> dict[str, float]:
    return {
        f"n_verdicts{end}": sum(row[f"n_passed{end}"] + row[f"n_failed{end}"] for row in rows)
        for end in ("", "_baseline")
    }


def unsteady_evals(ws: Workspace, baseline: str | None, level: float) -> Iterator[Note]:  # noqa: ARG001
    """The evals of a comparison of whose expectations half or more changed from run to run."""
    evals: dict[Any, list[Row]] = defaultdict(list)
    for row in flakiness_by_eval(ws, baseline).iter_rows(named=True):
        comparison = *group_of(row), row["configuration"]
        evals[comparison, row["eval_id"], row["eval_name"]].append(row)
    unsteady: dict[Any, list[tuple[str, list[Row], int]]] = defaultdict(list)
    for (comparison, _, name), own in evals.items():
        moved = [row for row in own if (row["flakiness"] or 0) + (row["baseline_flakiness"] or 0)]
        if len(moved) >= max(2, len(own) / 2):
            unsteady[comparison].append((name, moved, len(own)))
    for (*_, who), found in unsteady.items():
        found.sort(key=lambda entry: (-len(entry[1]) / entry[2], entry[0]))
        shares = [f"{quoted(name, 40)} ({len(moved)} of {all_})" for name, moved, all_ in found]
        yield note(
            found[0][1][0],
            kind="flaky eval",
            configuration=who,
            text=f"Many expectations changed from run to run in {some(shares, NAMED)}. "
            "Run these evals more often, or word their expectations more strictly.",
            evals=[name for name, _, _ in found],
            expectations=list(dict.fromkeys(row["text"] for _, own, _ in found for row in own)),
            numbers={
                f"{what} of {name}": n
                for name, own, every in found
                for what, n in (("changed", len(own)), ("expectations", every))
            },
        )


LOST = {
    "errored": "errored",
    "ungraded": "left nothing that could be graded",
    "executed": "without a grading yet",
    "gated": "without rubric scores, as a critical check failed",
}
"""What became of a run that lacks figures, by its status, the worst first."""
USUAL = {"time_seconds": "took", "tokens": "used", "cost_usd": "cost"}
"""What a run does with each metric."""


def left_out(ws: Workspace, baseline: str | None, level: float) -> Iterator[Note]:  # noqa: ARG001
    """The runs of an iteration without all of their figures: a note for all."""
    import polars as pl

    known = pl.col("status").is_in(list(LOST))
    runs = runs_by_model(ws)
    lost = runs.filter(known).select(*RUN, *MODEL, "status").sort(RUN, nulls_last=True)
    sizes = {row[:-1]: row[-1] for row in runs.group_by(GROUP).len().iter_rows()}
    groups: dict[Any, list[Row]] = defaultdict(list)
    for row in lost.iter_rows(named=True):
        groups[group_of(row)].append(row)
    for group, own in groups.items():
        parts: list[str] = []
        for status, became in LOST.items():
            those = [run_name(row) for row in own if row["status"] == status]
            if those:
                parts.append(f"{len(those):,} {became} ({some(those, NAMED)})")
        yield note(
            own[0],
            kind="left out",
            text=f"Not in every figure: of {count(sizes[group], 'run')} {'; '.join(parts)}.",
            evals=list(dict.fromkeys(row["eval_name"] for row in own)),
            runs=[run_name(row, full=True) for row in own],
            numbers={"n_runs": sizes[group]}
            | {
                f"n_{status}": n
                for status in LOST
                if (n := sum(row["status"] == status for row in own))
            },
        )


def unpaired(ws: Workspace, baseline: str | None, level: float) -> Iterator[Note]:  # noqa: ARG001
    """The evals of a comparison that lack a side: a note for all."""
    import polars as pl

    paired = pairs(values_of(ws, "pass_rate"), sides(runs_of(ws), baseline))
    compared = pl.col("configuration").is_not_null() & pl.col("baseline").is_not_null()
    groups: dict[Any, list[Row]] = defaultdict(list)
    for row in paired.filter(compared).iter_rows(named=True):
        groups[*group_of(row), row["configuration"], row["baseline"]].append(row)
    for (*_, who, other), rows in groups.items():
        alone = [row for row in rows if row["unpaired"] is not None]
        if alone:
            gaps = [
                f"{quoted(row['eval_name'], 40)} ({brief(row['unpaired'], 80)})" for row in alone
            ]
            yield note(
                alone[0],
                kind="unpaired",
                configuration=who,
                text=f"{len(alone):,} of {count(len(rows), 'eval')} cannot be compared, "
                f"{brief(who)} against {brief(other)}: {some(gaps, NAMED)}. Run what is missing.",
                evals=[row["eval_name"] for row in alone],
                numbers={"n_unpaired": len(alone), "n_evals": len(rows)},
            )


def standing_out(ws: Workspace, baseline: str | None, level: float) -> Iterator[Note]:  # noqa: ARG001
    """The runs of an iteration that stand out: a note for all, the farthest first."""
    groups: dict[Any, list[Row]] = defaultdict(list)
    for row in outliers(ws).iter_rows(named=True):
        groups[group_of(row)].append(row)
    for rows in groups.values():
        rows.sort(
            key=lambda row: (-abs(row["modified_z"]), side(row["configuration"]), run_name(row))
        )
        runs = [f"{run_name(row)} {_usual(row)}" for row in rows]
        yield note(
            rows[0],
            kind="outlier",
            text=f"Far from the others: {some(runs, NAMED)}.{_change(rows[0])}",
            evals=list(dict.fromkeys(row["eval_name"] for row in rows)),
            runs=list(dict.fromkeys(run_name(row, full=True) for row in rows)),
            numbers={
                f"{what} of {run_name(row, full=True)}": value
                for row in rows
                for what, value in (
                    (row["metric"], row["value"]),
                    ("modified_z", row["modified_z"]),
                )
            },
        )


def _usual(row: Row) -> str:
    """What a run took, and what is usual."""
    value, usual = (sized(row[name], row["metric"]) for name in ("value", "median"))
    z = figure(row["modified_z"])
    return f"{USUAL[row['metric']]} {value}, where {usual} is usual (modified z {z})"


def _change(row: Row) -> str:
    """What the outlying runs of a configuration do to its mean."""
    if row["mean_without"] is None:
        return ""
    those = "it" if row["n_outliers"] == 1 else "such runs"
    mean, without = (sized(row[name], row["metric"]) for name in ("mean", "mean_without"))
    return f" Without {those} the mean of {brief(row['configuration'])} is {without}, not {mean}."


def run_name(row: Row, *, full: bool = False) -> str:
    """A run in a sentence, or by its whole name.

    >>> run_name({"eval_name": "late-fee", "configuration": "with_skill", "run_number": 3})
    'late-fee with_skill run 3'
    """
    name = (
        f"{row['eval_name']} {row['configuration']}"
        if full
        else (f"{brief(row['eval_name'])} {brief(row['configuration'])}")
    )
    return f"{name} run {row['run_number']}"


def broken_triggers(ws: Workspace, baseline: str | None, level: float) -> Iterator[Note]:  # noqa: ARG001
    """The trigger measurements whose rates say nothing, which are of no iteration."""
    for row in trigger_doubts(ws).iter_rows(named=True):
        if row["doubt"] in ("never triggers", "always triggers"):
            text = f"The measurement is broken: {lower_first(row['message'])}"
            yield note(row, "broken measurement", text, {})


def families(ws: Workspace, baseline: str | None, level: float) -> Iterator[Note]:  # noqa: ARG001
    """The evals of a suite that seem to belong together."""
    proposed = propose_families(ws)
    for of in runs_by_model(ws).select(GROUP).unique().iter_rows(named=True):
        if found := proposed.get((of["workspace"], of["skill"])):
            evals = [name for family in found.members for name in family]
            yield note(of, "families", f"{found.sentence()}.", {"n": len(evals)}, evals=evals)


MAKERS = (
    gains,
    silent_or_hurting,
    left_out,
    unpaired,
    noisy_dimensions,
    unsteady_evals,
    standing_out,
    broken_triggers,
    families,
)


def notes(data: Any, baseline: str | None = None, level: float = 0.95, most: int = 9) -> Any:
    """Short notes on each iteration, those that matter most first. No model is asked.

    Where it was run by several models, each has notes of its own, which begin with its name.

    Kinds, in order:

    - `broken measurement`: trigger queries whose rates say nothing of the description
      (`trigger_doubts`); `iteration` is null;
    - `gain and cost`: what a configuration changes against the baseline in pass rate, with its
      verdict (that on tasks like these, where single runs tell nothing of these evals), and in
      seconds, tokens and dollars a run; means over paired evals (`deltas`);
    - `hurts`: expectations of that class (`discrimination`);
    - `left out`: runs that errored, were gated, or have no grading;
    - `unpaired`: evals that lack a side;
    - `noisy dimension`: rubric dimensions whose difference is not proven, and on which two
      runs of an eval differ by more than the two sides do: the standard deviation inside
      evals, run and judge together (`variance`, the mean of both sides' variances), exceeds
      the estimate (`deltas_by_dimension`);
    - `flaky eval`: evals of whose expectations at least half, and at least two, changed from
      run to run of a configuration (`discrimination_by_eval`);
    - `always passes`, `always fails`: expectations of these classes (`discrimination`);
    - `outlier`: runs that stand out in time, tokens or cost (`outliers`);
    - `families`: evals that seem to belong together by a tag, an input file or the first word of
      their names, as `cluster` of `deltas` takes them.

    Args:
        data: a `Workspace`.
        baseline: the configuration to compare against; chosen by name where not given.
        level: 1 - alpha of the verdicts and classes.
        most: notes an iteration (and model, where it was run by several), at most.

    Returns:
        In the backend of `data`, one row a note: `workspace`, `skill`, `iteration`,
        `executor_model` and `harness` (as for `deltas`), `configuration` (null where the note is
        of none alone), `kind`, `text` (one line, names from files cut), and in full the names of
        the `evals`, `expectations` and `runs` that it is about, and `numbers`, a list of name and
        value. No row where there is nothing to say.

    Raises:
        TypeError: for anything but a `Workspace`: notes rest on several tables.
        ValueError: for a baseline that is not there, or a level outside (0, 1).

    >>> from skill_eval_nb.tables import Workspace
    >>> notes(Workspace.from_tables({})).height
    0
    """
    import polars as pl

    if not callable(getattr(type(data), "polars", None)):
        raise TypeError(
            f"Notes rest on several tables: give a Workspace, not {type(data).__name__}."
        )
    read = ("runs", "expectations", "rubric_scores", "triggers", "evals")
    tables = {name: data.polars(name) for name in read}
    own = Workspace.from_tables(tables)
    found = [note for maker in MAKERS for note in maker(own, baseline, level)]
    several = {*runs_by_model(own).filter(is_of_several_models()).select(GROUP).iter_rows()}
    for one in found:
        if group_of(one) in several:
            one["text"] = f"{brief(model_name(one))}: {one['text']}"
    names, number = pl.List(pl.String), pl.Struct({"name": pl.String, "value": pl.Float64})
    types: dict[str, Any] = {
        **dict.fromkeys([*GROUP, "configuration", "kind", "text"], pl.String),
        **dict.fromkeys(("evals", "expectations", "runs"), names),
        "numbers": pl.List(number),
    }
    frame = pl.DataFrame(sorted(found, key=_place), types)
    return like(data, frame.group_by(GROUP, maintain_order=True).head(most).select(list(types)))


def _place(note: Note) -> Key:
    names = (natural(name or "") for name in group_of(note))
    return *names, KINDS.index(note["kind"]), side(note["configuration"] or ""), note["text"]


def sized(value: float, metric: str) -> str:
    """A figure of time, tokens or cost with its unit.

    >>> sized(42.0, "time_seconds"), sized(1700.0, "tokens"), sized(0.0123, "cost_usd")
    ('42 s', '1,700 tokens', '$0.0123')
    """
    match UNITS[metric]:
        case "seconds":
            return f"{figure(value)} s"
        case "usd":
            return f"${figure(value)}"
    return f"{figure(value)} {UNITS[metric] or metric.replace('_', ' ')}"


def amount(value: float, metric: str) -> str:
    """A difference with its unit and its sign, that of rates in percentage points.

    >>> amount(0.25, "pass_rate"), amount(-42.0, "time_seconds"), amount(0.0, "cost_usd")
    ('+25 pp', '−42 s', '$0')
    """
    value = 0.0 if abs(value) < NOTHING else value
    sign = "+" if value > 0 else MINUS if value < 0 else ""
    if UNITS[metric] == "rate":
        return f"{sign}{figure(100 * abs(value))} pp"
    return sign + sized(abs(value), metric)
