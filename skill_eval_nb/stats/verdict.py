"""A comparison in a word and its reason, with what may turn it: errors, yardsticks, a gate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skill_eval_nb.text import brief, chance, count, figure, signed, some

from .comparison import FEWEST, TINY, PairedResult
from .inference.exact import Adjusted
from .inference.intervals import BESIDE
from .values import EVAL, GROUP, MODEL, RUBRIC, UNITS, better, by_model, model_name

if TYPE_CHECKING:
    import polars as pl


SAYS = {
    "helps": "{who} helps on {where}",
    "hurts": "{who} hurts on {where}",
    "no worthwhile difference": "{who} makes no worthwhile difference on {where}",
    "unclear": "It is unclear whether {who} helps on {where}",
    "unclear: errors decide": "It is unclear whether {who} helps on {where}: errors decide",
    "too few runs": "Too few runs to say whether {who} helps on {where}",
    "too few evals": "Too few evals to say whether {who} helps on {where}",
}
"""Each verdict as a sentence."""
TAKES = {
    "time_seconds": ("takes more time", "takes less time"),
    "tokens": ("uses more tokens", "uses fewer tokens"),
    "tool_calls": ("makes more tool calls", "makes fewer tool calls"),
    "steps": ("takes more steps", "takes fewer steps"),
    "cost_usd": ("costs more", "costs less"),
}
"""What is good or bad only for what it brings: what a side does more of, or less."""
IN_WORDS = {"rate": (100, " pp"), "seconds": (1, " s"), "1-5": (1, " points"), "usd": (1, " US$")}
"""What a unit's figures are multiplied by in a sentence, and what stands behind them."""
USUAL = 0.05
"""The alpha that need not be named."""


def verdict(
    found: PairedResult,
    metric: str,
    worth: float | None,
    adjusted: Adjusted | None = None,
    these: PairedResult | None = None,
) -> tuple[str | None, str]:
    """The word and the reason.

    `helps` and `hurts` are decided by the exact p alone, at 1 - level; `no worthwhile
    difference` by two one-sided tests at 1 - level, which is where the interval of 2 level - 1
    lies inside ± `worth` (Schuirmann 1987).

    Args:
        found: the comparison.
        metric: what is compared. Where neither more nor less of it is better, the word is
            None, and the reason gives the figures.
        worth: the smallest difference worth having, in the metric's unit; None if unknown.
        adjusted: the p-value that decides, where several questions were asked at once.
        these: of too few evals for `population`, the same comparison with scope `suite`.
    """
    if not found.n_evals:
        return "too few evals", "No eval has a figure on both sides."
    wording = _Sentence(found, metric, adjusted)
    which = better(metric)
    p = found.p if adjusted is None else adjusted.p
    lacking = wording.what_a_claim_lacks()
    if lacking:
        answer = f" On them: {_Sentence(these, metric).figures()}." if these else ""
        word = "too few runs" if found.scope == "suite" else "too few evals"
        return word, f"{lacking}.{answer}{wording.outlook()}"
    if which is None:
        return None, f"{wording.figures()}; neither more nor less of it is better."
    if p is not None and p <= 1 - found.level + TINY:
        gains = wording.estimate > 0 if which == "more" else wording.estimate < 0
        small = worth is not None and abs(wording.estimate) < worth - TINY
        less = f", which is less than {wording.amount(worth or 0)}" if small else ""
        return "helps" if gains else "hurts", f"{wording.figures()}{less}."
    if found.margin is None:
        return "unclear", f"{wording.figures()}.{wording.outlook()}"
    adjusted_ = adjusted is not None and adjusted.alone < 1 - found.level - TINY
    inner = "adjusted interval" if adjusted_ else f"{100 * (2 * found.level - 1):.3g} % interval"
    if worth is not None and found.margin <= worth + TINY:
        inside = f"the {inner} lies within ±{wording.amount(worth)}"
        return "no worthwhile difference", f"{wording.figures()}: {inside}."
    ruled_out = f" Any difference beyond {wording.amount(found.margin)} can be ruled out ({inner})."
    return "unclear", f"{wording.figures()}.{ruled_out}{wording.outlook()}"


