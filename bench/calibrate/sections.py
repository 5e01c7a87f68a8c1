"""The tables of the page, each with what it shows and what is wanted."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from skill_eval_nb.stats.looks import spend_alpha
from skill_eval_nb.stats.second_opinion import SURVIVES, UNTOLD

from .bounds import AT_LEAST, CLAIMS, COVERAGE, POWER, WARNED, Range, outside
from .claims import EFFECT
from .factors import ABOUT as MODELS
from .factors import CLAIMS as EITHER
from .factors import DIFFERS, TRUE
from .gates import FAILS, FINDS, LOSS, UNSAID, Gated
from .harder import ABOUT
from .labelled import CORRECTED, JUDGE, RIGHT
from .looks import AGAIN, GAIN, LOOKS, ONE, PLANNED, RUNS
from .lookup import Found
from .markdown import NOTHING, by_n_and_k, percent, table
from .measure import BY_FAMILY, OURS, PEERS, THESE, Measured
from .pages import ALONE, LONGER, TOGETHER
from .peers import AT_MOST
from .scenarios import EFFECTS, FALSE, KS, METRICS, NS, SIZES
from .small import CHECKS, NEAR
from .triggers import PREFIXES, SCORES

COVERED = {
    "medium": "Plain evals, medium effect",
    "A/A": "Plain evals, no effect (A/A)",
    "ceiling": "Easy evals, an effect",
    "ceiling A/A": "Easy evals, no effect (A/A)",
    "one check": "Evals of one check, an effect",
    "one check A/A": "Evals of one check, no effect (A/A)",
}


def coverage(found: Found) -> Iterator[str]:
    """How many intervals hold what they are about."""
    yield f"""
## Coverage

How many of the 95 % intervals contain the true difference. Wanted: {COVERAGE}.
An interval for these evals needs two runs a side, one for tasks like these six evals. In
brackets, if any: data sets without an interval, because there was no noise to see.

An interval excludes 0 exactly when the exact test claims a difference. So if there is none (A/A),
it covers 0 in all data sets except those with a false verdict: in more than 97 % wherever exact
p-values are coarse, as with few evals, whole scores and single checks.

Over easy evals, true effects are skewed: most evals have little to gain, a few have much. An
interval over few such evals is too narrow, by t as well as by sign flips. With three runs per side
and few evals, the degrees of freedom are estimated from little data, and the interval for these
evals is too wide rather than too narrow.
"""
    for scenario, title in COVERED.items():
        columns = {
            f"{METRICS[metric]}, {who}": (metric, who)
            for metric in METRICS
            if found.has(scenario, metric)
            for who in OURS
        }

        def cell(n: int, runs: int, of: tuple[str, str], scenario: str = scenario) -> str:
            metric, who = of
            one = found.get(scenario, metric, n, runs)[who]
            if not one.exists:
                return NOTHING
            none = f" ({percent(1 - one.exists)} none)" if one.exists < 1 else ""
            return percent(one.covers(who), COVERAGE) + none

        yield f"### {title}"
        yield by_n_and_k(columns, cell)


def false_verdicts(found: Found) -> Iterator[str]:
    """How many verdicts see a difference where there is none."""
    yield f"""
## False verdicts

How many verdicts are `helps` or `hurts` although there is no difference. Wanted: {CLAIMS} (5 %,
and 1 % for the simulation). 0.0 means that `too few runs` or `too few evals` is the only
possible answer; other low figures come from coarse exact p-values.
"""

    def cell(n: int, runs: int, of: tuple[str, str, str]) -> str:
        scenario, metric, who = of
        return percent(found.get(scenario, metric, n, runs)[who].claims, CLAIMS)

    for metric, name in METRICS.items():
        columns = {
            f"{who}, {scenario}": (scenario, metric, who)
            for scenario in FALSE
            if found.has(scenario, metric)
            for who in OURS
            if (scenario, who) != ("A/A over tasks", THESE)
        }
        yield f"### {name.capitalize()}"
        yield by_n_and_k(columns, cell)


def power(found: Found) -> Iterator[str]:
    """How many verdicts find an effect."""
    yield """
## Power

How many verdicts are `helps` where the skill helps on average; in brackets those that say
`hurts`, if any: on few evals the true difference is now and then below 0, so most are right.
"""

    def cell(n: int, runs: int, of: tuple[str, str, str]) -> str:
        size, metric, who = of
        one = found.get(size, metric, n, runs)[who]
        hurts = f" ({percent(one.worse)} `hurts`)" if one.worse else ""
        return percent(one.better) + hurts

    for metric, name in METRICS.items():
        effects = dict(zip(SIZES, EFFECTS[metric], strict=True))
        columns = {
            f"{who}, {effects[size]:g}": (size, metric, who) for who in OURS for size in SIZES
        }
        yield f"### {name.capitalize()}"
        yield by_n_and_k(columns, cell)


def smallest(found: Found) -> Iterator[str]:
    """Whether the smallest detectable effect is detected."""
    yield f"""
