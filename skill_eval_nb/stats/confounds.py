"""What may turn a verdict, and is said in the same breath."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from skill_eval_nb.text import clip, count, format_p, in_quotes, lower_first, some, with_sign

from .checks import CHECKED, COUNTED, mark_unpaired
from .comparison import Scope, find_interaction
from .pairing import (
    Pairs,
    Versus,
    add_eval_columns,
    choose_baseline,
    find_batches,
    propose_families,
)
from .values import (
    ENDS,
    EVAL,
    GROUP,
    ITERATION,
    MODEL,
    RUBRIC,
    SIDES,
    by_model,
    is_of_several_models,
    is_stand_in,
    is_table,
    join_sides,
    model_name,
    runs_of,
    unit_of,
)
from .verdict import ADDITIONS, Row, in_words

if TYPE_CHECKING:
    import polars as pl


DECIDED = ("helps", "hurts", "no worthwhile difference")
TOO_FEW = ("too few runs", "too few evals")
ERRORS_DECIDE = "unclear: errors decide"
APART = 7
"""Days between the sides' runs from which they may have met another world."""
DAY = 86_400
"""Seconds."""
BLOCK = 6
"""Hours between the last run of a side and the first of the other that make them two blocks."""
FEW = 3
"""Judgings of a side below which it is chance which side was judged first."""
CHANCE = 1.5
"""So many runs more that a gate took on one side say nothing."""
SETTLED = ("low", "high", "p", "p_adjusted")
"""What is of both verdicts where errors decide: an interval that holds either, the larger p."""


VERDICTS = ("verdict", "verdict_with_errors")
OF_STAND_IN = "No verdict: these runs come from the stand-in, which is not a model."
"""What the reason of its figures begins with."""
OFFLINE = (
    "The stand-in is not a model: it works offline, by rules and a seed. These figures show what a "
    "benchmark looks like, and say nothing about any model or skill."
)
"""What stands above its figures."""


def is_gated(metric: str) -> bool:
    """Whether only runs that passed the gate have the metric.

    >>> is_gated("rubric:clarity"), is_gated("rubric_normalized"), is_gated("pass_rate")
    (True, True, False)
    """
    return metric.startswith((RUBRIC, "rubric_"))


def is_judged(metric: str) -> bool:
    """Whether a judge may have a say in the metric."""
    return is_gated(metric) or metric in COUNTED


def is_rate(metric: str) -> bool:
    """Whether a run that errored can be counted as a failure: 0 of what could be reached."""
    return unit_of(metric) == "rate"