def sentence(word: str | None, metric: str, who: str, where: str) -> str:
    """A verdict as a sentence, without a full stop.

    >>> sentence("helps", "pass_rate", "with_skill", these(3))
    'with_skill helps on these 3 evals'
    >>> sentence("hurts", "tokens", "with_skill", these(1))
    'with_skill uses more tokens on this eval'
    """
    verb = TAKES[metric][0] if metric in TAKES else "helps"
    if word is None and better(metric) is None:
        return f"{who} changes the {metric.replace('_', ' ')} on {where}"
    if word is None:
        return f"There is no verdict whether {who} {verb} on {where}"
    does = word_of(word, metric)
    if does != word:
        return f"{who} {does} on {where}"
    return (
        SAYS[word]
        .replace("whether {who} helps", f"whether {{who}} {verb}")
        .format(who=who, where=where)
    )


def word_of(word: str | None, metric: str) -> str | None:
    """A verdict in a table, beside its metric.

    >>> word_of("hurts", "tokens"), word_of("hurts", "pass_rate")
    ('uses more tokens', 'hurts')
    """
    does = TAKES.get(metric)
    return does[word == "helps"] if does is not None and word in ("helps", "hurts") else word


def these(n: int) -> str:
    """The evals that were run, in a sentence."""
    return "this eval" if n == 1 else f"these {n:,} evals"


def beyond_comes_first(these: Mapping[str, Any], beyond: Mapping[str, Any]) -> bool:
    """Whether the answer on tasks like these is the one to begin with.

    A single run of each eval tells nothing of chance on these evals, and many evals may still
    tell of tasks like them.

    Args:
        these: the row of `stats.deltas` with scope `suite`.
        beyond: that with scope `population`.

    >>> beyond_comes_first({"verdict": "too few runs"}, {"verdict": "helps"})
    True
    >>> beyond_comes_first({"verdict": "unclear"}, {"verdict": "helps"})
    False
    """
    return these["verdict"] == "too few runs" and beyond["verdict"] != "too few evals"


def also_beyond(these: Row, beyond: Row) -> Row:
    """The row about tasks like these, which claims nothing that these evals do not bear out.

    Other evals only add to what is uncertain on these: where the runs alone can explain a
    difference, a claim beyond them is luck. Then p is the larger of the two, and the interval
    holds 0. Where these evals have too few runs to say anything, the row stays as it is.

    >>> row = {"verdict": "helps", "p": 0.03, "low": 0.1, "high": 0.3, "reason": "+20 pp."}
    >>> found = also_beyond({**row, "verdict": "unclear", "p": 0.2}, row)
    >>> found["verdict"], found["p"], found["low"], found["reason"]
    ('unclear', 0.2, 0.0, 'Not clear on these evals, and so not beyond them: +20 pp.')
    """
    claims = ("helps", "hurts")
    if beyond["verdict"] not in claims or these["verdict"] in (*claims, "too few runs"):
        return beyond
    low, high = beyond["low"], beyond["high"]
    return {
        **beyond,
        **{
            name: max(p_value for p_value in (these[name], beyond[name]) if p_value is not None)
            for name in ("p", "p_adjusted")
            if name in beyond
        },
        "low": None if low is None else min(low, 0.0),
        "high": None if high is None else max(high, 0.0),
        "verdict": "unclear",
        "reason": f"Not clear on these evals, and so not beyond them: {_small(beyond['reason'])}",
    }


