"""`notes`: what an analyst would say of an iteration, written by rule from the statistics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from skill_eval_nb.tables import Workspace
from skill_eval_nb.text import (
    clip,
    count,
    format_figure,
    format_p,
    in_quotes,
    lower_first,
    some,
    with_sign,
)

from .confounds import OF_STAND_IN
from .deltas import deltas, deltas_by_dimension
from .expectations import (
    ADVISED,
    FAILS,
    HURTS,
    PASSES,
    at_least,
    discrimination,
    discrimination_by_eval,
    fewest_scored,
)
from .overview import compare_scopes
from .pairing import choose_sides, pair_evals, propose_families, side_key
from .summary import outliers
from .triggers import trigger_doubts
from .values import (
    EVAL,
    GROUP,
    ITERATION,
    MODEL,
    RUN,
    SIDES,
    Key,
    check_workspace,
    in_polars,
    is_of_several_models,
    join_sides,
    model_name,
    natural_key,
    runs_by_model,
    runs_of,
    secondary_level,
    secondary_metrics,
    statistic,
    values_of,
)
from .variance import variance
from .verdict import Row, in_words, say_answer

if TYPE_CHECKING:
    import polars as pl

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

Note = dict[str, Any]
"""A row of `notes`."""


def note(rows: Sequence[Row], kind: str, text: str, **about: Any) -> Note:
    """A note on rows of a group, or on single runs of it, with the names of their evals."""
    named: Note = {name: rows[0].get(name) for name in (*GROUP, "configuration")}
    evals = list(dict.fromkeys(row["eval_name"] for row in rows if "eval_name" in row))
    named |= {"evals": evals, "expectations": [], "runs": [], "kind": kind, "text": text}
    if "run_number" in rows[0]:
        runs = list(dict.fromkeys(run_name(row, full=True) for row in rows))
        named |= {"configuration": None, "runs": runs}
    return named | about


def group_of(row: Row) -> tuple[str | None, ...]:
    """The workspace, skill, iteration and model of a row of any statistic."""
    return tuple(row[name] for name in GROUP)


def groups_of(found: pl.DataFrame, *keys: str) -> Iterator[list[dict[str, Any]]]:
    """The rows of each group, as they come; `keys` tell more of them apart."""
    for own in found.partition_by(*GROUP, *keys, maintain_order=True):
        yield own.to_dicts()


COSTS = ("time_seconds", "tokens", "cost_usd")
NOISE = ("run", "judge", "run + judge")
"""The components that differ from one run of an eval to the next."""


def note_gains(ws: Workspace, baseline: str | None, level: float) -> Iterator[Note]:
    """What each configuration gains in pass rate, and for what: a note a comparison."""
    others = deltas(ws, secondary_metrics(ws), baseline, level=secondary_level(level)).to_dicts()
    costs = {
        (*group_of(row), row["configuration"], row["metric"]): row["estimate"] for row in others
    }
    for gain, other in compare_scopes(ws, "pass_rate", baseline, level=level):
        key = *group_of(gain), gain["configuration"]
        paid = {name: cost for name in COSTS if (cost := costs.get((*key, name))) is not None}
        if gain["estimate"] is None or not paid:
            continue
        who = f"{OF_STAND_IN} " * gain["stand_in"] + _sides_of(gain)
        rate = in_words(gain["estimate"], "pass_rate", with_sign)
        row = say_answer(gain, other).claims[0].row
        where = " on tasks like these" if row["scope"] == "population" else ""
        p = "" if row["p"] is None else f", p {format_p(row['p'])}"
        lean = f"; {gain['lean']}, assuming the noise of public benchmarks" if gain["lean"] else ""
        answer = f"{row['verdict'] or 'no verdict'}{where}{p}{lean}"
        evals = count(gain["n_evals"], "paired eval")
        differs = {metric: value for metric, value in paid.items() if value} or paid
        price = some(in_words(value, metric, with_sign) for metric, value in differs.items())
        text = f"{who}: {rate} pass rate on {evals} ({answer}), for {price} per run."
        yield note([gain], "gain and cost", text)


def noisy_dimensions(ws: Workspace, baseline: str | None, level: float) -> Iterator[Note]:
    """The dimensions of a comparison on which runs differ more than sides: a note for all."""
    found = deltas_by_dimension(ws, baseline, level=level)
    if found.is_empty():
        return
    for rows in groups_of(_find_unproven(ws, found), *SIDES):
        rows.sort(key=lambda row: (abs(row["estimate"]) / row["noise"], row["dimension"]))
        effects = [
            f"{in_quotes(row['dimension'], 40)} (runs of an eval differ by "
            f"{format_figure(row['noise'])} points, the sides by "
            f"{format_figure(abs(row['estimate']))})"
            for row in rows
        ]
        judge = [
            in_quotes(row["dimension"], 40) for row in rows if row["judge"] > row["noise"] ** 2
        ]
        runs = "" if len(judge) == len(rows) else "More runs would narrow it down."
        advice = "the noise is mostly the judge's, so judge each output more often."
        more = f"{some(judge)}: {advice}" if judge else ""
        title = f"More noise than effect, {_sides_of(rows[0])}"
        text = " ".join(filter(None, (f"{title}: {some(effects)}.", runs, more)))
        yield note(rows, "noisy dimension", text)


def _find_unproven(ws: Workspace, found: pl.DataFrame) -> pl.DataFrame:
    """Rows of `deltas_by_dimension` that are below their `noise`, with the `judge`'s part of it.

    `noise` is the standard deviation inside evals, `judge` twice the judge's variance.
    """
    import polars as pl

    known = pl.col("component").is_in(NOISE) & pl.col("variance").is_not_null()
    value, keys = pl.col("variance"), [*GROUP, "dimension"]
    noise = (
        variance(ws)
        .filter(known)
        .group_by(*keys, "configuration")
        .agg(noise=value.sum(), judge=value.filter(component="judge").sum())
    )
    unproven = found.filter(~pl.col("verdict").is_in(["helps", "hurts"]).fill_null(value=False))
    return (
        join_sides(unproven, noise, keys)
        .with_columns(
            noise=((pl.col("noise") + pl.col("noise_baseline")) / 2).sqrt(),
            judge=pl.col("judge") + pl.col("judge_baseline"),
        )
        .filter(pl.col("noise") > pl.col("estimate").abs())
    )


def _sides_of(row: Row) -> str:
    return f"{clip(row['configuration'])} against {clip(row['baseline'])}"


NAMED = 3
"""Expectations or evals that a text names."""


def silent_or_hurting(ws: Workspace, baseline: str | None, level: float) -> Iterator[Note]:
    """A note for each of three classes, in each comparison that has expectations of it."""
    for every in groups_of(discrimination(ws, baseline, level), *SIDES):
        for kind, sentence in ((HURTS, _say_hurts), (PASSES, _say_always), (FAILS, _say_always)):
            own = [row for row in every if row["class"] == kind]
            own.sort(key=lambda row: (-len(row["evals"]), row["text"]))
            if own:
                evals = list(dict.fromkeys(name for row in own for name in row["evals"]))
                about = {"evals": evals, "expectations": [row["text"] for row in own]}
                yield note(own, kind, sentence(own, len(every), level), **about)


def _say_hurts(rows: Sequence[Row], every: int, level: float) -> str:  # noqa: ARG001
    who, other = clip(rows[0]["configuration"]), clip(rows[0]["baseline"])
    named = some([f"{in_quotes(row['text'])} ({_say_passes(row)})" for row in rows], NAMED)
    return (
        f"{len(rows):,} of {count(every, 'expectation')} passed less often in {who} than in "
        f"{other}: {named}. See what the skill makes worse."
    )


def _say_always(rows: Sequence[Row], every: int, level: float) -> str:
    passed = rows[0]["class"] == PASSES
    other = rows[0]["baseline"]
    where = f" and {clip(other)}" if other is not None else ""
    verb = "passed" if passed else "failed"
    advice = (
        "Make them harder, or leave them out" if passed else "See whether they can be met at all"
    )
    fewest = min(map(fewest_scored, rows))
    little = (
        f"With {count(fewest, 'run')} per side this holds {at_least(fewest, level)}: run them "
        f"{ADVISED} times per side before you change them"
    )
    return (
        f"{len(rows):,} of {count(every, 'expectation')} always {verb} in "
        f"{clip(rows[0]['configuration'])}{where}: "
        f"{some([in_quotes(row['text']) for row in rows], NAMED)}. "
        f"{advice if fewest >= ADVISED else little}."
    )


def _say_passes(row: Row) -> str:
    """Passes in verdicts on either side."""
    sides = ((row[f"n_passed{end}"], row[f"n_failed{end}"]) for end in ("", "_baseline"))
    return " against ".join(f"{passed} of {passed + failed}" for passed, failed in sides)


def unsteady_evals(ws: Workspace, baseline: str | None, level: float) -> Iterator[Note]:  # noqa: ARG001
    """The evals of a comparison of whose expectations half or more changed from run to run."""
    import polars as pl

    flakiness = pl.col("flakiness", "baseline_flakiness")
    known = discrimination_by_eval(ws, baseline).filter(
        pl.any_horizontal(flakiness.is_not_null())  # of two runs a side, at least
    )
    moved = pl.sum_horizontal(flakiness) > 0
    evals = known.group_by(*GROUP, "configuration", *EVAL, maintain_order=True)
    counts = evals.agg(
        pl.col("text").filter(moved), changed=moved.sum(), expectations=pl.len()
    ).filter(pl.col("changed") >= pl.max_horizontal(2, pl.col("expectations") / 2))
    for found in groups_of(counts, "configuration"):
        found.sort(key=lambda row: (-row["changed"] / row["expectations"], row["eval_name"]))
        shares = [
            f"{in_quotes(row['eval_name'], 40)} ({row['changed']} of {row['expectations']})"
            for row in found
        ]
        text = f"Many expectations changed from run to run in {some(shares, NAMED)}. "
        text += "Run these evals more often, or word their expectations more strictly."
        moving = list(dict.fromkeys(text for row in found for text in row["text"]))
        yield note(found, "flaky eval", text, expectations=moving)


LOST = {
    "errored": "errored",
    "ungraded": "left nothing that could be graded",
    "executed": "without a grading yet",
    "gated": "without rubric scores, since a critical check failed",
}
"""What became of a run that lacks figures, by its status, the worst first."""
USUAL = {"time_seconds": "took", "tokens": "used", "cost_usd": "cost"}
"""What a run does with each metric."""


def left_out(ws: Workspace, baseline: str | None, level: float) -> Iterator[Note]:  # noqa: ARG001
    """The runs of an iteration without all of their figures: a note for all."""
    import polars as pl

    runs = runs_by_model(ws).with_columns(of=pl.len().over(GROUP))
    lost = runs.filter(pl.col("status").is_in(list(LOST))).sort(RUN, nulls_last=True)
    for own in groups_of(lost.select(*RUN, *MODEL, "status", "of")):
        every = own[0]["of"]
        those = {name: [row for row in own if row["status"] == name] for name in LOST}
        parts = [
            f"{len(rows):,} {LOST[name]} ({some(map(run_name, rows), NAMED)})"
            for name, rows in those.items()
            if rows
        ]
        text = f"Not in every figure: of {count(every, 'run')}, {'; '.join(parts)}."
        yield note(own, "left out", text)


def note_unpaired(ws: Workspace, baseline: str | None, level: float) -> Iterator[Note]:  # noqa: ARG001
    """The evals of a comparison that lack a side: a note for all."""
    paired = pair_evals(values_of(ws, "pass_rate"), choose_sides(runs_of(ws), baseline))
    for rows in groups_of(paired.drop_nulls(SIDES), *SIDES):
        alone = [row for row in rows if row["unpaired"] is not None]
        if alone:
            gaps = [
                f"{in_quotes(row['eval_name'], 40)} ({clip(row['unpaired'], 80)})" for row in alone
            ]
            text = f"{len(alone):,} of {count(len(rows), 'eval')} cannot be compared, "
            text += f"{_sides_of(rows[0])}: {some(gaps, NAMED)}. Run what is missing."
            yield note(alone, "unpaired", text)


def standing_out(ws: Workspace, baseline: str | None, level: float) -> Iterator[Note]:  # noqa: ARG001
    """The runs of an iteration that stand out: a note for all, the farthest first."""
    for rows in groups_of(outliers(ws)):
        rows.sort(
            key=lambda row: (-abs(row["modified_z"]), side_key(row["configuration"]), run_name(row))
        )
        runs = [f"{run_name(row)} {_describe_outlier(row)}" for row in rows]
        text = f"Far from the others: {some(runs, NAMED)}.{_describe_change(rows[0])}"
        yield note(rows, "outlier", text)


def _describe_outlier(row: Row) -> str:
    """What a run took, and what is usual."""
    value, usual = (in_words(row[name], row["metric"]) for name in ("value", "median"))
    z = format_figure(row["modified_z"])
    return f"{USUAL[row['metric']]} {value}, where {usual} is typical (modified z {z})"


def _describe_change(row: Row) -> str:
    """What the outlying runs of a configuration do to its mean."""
    if row["mean_without"] is None:
        return ""
    those = "it" if row["n_outliers"] == 1 else "such runs"
    mean, without = (in_words(row[name], row["metric"]) for name in ("mean", "mean_without"))
    return f" Without {those} the mean of {clip(row['configuration'])} is {without}, not {mean}."


def run_name(row: Row, *, full: bool = False) -> str:
    """A run in a sentence, or by its whole name.

    >>> run_name({"eval_name": "late-fee", "configuration": "with_skill", "run_number": 3})
    'late-fee with_skill run 3'
    """
    names = (row[name] if full else clip(row[name]) for name in ("eval_name", "configuration"))
    return f"{' '.join(names)} run {row['run_number']}"


def broken_triggers(ws: Workspace, baseline: str | None, level: float) -> Iterator[Note]:  # noqa: ARG001
    """The trigger measurements whose rates say nothing, which are of no iteration."""
    for row in trigger_doubts(ws).iter_rows(named=True):
        if row["doubt"] in ("never triggers", "always triggers"):
            text = f"The measurement is broken: {lower_first(row['message'])}"
            yield note([row], "broken measurement", text)


def note_families(ws: Workspace, baseline: str | None, level: float) -> Iterator[Note]:  # noqa: ARG001
    """The evals of an iteration that seem to belong together."""
    proposed = propose_families(ws)
    for of in runs_by_model(ws).select(GROUP).unique().iter_rows(named=True):
        if found := proposed.get(tuple(of[name] for name in ITERATION)):
            yield note([of], "families", found[0], evals=found[1])


MAKERS = (
    note_gains,
    silent_or_hurting,
    left_out,
    note_unpaired,
    noisy_dimensions,
    unsteady_evals,
    standing_out,
    broken_triggers,
    note_families,
)


@statistic
def notes(data: Any, baseline: str | None = None, level: float = 0.95, most: int = 9) -> Any:
    """Short notes on each iteration, the most important first. No model is asked.

    If several models ran it, each has its own notes, which begin with its name.

    Kinds, in order:

    - `broken measurement`: trigger queries whose rates say nothing about the description
      (`trigger_doubts`); `iteration` is null;
    - `gain and cost`: what a configuration changes from the baseline in pass rate, with its
      verdict (on tasks like these, if single runs tell nothing about these evals), and in
      seconds, tokens and dollars per run; means over paired evals (`deltas`);
    - `hurts`: expectations of that class (`discrimination`);
    - `left out`: runs that errored, were gated, or have no grading;
    - `unpaired`: evals that lack a side;
    - `noisy dimension`: rubric dimensions whose difference is not proven, and on which two runs
      of an eval differ by more than the two sides do: the standard deviation within evals, run
      and judge together (`variance`, the mean of both sides' variances), exceeds the estimate
      (`deltas_by_dimension`);
    - `flaky eval`: evals in which at least half of the expectations, and at least two, changed
      between runs of a configuration (`discrimination_by_eval`);
    - `always passes`, `always fails`: expectations of these classes (`discrimination`);
    - `outlier`: runs that stand out in time, tokens or cost (`outliers`);
    - `families`: evals that seem to belong together by a tag, an input file or the first word of
      their names, as `cluster` of `deltas` takes them.

    Args:
        data: a `Workspace`.
        baseline: the configuration to compare against; chosen by name if not given.
        level: 1 - alpha of the verdicts and classes.
        most: the most notes per iteration (and per model, if there are several).

    Returns:
        In the backend of `data`, one row a note: `workspace`, `skill`, `iteration`,
        `executor_model` and `harness` (as for `deltas`), `configuration` (null if the note is
        of none alone), `kind`, `text` (one line, names from files cut), and in full the names of
        the `evals`, `expectations` and `runs` that it is about. No row if there is nothing to say.

    Raises:
        TypeError: for anything but a `Workspace`: notes rest on several tables.
        ValueError: for a baseline that is not there, or a level outside (0, 1).

    >>> from skill_eval_nb.tables import Workspace
    >>> notes(Workspace.from_tables({})).height
    0
    """
    import polars as pl

    check_workspace(data, "notes")
    own = in_polars(data)
    found = [note for maker in MAKERS for note in maker(own, baseline, level)]
    several = {*runs_by_model(own).filter(is_of_several_models()).select(GROUP).iter_rows()}
    for one in found:
        if group_of(one) in several:
            one["text"] = f"{clip(model_name(one))}: {one['text']}"
    types: dict[str, Any] = dict.fromkeys([*GROUP, "configuration", "kind", "text"], pl.String)
    types |= dict.fromkeys(("evals", "expectations", "runs"), pl.List(pl.String))
    frame = pl.DataFrame(sorted(found, key=_note_order), types)
    return frame.group_by(GROUP, maintain_order=True).head(most).select(list(types))


def _note_order(note: Note) -> Key:
    names = (natural_key(name or "") for name in group_of(note))
    return *names, KINDS.index(note["kind"]), side_key(note["configuration"] or ""), note["text"]