def drop_gated(paired: pl.DataFrame, runs: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """`pairs` of which rubric metrics keep only evals whose runs all passed the gate.

    That is where the gate took unequal parts of the sides: a skill that lifts bad outputs over
    the gate has them judged, and looks worse for it. `keys` tell comparisons apart.
    """
    import polars as pl

    if paired.is_empty() or not any(map(is_gated, paired["metric"].unique())):
        return paired
    gated = (pl.col("gate_passed") == False).fill_null(value=False)  # noqa: E712  nulls stay
    own = by_model(runs).group_by(*keys, *EVAL, "configuration").agg(taken=gated.sum(), of=pl.len())
    counts = [[f"{what}{end}" for end in ENDS] for what in ("taken", "of")]
    both = join_sides(paired, own, [*keys, *EVAL])
    both = both.with_columns(pl.col(*counts[0], *counts[1]).fill_null(0))
    taken, of = ([pl.col(n).sum().over(*keys, *SIDES, "metric") for n in names] for names in counts)
    rubric = pl.col("metric").is_in([name for name in both["metric"].unique() if is_gated(name)])
    unequal = _took_unequal_parts(taken, of, pl.min_horizontal(of))
    parts = [part for three in zip(*counts, SIDES, strict=True) for part in three]
    why = pl.format("the gate stopped {} of {} runs of {} and {} of {} of {}", *parts)
    lost = rubric & unequal & (pl.sum_horizontal(counts[0]) > 0)
    return mark_unpaired(both, lost, why).drop(*counts[0], *counts[1])


def _took_unequal_parts(taken: Sequence[Any], of: Sequence[Any], fewer: Any) -> Any:
    """Whether a gate took unequal parts; a single run more may be chance."""
    return abs(taken[0] / of[0] - taken[1] / of[1]) * fewer > CHANCE


Facts = Mapping[tuple[Any, ...], Row]
"""What is known of each side, by group and configuration."""


def facts_of(runs: pl.DataFrame, keys: Sequence[str]) -> Facts:
    """What each side was run and judged by, and when: by `keys` and configuration.

    `several` is whether a group has rows of several models; times are in seconds.
    """
    import polars as pl

    when, judged = (
        pl.col(name).str.to_datetime(time_zone="UTC", strict=False).dt.epoch("s")
        for name in ("started_at", "judged_at")
    )
    kinds = ("judge_model", *MODEL)
    known = by_model(runs.with_columns(pl.col(name).alias(f"own_{name}") for name in kinds))
    sides = known.with_columns(several=is_of_several_models()).group_by(*keys, "configuration")
    facts = sides.agg(
        *(pl.col(f"own_{name}").drop_nulls().unique().sort() for name in kinds),
        is_stand_in(*(f"own_{name}" for name in MODEL)).any().alias("offline"),
        is_stand_in("own_judge_model").any().alias("judged_offline"),
        pl.col("several").first(),
        when.median().alias("when"),
        when.min().alias("first"),
        when.max().alias("last"),
        judged.drop_nulls().sort().alias("judged"),
        (pl.col("gate_passed") == False).sum().alias("gated"),  # noqa: E712
        pl.len().alias("n"),
        price_usd=pl.col("cost_usd").cast(pl.Float64).mean(),
        seconds=pl.col("time_seconds").cast(pl.Float64).mean(),
    )
    return {tuple(row.values())[: len(keys) + 1]: row for row in facts.iter_rows(named=True)}


class Compared(NamedTuple):
    """A row of `deltas`, and what is known of the sides that it compares.

    Attributes:
        row: the row, its iteration and configuration in each other's place where iterations are
            compared.
        known: what is known of all.
        sides: the two sides as `facts_of` has them; empty if a side has no run.
        checks: of what checks decide, the evals whose sides were graded on others, a row each.
    """

    row: Row
    known: Known
    sides: Sequence[Row]
    checks: Sequence[Row]

    @property
    def suite(self) -> tuple[str, str]:
        """The workspace and the skill."""
        return self.row["workspace"], self.row["skill"]

    @property
    def names(self) -> list[str]:
        """The sides as sentences name them."""
        return [clip(self.row[side]) for side in ("configuration", "baseline")]

    def stated_by_side(self, name: str) -> list[list[Any]]:
        """The values that each side states for a name, such as `judge_model`."""
        return [list(side.get(f"own_{name}", ())) for side in self.sides]


def name_errors(of: Compared) -> str | None:
    """Runs that errored, if they are not the same part of both sides."""
    row = of.row
    lost = row["n_errored"], row["n_errored_baseline"]
    whole = lost[0] + row["n_runs"], lost[1] + row["n_runs_baseline"]
    if not any(lost) or lost[0] * whole[1] == lost[1] * whole[0]:
        return None
    errors = [f"{count(n, 'run')} of {who}" for n, who in zip(lost, of.names, strict=True) if n]
    return f"Left out because they errored: {' and '.join(errors)}."


def name_judges(of: Compared) -> str | None:
    """Sides that were not judged by the same models, of what a judge has a say in."""
    judges = of.stated_by_side("judge_model")
    if not is_judged(of.row["metric"]) or not all(judges) or judges[0] == judges[1]:
        return None
    claim = " before claiming anything" if have_no_judge_in_common(of) else ""
    who = _say_models(of.names, judges, "judged by")
    return f"{who}: scores are not comparable. Judge both sides with one model{claim}."


def have_no_judge_in_common(of: Compared) -> bool:
    """Whether other models alone judged either side."""
    judges = of.stated_by_side("judge_model")
    return is_judged(of.row["metric"]) and all(judges) and not set(judges[0]) & set(judges[1])


def were_run_alike(sides: Sequence[Row], *, sessions: bool) -> bool:
    """Whether one judge, model and harness, and one week, are known or taken to be both sides'.

    Of `sessions`, which stand in folders of their own, only time stamps tell.
    """
    if not all(sides):
        return False
    own = [[side[f"own_{name}"] for name in ("judge_model", *MODEL)] for side in sides]
    if own[0] != own[1] or max(map(len, own[0])) > 1:
        return False
    when = [side["when"] for side in sides]
    if None in when:
        return when == [None, None] and not sessions
    return abs(when[0] - when[1]) <= APART * DAY


def name_checks(of: Compared) -> str | None:
    """Evals whose sides were graded on other checks."""
    if not of.checks:
        return None
    evals = [
        f"{in_quotes(row['eval_name'])} ({row['n']} and {row['n_baseline']})" for row in of.checks
    ]
    if of.known.asked.other_checks:
        after = "These evals still count."
    elif have_no_checks_in_common(of):
        after = "No eval is left, so there is no verdict."
    else:
        after = "These evals are left out."
    return f"The sides were graded on different checks in {some(evals)}. {after}"


def have_no_checks_in_common(of: Compared) -> bool:
    """Whether evals with other checks on either side are all that there is to compare."""
    left_out = {row["eval_name"] for row in of.checks} & set(of.row["unpaired"])
    return bool(of.checks) and not of.known.asked.other_checks and not left_out


def name_gate(of: Compared) -> str | None:
    """What a gate took of runs that are judged, if that is not the same part of both sides."""
    if not is_gated(of.row["metric"]):
        return None
    gated, whole = ([side.get(name, 0) for side in of.sides] for name in ("gated", "n"))
    if not all(whole) or gated[0] * whole[1] == gated[1] * whole[0]:
        return None
    parts = zip(gated, whole, of.names, strict=True)
    took = " and ".join(f"{taken} of {n} runs of {who}" for taken, n, who in parts)
    unequal = _took_unequal_parts(gated, whole, min(whole))
    about = ": this covers only evals whose runs all passed it" if unequal else ""
    return f"The gate stopped {took}, which were not judged{about}."


def name_models(of: Compared) -> str | None:
    """Sides that other models ran, or that ran in other harnesses."""
    parts = [
        _say_models(of.names, own, did)
        for name, did in (("executor_model", "run by"), ("harness", "run in"))
        if all(own := of.stated_by_side(name)) and max(map(len, own)) == 1 and own[0] != own[1]
    ]
    return f"{'; '.join(parts)}: the skill is not the only difference." if parts else None


SESSIONS = "Anything else that changed between the iterations counts as the skill's effect"


def name_sessions(of: Compared) -> str | None:
    """Two iterations, which are two sessions; or the baseline's change that was taken off."""
    if not of.known.iterations:
        return None
    who, other = of.row["iteration"], of.known.asked.subtracted_side
    if other is not None:
        both = "what changed for both cancels out"
        return f"This is the change of {clip(who)} minus that of {clip(other)}: {both}."
    baseline = of.known.baselines.get(of.suite)
    if baseline in (None, who):
        return f"{SESSIONS}."
    return f'{SESSIONS}: `baseline="{baseline}"` subtracts what also changed without it.'


def name_days(of: Compared) -> str | None:
    """Sides that were run days apart, or of which nothing says when they were run."""
    if of.known.iterations or not all(of.sides):
        return None
    stamped = [
        who for who, side in zip(of.names, of.sides, strict=True) if side["when"] is not None
    ]
    if len(stamped) == 1:
        return f"Only the runs of {stamped[0]} say when they ran."
    if not stamped:
        claims = not is_table(of.known.asked.data) and of.row["verdict"] in DECIDED
        return "No run says when it ran: the sides may be days apart." if claims else None
    days = abs(of.sides[0]["when"] - of.sides[1]["when"]) / DAY
    early, late = sorted(of.sides, key=lambda side: side["first"])
    hours = (late["first"] - early["last"]) / 3600
    if days <= APART and hours < BLOCK:
        return None
    apart = f"{days:.0f} days" if days > APART else f"{hours:.0f} hours"
    return f"The sides ran {apart} apart: what changed in between counts as the skill's effect."


def name_judgings(of: Compared) -> str | None:
    """Sides that were judged one after the other, by a judge that may have changed meanwhile."""
    times = [side.get("judged", []) for side in of.sides]
    if not is_judged(of.row["metric"]) or min(map(len, times)) < FEW:
        return None
    early, late = sorted(zip(times, of.names, strict=True))
    if early[0][-1] >= late[0][0]:
        return None
    apart = f"All judgings of {early[1]} were made before those of {late[1]}"
    return f"{apart}: if the judge changed meanwhile, that counts as the skill's effect."


def name_families(of: Compared) -> str | None:
    """Evals that seem to belong together, of a claim about tasks like these."""
    claims = of.row["scope"] == "population" and of.row["verdict"] in DECIDED
    iteration = of.row["configuration" if of.known.iterations else "iteration"]
    found = of.known.families.get((*of.suite, iteration))
    return found[0] if claims and found else None


def name_batches(of: Compared) -> str | None:
    """What to say of iterations with no eval in common; None if there are none."""
    batches = of.known.batches.get(of.suite)
    if not batches:
        return None
    names = some(map(clip, batches))
    one = 'in Python `pool="iteration"` gives one verdict over all their evals'
    return f"{names} have no eval in common, so each has its own verdict; {one}."


CONFOUNDS: tuple[Callable[[Compared], str | None], ...] = (
    *(name_errors, name_judges, name_checks, name_models, name_gate),
    *(name_sessions, name_days, name_judgings, name_families, name_batches),
)
"""What may turn a verdict, what matters most first; each gives its sentence, if there is one."""


def find_confounds(compared: Compared) -> tuple[list[str], bool]:
    """What may change the verdict of a row, in sentences; whether it has no verdict for that."""
    said = [sentence for name in CONFOUNDS if (sentence := name(compared)) is not None]
    return said, have_no_judge_in_common(compared) or have_no_checks_in_common(compared)


def _say_models(names: Sequence[str], models: Sequence[Sequence[str]], what: str) -> str:
    parts = [
        f"{who} was {what} {some([clip(model) for model in own])}"
        for who, own in zip(names, models, strict=True)
    ]
    return ", ".join(parts)


def errors_as_failures(values: pl.DataFrame) -> pl.DataFrame:
    """The values with runs that errored as failures: 0, of metrics that are rates."""
    import polars as pl

    rates = [name for name in values["metric"].unique() if is_rate(name)]
    failed = (
        (pl.col("status") == "errored").fill_null(value=False)
        & pl.col("value").is_null()
        & pl.col("metric").is_in(rates)
    )
    return values.with_columns(pl.when(failed).then(0.0).otherwise("value").alias("value"))


def describe_strata(
    paired: pl.DataFrame, scope: Scope, level: float
) -> dict[tuple[Any, ...], list[str]]:
    """What is averaged by ITERATION, sides and metric, in sentences; of `pooled` alone."""
    if "models" not in paired.columns:
        return {}
    by = [*ITERATION, "configuration", "baseline", "metric"]
    texts: dict[tuple[Any, ...], list[str]] = {}
    for key, own in paired.group_by(by, maintain_order=True):
        found = find_interaction(own, scope, level)
        sentences = texts.setdefault(key, [])
        if len(found.models) > 1 and found.n_evals:
            named = "; ".join(
                f"{clip(name)} {in_words(own, str(key[-1]), with_sign)}"
                for name, own in zip(found.models, found.estimates, strict=True)
            )
            sentences.append(f"Mean of {len(found.models)} models, equally weighted: {named}.")
            if min(found.estimates) < 0 < max(found.estimates):
                sentences.append("Their signs differ: the mean describes none of them.")
            if found.differs and found.p is not None:
                differs = f"The effect differs between them (p {format_p(found.p)})"
                sentences.append(f"{differs}: look at each model separately.")
        if found.left_out:
            left_out = "; ".join(map(clip, found.left_out))
            sentences.append(f"Left out for lack of a pair: {left_out}.")
    return texts


def mark_stand_in(row: Row, sides: Sequence[Row]) -> Row:
    """A row of `deltas` with `stand_in`: whether the stand-in ran a side, or judged what is judged.

    Then there is no verdict, and the reason begins with why.
    """
    judged = is_judged(row["metric"])
    made = any(side["offline"] or (judged and side["judged_offline"]) for side in sides if side)
    if not made:
        return {**row, "stand_in": False}
    none = {name: None for name in (*VERDICTS, *ADDITIONS) if name in row}
    warnings = {"warnings": [OF_STAND_IN, *row["warnings"]]} if "warnings" in row else {}
    reason = f"{OF_STAND_IN} {row['reason']}"
    return {**row, **none, **warnings, "reason": reason, "stand_in": True}


def settle_verdict(
    row: Row, counted: Row | None, warnings: Sequence[str], *, none: bool, whose: bool
) -> dict[str, Any]:
    """The verdict and its reason, once errors and warnings are taken into account.

    Args:
        row: a row of `deltas`.
        counted: the same with errors as failures; None if there are none.
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
            f"Without the runs that errored: {lower_first(reason)} "
            f"Counted as failures: {counted['reason']}"
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
        reason = f"{clip(model_name(row), 80)}: {lower_first(reason)}"
    return {
        **settled,
        "verdict": word,
        "reason": " ".join([reason, *warnings]),
        "warnings": list(warnings),
        "verdict_with_errors": other,
        "estimate_with_errors": None if counted is None else counted["estimate"],
    }


class DeltaQuestion(NamedTuple):
    """What is asked of every comparison alike, as `deltas` has it.

    `worth` is None if each metric has its own.
    """

    data: Any
    baseline: str | None = None
    versus: Versus | None = None
    scope: Scope = "suite"
    worth: float | None = None
    level: float = 0.95
    pool: str | None = None
    weights: bool = False
    cluster: str | Mapping[str, str] | None = None
    other_checks: bool = False

    @property
    def keys(self) -> list[str]:
        """What is never compared across."""
        return ITERATION if self.pool == "model" else GROUP

    @property
    def subtracted_side(self) -> str | None:
        """The baseline whose change between two iterations is subtracted, if any."""
        return self.baseline if self.versus else None

    @property
    def differences(self) -> int:
        """How many differences a figure is made of: two if one is taken from another."""
        return 1 if self.subtracted_side is None else 2

    def add_weights(self, paired: pl.DataFrame) -> pl.DataFrame:
        """`paired` with the weight and the family of each eval, where they are asked for."""
        return add_eval_columns(paired, self.data, weights=self.weights, cluster=self.cluster)


class Known:
    """What is known about the sides of all rows: it tells what may change their verdicts.

    Attributes:
        asked: what is asked of them.
        iterations: whether the sides are two iterations.
        batches: by suite, iterations that have no eval in common.
        families: by iteration, evals that seem to belong together, if nothing says so.
        baselines: by suite, the baseline that both of two iterations have.
        facts: what is known of each side.
    """

    def __init__(self, asked: DeltaQuestion, pairs: Pairs) -> None:
        runs, versus = runs_of(asked.data), asked.versus
        self.asked, self.iterations = asked, pairs.iterations
        self.batches = find_batches(asked.data)
        self.families = {} if asked.cluster is not None else propose_families(asked.data)
        self.baselines = _shared_baselines(runs, versus) if self.iterations and versus else {}
        self.facts = facts_of(pairs.swap_if_iterations(runs), asked.keys)
        self._others = pairs.others.to_dicts()

    def facts_about(self, row: Row) -> Compared:
        """A row with what is known about the sides that it compares."""
        keys = self.asked.keys
        group = tuple(row[name] for name in keys)
        sides = [self.facts.get((*group, row[side]), {}) for side in SIDES]
        others = [
            other
            for other in self._others
            if row["metric"] in CHECKED
            and all(other[name] == row[name] for name in (*keys, *SIDES) if name in other)
        ]
        return Compared(row, self, sides, others)


def _shared_baselines(runs: pl.DataFrame, versus: Versus) -> dict[tuple[str, str], str | None]:
    """The baseline that both iterations of a suite have, None if they have none."""
    import polars as pl

    sides = runs.filter(pl.col("iteration").is_in(list(versus)))
    by = ["workspace", "skill", "configuration"]
    both = sides.group_by(by).agg(pl.col("iteration").n_unique().alias("n")).filter(n=2)
    names = both.group_by(by[:2]).agg("configuration")
    return {tuple(suite): choose_baseline(own)[0] for *suite, own in names.iter_rows()}