## The smallest detectable effect

`mde` promises that an effect of its size is found in 80 of 100 data sets. `deltas` estimates it
from the noise of each data set, so it varies. Here the effect is what it would be if the
variances were known: on these evals for each data set from its own evals' run noise, on tasks
like these once for all. Next to it is the mean of what `deltas` printed. Wanted at n = 8,
K = 3: {POWER}; exact tests are a little less powerful than the t tests that the figure is about.
"""
    rows = [
        [METRICS[metric], who, str(n), str(runs), *_smallest(found, metric, who, n, runs)]
        for metric in METRICS
        for who in OURS
        for n in NS
        for runs in KS
        if found.get(f"smallest on {who}", metric, n, runs)
    ]
    yield table(["metric", "about", "n", "K", "effect", "mean `mde`", "`helps`"], rows, texts=2)


def _smallest(found: Found, metric: str, who: str, n: int, runs: int) -> list[str]:
    one = found.get(f"smallest on {who}", metric, n, runs)[who]
    wanted = POWER if (n, runs) == (8, 3) else None
    return [f"{one.truth:.3f}", f"{one.detectable:.3f}", percent(one.better, wanted)]


def others(found: Found) -> Iterator[str]:
    """Other methods on the same data."""
    absent = "" if found.answered("evalstats") else " Here it is **not installed**."
    yield f"""
## Beside other methods

On the same data:

- **pooled Welch**: Welch's t interval over runs, as if all were of one eval;
- **bootstrap**: the percentile bootstrap over evals, 2,000 resamplings;
- **t gate**: the paired t interval over evals, and a claim wherever it excludes 0;
- **evalstats**: the package of that name as it comes, told the scale; its claims are what it calls
  significant. It needs 15 evals; as it is slow, it is asked about {AT_MOST} data sets per cell,
  with at most three runs.{absent}
"""
    columns = {f"`deltas`, {who}": who for who in OURS} | {who: who for who in PEERS}
    for metric, name in METRICS.items():
        yield f"### Coverage, {name}"
        yield (
            "Plain evals, medium effect. The others do not say which difference they are about:\n"
            "first how many intervals hold that of these evals, then that of tasks like these."
        )

        def covers(n: int, runs: int, who: str, metric: str = metric) -> str:
            one = found.get("medium", metric, n, runs).get(who)
            return " / ".join(percent(share, COVERAGE) for share in _covers(one, who)) or NOTHING

        yield by_n_and_k(columns, covers)
    for metric, name in METRICS.items():
        yield f"### False verdicts, {name}"
        yield (
            "First under A/A, then under A/A over tasks, where a claim about these evals can be\n"
            "true and is not counted."
        )

        def claims(n: int, runs: int, who: str, metric: str = metric) -> str:
            names = FALSE[:1] if who == THESE else FALSE[:2]
            each = [found.get(name, metric, n, runs).get(who) for name in names]
            return " / ".join(percent(one.claims, CLAIMS) for one in each if one) or NOTHING

        yield by_n_and_k(columns, claims)


def harder(found: Found) -> Iterator[str]:
    """False verdicts where something else differs than the skill, or more than it."""
    listed = "\n".join(f"- **{world}**: {what};" for world, what in ABOUT.items())
    yield f"""
## Where more goes wrong

The skill makes no difference, and yet:

{listed[:-1]}.

How many verdicts are `helps` or `hurts`; in brackets those beside which nothing is said that may
turn them, such as errors on one side or the days between the sides. Wanted: {CLAIMS}, or a
warning beside {100 * WARNED:g} of 100 of them. The chance of a run lies around that of its eval by
a beta distribution; unless otherwise said there are three runs a side. *By family*, `deltas` is
told which evals belong together (`cluster=`); where nobody says so, no method can know. evalstats
is asked about pass rates alone, and only where every run is there.
"""
    methods = [*OURS, BY_FAMILY, *PEERS]
    rows = [
        [
            cell.world,
            METRICS[cell.metric],
            str(cell.n),
            *(_false(every.get(who)) for who in methods),
        ]
        for cell, every in found.harder.items()
    ]
    heads = [*(f"`deltas`, {who}" for who in methods[:3]), *PEERS]
    yield table(["world", "metric", "n", *heads], rows, texts=2)


def _false(one: Measured | None) -> str:
    if one is None:
        return NOTHING
    excused = one.unwarned <= (1 - WARNED) * one.claims
    text = percent(one.claims, None if excused else CLAIMS)
    said = outside(one.claims, CLAIMS) and one.unwarned < one.claims - 1e-9
    return f"{text} ({percent(one.unwarned)})" if said else text


def models(found: Found) -> Iterator[str]:
    """How often an effect is said to differ between models."""
    listed = "\n".join(f"- **{world}**: {what};" for world, what in MODELS.items())
    yield f"""