class _Sentence:
    """What a comparison's figures are called in a sentence."""

    def __init__(self, found: PairedResult, metric: str, adjusted: Adjusted | None = None) -> None:
        self.found = found
        self.adjusted = adjusted
        self.estimate = found.estimate or 0.0
        unit = UNITS.get(metric, "1-5")
        self.factor, self.unit = IN_WORDS.get(unit, (1, ""))

    def figures(self) -> str:
        """The estimate with its interval and p."""
        found = self.found
        suite = found.scope == "suite"
        weighted = ", weighted" if found.weighted else ""
        where = (
            f"{these(found.n_evals)}{weighted}"
            if suite
            else f"tasks like these ({self._evals()}{weighted})"
        )
        p = "" if found.p is None else f", exact p {chance(found.p)}"
        if p and self.adjusted is not None and self.adjusted.p != found.p:
            p += f" ({chance(self.adjusted.p).removeprefix('= ')} adjusted)"
        return f"{self._signed(self.estimate)}{self.unit}{self._interval()} on {where}{p}"

    def what_a_claim_lacks(self) -> str:
        """What is missing before anything can be claimed, or ""."""
        found = self.found
        least_p = found.least_p if self.adjusted is None else self.adjusted.least
        few = least_p > 1 - found.level + TINY
        if found.sufficient and not few:
            return ""
        alone = found.least_p > 1 - found.level + TINY  # too large even before it is adjusted
        least_p = found.least_p if alone else least_p
        others = "" if alone or not few else ", once it is adjusted,"
        units = found.n_evals if found.families is None else found.families
        still = found.moved < units and few
        still_alike = f", {found.moved} of which differ between the sides," if still else ""
        alpha = 1 - found.level
        of = f", and {figure(alpha)} is asked for" if few and alpha < USUAL - TINY else ""
        least = f"the smallest p{others} is {figure(least_p)}{of}"
        if found.scope == "population":
            what = "" if found.families is None else " families"
            needs = f" ({FEWEST}{what} are needed)" if units < FEWEST else ""
            least = f"with {self._evals()}{still_alike} {least}{needs}"
            return f"Nothing can be claimed beyond these evals: {least}"
        if not found.sufficient:
            return f"{self.figures()}: no noise can be seen without two runs of an eval on a side"
        return f"{self.figures()}; with {self._runs()}{still_alike} {least}"

    def outlook(self) -> str:
        """What could have been found, and what more evals or runs would make of it."""
        found = self.found
        if found.mde is None:
            return ""
        more = "".join(
            f", {self.amount(value)} with twice the {what}"
            for what, value in (("evals", found.mde_twice_evals), ("runs", found.mde_twice_runs))
            if value is not None
        )
        return f" Smallest detectable effect: {self.amount(found.mde)}{more}."

    def amount(self, value: float) -> str:
        """A size with its unit."""
        return figure(value * self.factor) + self.unit

    def _interval(self) -> str:
        found = self.found
        if found.low is not None and found.high is not None:
            near = 2 * BESIDE * abs(self.estimate)  # an end that only leaves out 0
            low, high = (0.0 if abs(end) <= near else end for end in (found.low, found.high))
            return f" ({self._signed(low)} to {self._signed(high)})"
        if not found.sufficient:
            return ""
        if found.scope == "suite":
            return f" (no run noise was seen in {self._runs()})"
        return " (as much on every eval)"

    def _signed(self, value: float) -> str:
        return signed(value * self.factor)

    def _evals(self) -> str:
        families = self.found.families
        of = "" if families is None else f" in {families} famil{'y' if families == 1 else 'ies'}"
        return count(self.found.n_evals, "eval") + of

    def _runs(self) -> str:
        """Evals × runs a side where every eval could have as many, else both sides' runs."""
        n, (runs, other) = self.found.n_evals, self.found.runs
        if runs != other or runs % n:
            return f"{runs} and {other} runs"
        return f"{runs} runs a side" if n == 1 else f"{n} × {runs // n} runs a side"


DECIDED = ("helps", "hurts", "no worthwhile difference")
ERRORS_DECIDE = "unclear: errors decide"
APART = 7
"""Days between the sides' runs from which they may have met another world."""
CHANCE = 1.5
"""So many runs more that a gate took on one side say nothing."""
JUDGED = ("pass_rate", "score", "overall_efficiency", "passed", "failed")
"""Metrics, besides those of a rubric, in which a judge may have a say."""

SETTLED = ("low", "high", "p", "p_adjusted")
"""What is of both verdicts where errors decide: an interval that holds either, the larger p."""

Row = Mapping[str, Any]


def of_rubric(metric: str) -> bool:
    """Whether only runs that passed the gate have the metric.

    >>> of_rubric("rubric:clarity"), of_rubric("rubric_normalized"), of_rubric("pass_rate")
    (True, True, False)
    """
    return metric.startswith((RUBRIC, "rubric_"))


def is_rate(metric: str) -> bool:
    """Whether a run that errored can be counted as a failure: 0 of what could be reached."""
    return UNITS.get(metric) == "rate"