## Several models

`sen.stats.factors` says with which models the skill helps, and whether its effect differs between
them. Plain evals, unless said otherwise, and K runs a side with each model:

{listed[:-1]}.

*Differs* is how many say that the effect differs, *some model* how many say `helps` or `hurts` of
any. Wanted, where that is false: {CLAIMS}; where it is true, it stands in italics.
"""
    rows = []
    for cell, every in found.models.items():
        shown = []
        for name in (*DIFFERS.values(), *EITHER.values()):
            share, true = every[name], name in TRUE.get(cell.world, ())
            figure = percent(share, None if true else CLAIMS)
            shown.append(NOTHING if math.isnan(share) else f"*{figure}*" if true else figure)
        rows.append([cell.world, str(cell.models), str(cell.n), str(cell.runs), *shown])
    yield table(["world", "models", "n", "K", *DIFFERS.values(), *EITHER.values()], rows, texts=1)


def pages(found: Found) -> Iterator[str]:
    """How many pages of many metrics claim something false, and what that costs."""
    yield f"""
## Pages of many metrics

A report and the explorer show every metric, on these evals and on tasks like these. Here a page
has eight metrics and three rubric dimensions that hang together. *A/A* is how many pages say
`helps` or `hurts` anywhere though nothing differs; wanted: {CLAIMS}. *Longer* is how many say
that the skill uses more tokens where it makes runs {100 * math.expm1(LONGER):.0f} % longer, on
these evals. *Together* is how pages are made (`stats/overview.py`): the headline is held to
0.05, all others, adjusted together, to 0.01. *Each alone* is `deltas` for each metric by itself.
"""
    rows = [
        [
            str(cell.n),
            str(cell.runs),
            percent(every[TOGETHER], CLAIMS),
            percent(every[ALONE], CLAIMS),
            *(percent(found.pages[replace(cell, effect=LONGER)][how]) for how in (TOGETHER, ALONE)),
        ]
        for cell, every in found.pages.items()
        if not cell.effect
    ]
    heads = [f"{what}, {how}" for what in ("A/A", "longer") for how in (TOGETHER, ALONE)]
    yield table(["n", "K", *heads], rows)


def looks(found: Found) -> Iterator[str]:
    """How often planned looks claim something false, and what they find with how many runs."""
    at = ", ".join(map(str, LOOKS))
    yield f"""
## Planned looks

A job that is looked at after {at} runs a side (`looks=`), held to {_alphas()} there, and ends where
a look decides. *Planned* is how many data sets it says `helps` or `hurts` of, with the mean of the
runs a side that it makes. Beside it one look at {LOOKS[-1]} runs, and looking after each run from
the second on until something shows, at 0.05 each time. Where nothing differs (A/A) wanted:
{CLAIMS}; else the skill adds {100 * GAIN:g} pp in expectation.
"""
    rows = [
        [
            f"{cell.world.name}{'' if cell.effect else ' A/A'}",
            str(cell.n),
            percent(every[PLANNED], None if cell.effect else CLAIMS),
            f"{every[RUNS]:.1f}",
            percent(every[ONE], None if cell.effect else CLAIMS),
            percent(every[AGAIN], None if cell.effect else CLAIMS),
        ]
        for cell, every in found.looks.items()
    ]
    heads = ["evals", "n", PLANNED, "runs a side", ONE, AGAIN]
    yield table(heads, rows)


def _alphas() -> str:
    return ", ".join(f"{alpha:.3f}" for alpha in spend_alpha(LOOKS))


def small(found: Found) -> Iterator[str]:
    """What benchmarks run once lean to, and how often their next step decides."""
    yield f"""
## Benchmarks run once

n evals of {CHECKS[0]} to {CHECKS[1]} checks, each run once a side: no verdict is possible. *Up* and
*down* are how many lean so, by borrowed noise (`lean`); where nothing differs (A/A) they may not be
more than 5 % together. The checks of a run hang together as *correlation* says (0: not at all);
noise is borrowed as if by little, so that above .2 it is too small. *Runs* and *evals*: of those
whose difference is what it is in truth (to {100 * NEAR:g} pp), how many are decided once the runs
or the evals of `next_step` were added, where there are such. Wanted: 80 % and 70 %.
"""
    names = ("up", "down", "runs", "evals")
    rows = [
        [
            f"{100 * cell.effect:g} pp" if cell.effect else "A/A",
            str(cell.n),
            f"{cell.correlation:g}",
            *(NOTHING if math.isnan(every[name]) else percent(every[name]) for name in names),
        ]
        for cell, every in found.small.items()
    ]
    yield table(["effect", "n", "correlation", *names], rows)


def gates(found: Found) -> Iterator[str]:
    """How often a gate fails, and whether it says what it may have missed."""
    yield f"""