def without_gated(paired: pl.DataFrame, runs: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """`pairs` of which rubric metrics keep only evals whose runs all passed the gate.

    That is where the gate took unequal parts of the sides: a skill that lifts bad outputs over
    the gate has them judged, and looks worse for it. `keys` tell comparisons apart.
    """
    import polars as pl

    if paired.is_empty() or not any(map(of_rubric, paired["metric"].unique())):
        return paired
    gated = (pl.col("gate_passed") == False).fill_null(value=False)  # noqa: E712  nulls stay
    taken = (
        by_model(runs)
        .group_by(*keys, *EVAL, "configuration")
        .agg(gated.sum().alias("taken"), pl.len().alias("of"))
    )
    both, sides = paired, ("configuration", "baseline")
    for side in sides:
        named = taken.rename({"configuration": side, "taken": f"taken_{side}", "of": f"of_{side}"})
        both = both.join(named, on=[*keys, *EVAL, side], how="left", nulls_equal=True)
    counts = [f"{what}_{side}" for what in ("taken", "of") for side in sides]
    both = both.with_columns(pl.col(counts).fill_null(0))
    comparison = [*keys, "configuration", "baseline", "metric"]
    taken_, of = (
        [pl.col(f"{what}_{side}").sum().over(comparison) for side in sides]
        for what in ("taken", "of")
    )
    unequal = _unequal(taken_, of, pl.min_horizontal(of))
    metric = pl.col("metric")
    rubric = metric.str.starts_with(RUBRIC) | metric.str.starts_with("rubric_")
    lost = rubric & unequal & (pl.col("taken_configuration") + pl.col("taken_baseline") > 0)
    text = pl.format(
        "the gate took {} of {} runs of {} and {} of {} of {}",
        *("taken_configuration", "of_configuration", "configuration"),
        *("taken_baseline", "of_baseline", "baseline"),
    )
    return both.with_columns(
        pl.when(~lost).then("estimate").alias("estimate"),
        pl.coalesce("unpaired", pl.when(lost).then(text)).alias("unpaired"),
    ).drop(counts)


def _unequal(taken: Sequence[Any], of: Sequence[Any], fewer: Any) -> Any:
    """Whether a gate took unequal parts; a single run more may be chance."""
    return abs(taken[0] / of[0] - taken[1] / of[1]) * fewer > CHANCE


def facts_of(runs: pl.DataFrame, keys: Sequence[str]) -> dict[tuple[Any, ...], Row]:
    """What each side was run and judged by, and when: by `keys` and configuration.

    `several` is whether a group has rows of several models.
    """
    import polars as pl

    when = pl.col("started_at").str.to_datetime(time_zone="UTC", strict=False)
    kinds = ("judge_model", *MODEL)
    known = by_model(runs).with_columns(runs[name].alias(f"own_{name}") for name in kinds)
    known = known.with_columns((pl.struct(MODEL).n_unique().over(GROUP) > 1).alias("several"))
    sides = known.group_by(*keys, "configuration").agg(
        *(pl.col(f"own_{name}").drop_nulls().unique().sort() for name in kinds),
        pl.col("several").first(),
        when.dt.epoch("s").median().alias("when"),
        (pl.col("gate_passed") == False).sum().alias("gated"),  # noqa: E712
        pl.len().alias("n"),
    )
    by = [*keys, "configuration"]
    return {tuple(row[name] for name in by): row for row in sides.iter_rows(named=True)}


def warnings(row: Row, sides: Sequence[Row], *, iterations: bool = False) -> tuple[list[str], bool]:
    """What may turn the verdict of a row of `deltas`, in sentences; whether there is none at all.

    There is none where different judges judged the sides, which are two yardsticks. `sides` are
    the facts of the two. Of `iterations` nothing is said of the days between them: that is how
    they come about.
    """
    names = [brief(row[side]) for side in ("configuration", "baseline")]
    notes = list(_errors(row, names))
    judged = of_rubric(row["metric"]) or row["metric"] in JUDGED
    judges = [list(side.get("own_judge_model", ())) for side in sides]
    none = judged and all(judges) and not set(judges[0]) & set(judges[1])
    if judged and all(judges) and set(judges[0]) != set(judges[1]):
        notes.append(
            f"{_who(names, judges, 'judged by')}: two yardsticks. Judge both sides by the same "
            + ("model before anything is claimed." if none else "model.")
        )
    for name, did in (("executor_model", "run by"), ("harness", "run in")):
        own = [list(side.get(f"own_{name}", ())) for side in sides]
        if all(own) and max(map(len, own)) == 1 and own[0] != own[1]:
            notes.append(f"{_who(names, own, did)}: what differs is not the skill alone.")
    times = [when for side in sides if (when := side.get("when")) is not None]
    if not iterations and len(times) == 2 and (days := abs(times[0] - times[1]) / 86_400) > APART:
        notes.append(f"The sides were run {days:.0f} days apart: more than the skill may differ.")
    if of_rubric(row["metric"]):
        parts = [(side.get("gated", 0), side.get("n", 0)) for side in sides]
        gated, of = zip(*parts, strict=True)
        if all(of) and gated[0] * of[1] != gated[1] * of[0]:
            unequal = _unequal(gated, of, min(of))
            took = [
                f"{gated} of {n} runs of {who}"
                for (gated, n), who in zip(parts, names, strict=True)
            ]
            notes.append(
                f"The gate took {' and '.join(took)}, which were not judged"
                + (": this is about the evals whose runs all passed it." if unequal else ".")
            )
    return notes, none


def _errors(row: Row, names: Sequence[str]) -> Iterable[str]:
    lost = row["n_errored"], row["n_errored_baseline"]
    whole = lost[0] + row["n_runs"], lost[1] + row["n_runs_baseline"]
    if not any(lost) or lost[0] * whole[1] == lost[1] * whole[0]:
        return
    errors = [f"{count(n, 'run')} of {who}" for n, who in zip(lost, names, strict=True) if n]
    yield f"Errored, and so in no figure here: {' and '.join(errors)}."


def _who(names: Sequence[str], models: Sequence[Sequence[str]], what: str) -> str:
    parts = [
        f"{who} was {what} {some([brief(model) for model in own])}"
        for who, own in zip(names, models, strict=True)
    ]
    return ", ".join(parts)


def with_errors(values: pl.DataFrame) -> pl.DataFrame:
    """The values with runs that errored as failures: 0, of metrics that are rates."""
    import polars as pl

    rates = [name for name in values["metric"].unique() if is_rate(name)]
    failed = (
        (pl.col("status") == "errored").fill_null(value=False)
        & pl.col("value").is_null()
        & pl.col("metric").is_in(rates)
    )
    return values.with_columns(pl.when(failed).then(0.0).otherwise("value").alias("value"))


def strata(paired: pl.DataFrame) -> dict[tuple[Any, ...], list[str]]:
    """What is averaged by comparison (GROUP, sides, metric), in sentences; of `pooled` alone."""
    if "models" not in paired.columns:
        return {}
    by = [*GROUP, "configuration", "baseline", "metric"]
    texts: dict[tuple[Any, ...], list[str]] = {}
    for *key, models, left_out in paired.select(*by, "models", "left_out").unique(by).iter_rows():
        sentences = texts.setdefault(tuple(key), [])
        if len(models) > 1:
            named = "; ".join(map(brief, models))
            sentences.append(f"The mean over {len(models)} models, each as much: {named}.")
        if left_out:
            sentences.append(f"Without a pair, and so left out: {'; '.join(map(brief, left_out))}.")
    return texts


def settle(
    row: Row, counted: Row | None, warnings: Sequence[str], *, none: bool, whose: bool
) -> dict[str, Any]:
    """The verdict and its reason with what may turn it.

    Args:
        row: a row of `deltas`.
        counted: the same with errors as failures; None where there are none.
        warnings: the warnings.
        none: whether nothing can be claimed.
        whose: whether others of the same comparison are of another model.
    """
    word, reason = row["verdict"], row["reason"]
    other = None if counted is None else counted["verdict"]
    settled = {name: row[name] for name in SETTLED if name in row}
    if none:
        word = None
    elif counted is not None and other != word and {word, other} & set(DECIDED):
        reason = (
            f"Errors decide: without the runs that errored {_small(reason)} Counted as failures: "
            f"{counted['reason']}"
        )
        word = ERRORS_DECIDE
        ends = [row["low"], row["high"], counted["low"], counted["high"], 0.0]
        known = None not in ends
        settled |= {"low": min(ends) if known else None, "high": max(ends) if known else None}
        settled |= {
            name: max((p for p in (row[name], counted[name]) if p is not None), default=None)
            for name in SETTLED[2:]
            if name in row
        }
    if whose:
        reason = f"{brief(model_name(row), 80)}: {_small(reason)}"
    return {
        **settled,
        "verdict": word,
        "reason": " ".join([reason, *warnings]),
        "warnings": list(warnings),
        "verdict_with_errors": other,
        "estimate_with_errors": None if counted is None else counted["estimate"],
    }


def _small(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:] if sentence[1:2].islower() else sentence