## The gate

How `sen.gate` ends on pass rates: *fails* is how many data sets it sees a regression in, *cannot
tell* how many end with 3; all others pass, and the gate says up to which loss it may have missed.
*Larger* is how many pass though the true loss is larger than that. Where nothing differs (A/A)
wanted: {FAILS}; where the skill loses {-100 * LOSS:g} pp, at n = 8 and K = 3: {FINDS}.
"""
    rows = [
        [
            f"loses {-100 * cell.effect:g} pp" if cell.effect else "A/A",
            str(cell.n),
            str(cell.runs),
            percent(every["fails"], _wanted_of(cell)),
            percent(every["cannot tell"]),
            percent(every[UNSAID], FAILS),
        ]
        for cell, every in found.gates.items()
    ]
    yield table(["the skill", "n", "K", "fails", "cannot tell", "larger"], rows, texts=1)


def _wanted_of(cell: Gated) -> Range | None:
    if not cell.effect:
        return FAILS
    return FINDS if (cell.n, cell.runs) == (8, 3) else None


def claims(found: Found) -> Iterator[str]:
    """What a second opinion says of claims that are what was seen."""
    yield f"""
## Second opinions

Each data set claims of its pass rates what was seen: the difference of its two means. How many
of these claims `second_opinion` says to survive, and of how many it says that it cannot be told.
Where nothing differs (A/A) every one that survives does so falsely; wanted: {CLAIMS}. Else the
skill adds {100 * EFFECT:g} pp in expectation.
"""
    rows = [
        [
            f"{100 * cell.effect:g} pp" if cell.effect else "A/A",
            str(cell.n),
            str(cell.runs),
            percent(every[SURVIVES], None if cell.effect else CLAIMS),
            percent(every[UNTOLD]),
        ]
        for cell, every in found.claims.items()
    ]
    yield table(["effect", "n", "K", SURVIVES, UNTOLD], rows, texts=1)


def triggers(found: Found) -> Iterator[str]:
    """How many intervals of trigger scores hold the truth."""
    yield f"""
## Trigger scores

How many of the 95 % intervals of `trigger_scores` hold the true score: n queries that should
trigger and n that should not, three runs of each, of which so many do what they should. Wanted:
at least {100 * AT_LEAST.low:g} %; the intervals are made as exact ones are, and so are wider than
need be. Beside them the percentile bootstrap over queries, of F1 by query.
"""
    names = [f"{what} {name}" for what in PREFIXES for name in SCORES]
    shown = [*names, "bootstrap f1"]
    rows = [
        [str(cell.n), f"{100 * cell.right:g}", *(percent(every[name], AT_LEAST) for name in shown)]
        for cell, every in found.triggers.items()
    ]
    heads = [name.replace("by query ", "").replace("f1", "F1") for name in names]
    yield table(["n", "right", *heads, "bootstrap, F1"], rows)


def labelled(found: Found) -> Iterator[str]:
    """How many answers hold where the judge is kinder to one side, and labels correct it."""
    (kind, strict), (passed, failed) = RIGHT
    yield f"""
## A judge corrected by labels

On the skill's side the judge passes {100 * kind:g} of 100 checks that pass, and fails
{100 * strict:g} of 100 that fail; on the other {100 * passed:g} and {100 * failed:g}. A human
labelled so many checks of each side of an eval, drawn at random, and `deltas` is asked with
`corrected=True` and without. First how many intervals hold the true difference where the skill
helps on average ({EFFECTS["pass_rate"][1]:g} in pass rate; wanted: {COVERAGE}), then how many
verdicts are `helps` or `hurts` where it makes no difference (wanted: {CLAIMS}).
"""
    methods = [f"{how}, {who}" for how in (JUDGE, CORRECTED) for who in OURS]
    rows = []
    for cell, helped in found.labelled.items():
        if cell.helps:
            alike = found.labelled[replace(cell, helps=False)]
            texts = [_corrected(helped.get(who), alike.get(who), who) for who in methods]
            rows.append([str(cell.n), str(cell.runs), str(cell.labels), *texts])
    yield table(["n", "K", "labels", *methods], rows)


def _corrected(helped: Measured | None, alike: Measured | None, who: str) -> str:
    if helped is None or alike is None or not helped.exists:
        return NOTHING
    covers = percent(helped.covers(who.partition(", ")[2]), COVERAGE)
    return f"{covers} / {percent(alike.claims, CLAIMS)}"


def _covers(one: Measured | None, who: str) -> list[float]:
    """Coverage of what our interval is about; of both where a peer does not say."""
    if one is None or not one.exists:
        return []
    return [one.covers(who)] if who in OURS else [one.covers_these, one.covers_tasks]
