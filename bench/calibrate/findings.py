"""The findings in sentences: each is worked out from the figures, none is written by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isnan
from statistics import mean
from typing import NamedTuple

from skill_eval_nb.stats.second_opinion import SURVIVES

from .bounds import AT_LEAST, CLAIMS, COVERAGE, POWER, WARNED, noise, outside
from .claims import EFFECT
from .factors import CLAIMS as EITHER
from .factors import DIFFERS, LESS, TRUE
from .gates import FAILS, FINDS, LOSS, UNSAID, Gated
from .harder import ABOUT
from .labelled import CORRECTED, JUDGE
from .looks import AGAIN, LOOKS, ONE, PLANNED, RUNS
from .lookup import Found
from .measure import BY_FAMILY, OURS, TASKS, THESE
from .pages import ALONE, TOGETHER
from .scenarios import FALSE, METRICS, SIZES
from .small import CORRELATIONS

EASY = ("ceiling", "ceiling A/A")
ONE_CHECK = ("one check", "one check A/A")
PLAIN = ("A/A", "A/A over tasks", *SIZES)


class Share(NamedTuple):
    """A figure with the cell that it is of."""

    value: float
    scenario: str
    metric: str
    n: int
    runs: int
    about: str
    size: int

    def __str__(self) -> str:
        where = f"{METRICS[self.metric]}, {self.about}, {self.scenario}"
        return f"{100 * self.value:.1f} % ({where}, n = {self.n}, K = {self.runs})"


def findings(found: Found) -> Iterator[str]:
    """One sentence or two for each thing that the tables show."""
    yield _coverage("plain evals", _covered(found, PLAIN))
    yield _coverage("easy evals", _covered(found, EASY))
    yield _coverage("evals of one check", _covered(found, ONE_CHECK))
    yield _false_verdicts(_claimed(found))
    yield _power(found)
    yield from _harder(found)
    yield _models(found)
    yield _pages(found)
    yield _looks(found)
    yield _small(found)
    yield _gates(found)
    yield _opinions(found)
    yield _triggers(found)
    yield _labelled(found)
    yield from _others(found)


def _coverage(which: str, shares: list[Share]) -> str:
    inside = [share for share in shares if not outside(share.value, COVERAGE)]
    low, high = min(shares), max(shares)
    told = (
        f"**Coverage, {which}**: {len(inside)} of {len(shares)} cells are within {COVERAGE}. "
        f"The lowest is {low}, the highest {high}."
    )
    under = [
        share for share in shares if share.value + noise(share.value, share.size) < COVERAGE.low
    ]
    over = [
        share for share in shares if share.value - noise(share.value, share.size) > COVERAGE.high
    ]
    return told + _beyond("Too narrow", sorted(under)) + _beyond("Too wide", sorted(over)[::-1])


def _beyond(what: str, shares: list[Share], most: int = 5) -> str:
    """The cells that are outside by more than the simulation's noise, the worst first."""
    if not shares:
        return ""
    more = f" and {len(shares) - most} more" if len(shares) > most else ""
    listed = "; ".join(map(str, shares[:most]))
    return f" {what} by more than the noise of the simulation: {listed}{more}."


def _false_verdicts(shares: list[Share]) -> str:
    bad = sorted((share for share in shares if outside(share.value, CLAIMS)), reverse=True)
    able = [share for share in shares if share.value]
    told = (
        f"**False verdicts**: at most {max(shares)}; on average, over the {len(able)} cells in "
        f"which one fell at all, {100 * mean(one.value for one in able):.1f} %."
    )
    return told + (
        f" More than {100 * CLAIMS.high:g} %: {'; '.join(map(str, bad))}." if bad else ""
    )


def _power(found: Found) -> str:
    parts: list[str] = []
    for metric, name in METRICS.items():
        for who in OURS:
            one = found.get(f"smallest on {who}", metric, 8, 3)[who]
            off = f"± {100 * noise(one.better, one.size):.1f}"
            not_ = ", **which is not within**" if outside(one.better, POWER) else ""
            parts.append(f"{100 * one.better:.1f} {off} % ({name}, {who}{not_})")
    used = [
        f"{100 * found.get('A/A', metric, 8, 3)[who].claims:.1f} %"
        for metric in METRICS
        for who in OURS
    ]
    return (
        f"**Power** at the smallest detectable effect, n = 8 and K = 3, wanted {POWER}: "
        f"{', '.join(parts)}. Whole scores make exact p-values coarse, so that the tests do not "
        f"use up the 5 % that they may err: under A/A they claim a difference in "
        f"{', '.join(used)}, in the same order."
    )


def _harder(found: Found) -> Iterator[str]:
    """The worst of each world, with what was said beside it."""
    parts: list[str] = []
    for world in ABOUT:
        each = [
            (one.claims, one.unwarned, cell, who)
            for cell, every in found.harder.items()
            for who, one in every.items()
            if cell.world == world and who in (*OURS, BY_FAMILY)
            if world != "families" or who == BY_FAMILY
        ]
        claims, unwarned, cell, who = max(each, key=lambda one: one[0])
        where = f"{METRICS[cell.metric]}, {who}, n = {cell.n}"
        said = ""
        if outside(claims, CLAIMS):
            excused = unwarned <= (1 - WARNED) * claims
            said = f", with a warning in {100 * (1 - unwarned / claims):.0f} of 100"
            said += "" if excused else ", **which is not within**"
        parts.append(f"{world} {100 * claims:.1f} % ({where}){said}")
    yield f"**Where more goes wrong**, false verdicts are at most: {'; '.join(parts)}."
    unkin = max(
        one.claims
        for cell, every in found.harder.items()
        for who, one in every.items()
        if cell.world == "families" and who == TASKS
    )
    yield (
        f"**Families that nobody names** make up to {100 * unkin:.1f} % false verdicts on tasks "
        "like these: name them by `cluster=`."
    )


def _models(found: Found) -> str:
    """The worst of what is said of several models, and how often a difference is found."""
    false = [
        (share, name, cell)
        for cell, every in found.models.items()
        for name, share in every.items()
        if name not in TRUE.get(cell.world, ()) and not isnan(share)
    ]

    def worst(names: Mapping[str, str]) -> str:
        each = (one for one in false if one[1] in names.values())
        share, name, cell = max(each, key=lambda one: one[0])
        not_ = ", **which is not within**" if outside(share, CLAIMS) else ""
        where = f"{name}, {cell.world}, {cell.models} models, n = {cell.n}, K = {cell.runs}"
        return f"{100 * share:.1f} % ({where}){not_}"

    powers = [
        f"{100 * every[DIFFERS['suite']]:.0f} and {100 * every[DIFFERS['population']]:.0f} % at "
        f"n = {cell.n}, K = {cell.runs}"
        for cell, every in found.models.items()
        if cell.world == LESS and cell.n >= 6
    ]
    return (
        f"**Several models**: an effect that does not differ is said to in at most "
        f"{worst(DIFFERS)}; some model is said to be helped or hurt, where none is, in at most "
        f"{worst(EITHER)}. 30 pp less with one of two models is found, on these evals and on tasks "
        f"like these, in {'; '.join(powers)}."
    )


def _pages(found: Found) -> str:
    """The worst of the pages of many metrics, beside metrics that know nothing of each other."""
    plain = {cell: every for cell, every in found.pages.items() if not cell.effect}
    worst, alone = (max(every[how] for every in plain.values()) for how in (TOGETHER, ALONE))
    not_ = ", **which is not within**" if outside(worst, CLAIMS) else ""
    return (
        f"**Pages of many metrics** with a false verdict anywhere: at most {100 * worst:.1f} %"
        f"{not_}; up to {100 * alone:.1f} % where each metric is decided alone."
    )


def _looks(found: Found) -> str:
    false = [every for cell, every in found.looks.items() if not cell.effect]
    planned, again = ([100 * every[how] for every in false] for how in (PLANNED, AGAIN))
    cell = max((cell for cell in found.looks if cell.effect), key=lambda cell: cell.n)
    best = found.looks[cell]
    return (
        f"**Planned looks**: where nothing differs they claim something in {min(planned):.1f} to "
        f"{max(planned):.1f} %; looking after each run until something shows, in {min(again):.1f} "
        f"to {max(again):.1f} %. {100 * cell.effect:g} pp over {cell.n} evals are found in "
        f"{100 * best[PLANNED]:.1f} % with {best[RUNS]:.1f} runs a side, instead of "
        f"{100 * best[ONE]:.1f} % with {LOOKS[-1]}."
    )


def _small(found: Found) -> str:
    """False leans, and what next steps decide."""

    def false(*correlations: float) -> float:
        return 100 * max(
            every["up"] + every["down"]
            for cell, every in found.small.items()
            if not cell.effect and cell.correlation in correlations
        )

    def decided(what: str) -> str:
        known = [every[what] for cell, every in found.small.items() if cell.effect]
        shares = [100 * share for share in known if not isnan(share)]
        return f"{min(shares):.0f} to {max(shares):.0f} % of the {what}"

    *little, much = CORRELATIONS
    return (
        f"**Leans** of benchmarks run once are false in at most {false(*little):.1f} % while the "
        f"checks of a run correlate by {little[-1]:g} or less, in {false(much):.1f} % at {much:g}. "
        f"What is proposed as a next step decides in {decided('runs')} and {decided('evals')}, "
        "where the truth is what was seen."
    )


def _gates(found: Found) -> str:
    false = max(every["fails"] for cell, every in found.gates.items() if not cell.effect)
    finds = found.gates[Gated(8, 3, LOSS)]["fails"]
    not_ = ", **which is not within**" if outside(false, FAILS) else ""
    but = ", **which is not within**" if outside(finds, FINDS) else ""
    unsaid = max(every[UNSAID] for every in found.gates.values())
    return (
        f"**The gate** fails in at most {100 * false:.1f} % where nothing differs{not_}, and in "
        f"{100 * finds:.1f} % where the skill loses {-100 * LOSS:g} pp (n = 8, K = 3){but}. It "
        f"passes a larger loss than it says it may have missed in at most {100 * unsaid:.1f} %."
    )


def _opinions(found: Found) -> str:
    false, true = (
        [every[SURVIVES] for cell, every in found.claims.items() if bool(cell.effect) == helps]
        for helps in (False, True)
    )
    not_ = ", **which is not within**" if outside(max(false), CLAIMS) else ""
    return (
        f"**Second opinions**: of claims that are what was seen at most {100 * max(false):.1f} % "
        f"survive where nothing differs{not_}, and up to {100 * max(true):.1f} % where the skill "
        f"adds {100 * EFFECT:g} pp."
    )


def _triggers(found: Found) -> str:
    """The worst of the trigger scores, beside the bootstrap."""
    shares = [
        (share, name, cell)
        for cell, every in found.triggers.items()
        for name, share in every.items()
    ]
    ours = [one for one in shares if not one[1].startswith("bootstrap")]
    low, name, cell = min(ours, key=lambda one: one[0])
    worst, _, at = min((one for one in shares if one not in ours), key=lambda one: one[0])
    inside = sum(not outside(one[0], AT_LEAST) for one in ours)
    return (
        f"**Trigger scores**: {inside} of {len(ours)} intervals hold the truth in at least "
        f"{100 * AT_LEAST.low:g} % of cases. The lowest is {100 * low:.1f} % ({name}, "
        f"n = {cell.n}, {100 * cell.right:g} % right); the percentile bootstrap falls to "
        f"{100 * worst:.1f} % "
        f"(n = {at.n}, {100 * at.right:g} % right)."
    )


def _labelled(found: Found) -> str:
    """What a judge who is kinder to one side claims, alone and corrected."""

    def shares(how: str, what: str) -> list[float]:
        return [
            one.claims if what == "claims" else one.covers(who.partition(", ")[2])
            for cell, every in found.labelled.items()
            for who, one in every.items()
            if who.startswith(how) and cell.helps == (what != "claims") and one.exists
        ]

    claims, covers = shares(CORRECTED, "claims"), shares(CORRECTED, "covers")
    return (
        f"**A judge who is kinder to one side** claims a difference that is none in up to "
        f"{100 * max(shares(JUDGE, 'claims')):.1f} % of cases; corrected by three or six labels of "
        f"each side of an eval in at most {100 * max(claims):.1f} %, and the intervals hold the "
        f"truth in {100 * min(covers):.1f} to {100 * max(covers):.1f} %."
    )


def _others(found: Found) -> Iterator[str]:
    """The others, about tasks like these: where they are furthest off, and the known points."""

    def about(who: str, metric: str, n: int, runs: int) -> str:
        one = found.get("medium", metric, n, runs)[who]
        return f"{100 * one.covers_tasks:.1f} % ({METRICS[metric]})"

    def each(who: str, n: int, runs: int) -> str:
        return " and ".join(about(who, metric, n, runs) for metric in METRICS)

    yield (
        f"**Percentile bootstrap over evals**: holds the difference over tasks in "
        f"{each('bootstrap', 3, 3)} of cases at n = 3, K = 3, and in {each('bootstrap', 8, 3)} at "
        f"n = 8; without a difference it excludes 0 in up to {_most(found, 'bootstrap')}."
    )
    widths = [
        (one["pooled Welch"].width / one["t gate"].width, name)
        for metric, name in METRICS.items()
        for one in (found.get("medium", metric, 20, 1),)
    ]
    ratios = " and ".join(f"{ratio:.2f} ({name})" for ratio, name in widths)
    yield (
        f"**Pooled Welch interval**: at n = 3, K = 10 it holds the difference over tasks in "
        f"{each('pooled Welch', 3, 10)} of cases, at n = 20, K = 10 in "
        f"{each('pooled Welch', 20, 10)}; at n = 20, K = 1 it is {ratios} times as wide as the "
        f"paired one. Without a difference it excludes 0 in up to {_most(found, 'pooled Welch')}."
    )
    yield (
        f"**t gate**: without a difference its interval excludes 0 in up to "
        f"{_most(found, 't gate')}. A larger win can take its verdict back, which the exact tests "
        f"never do (`tests/stats/test_monotone.py`)."
    )
    if found.answered("evalstats"):
        yield (
            f"**evalstats**: refuses below 15 evals; at n = 20 it holds the difference over tasks "
            f"in {each('evalstats', 20, 3)} of cases at K = 3, and claims a difference in up to "
            f"{_most(found, 'evalstats')} where there is none."
        )


def _most(found: Found, who: str) -> str:
    return str(max(_shares(found, ("A/A", "A/A over tasks"), (who,), "claims")))


def _covered(found: Found, scenarios: tuple[str, ...]) -> list[Share]:
    return _shares(found, scenarios, tuple(OURS), "covers")


def _claimed(found: Found) -> list[Share]:
    every = _shares(found, FALSE, tuple(OURS), "claims")
    return [one for one in every if (one.scenario, one.about) != ("A/A over tasks", THESE)]


def _shares(
    found: Found, scenarios: tuple[str, ...], methods: tuple[str, ...], what: str
) -> list[Share]:
    """A figure of all cells of some scenarios, where there is one."""
    shares: list[Share] = []
    for cell, every in found.results.items():
        for who, one in every.items():
            if cell.scenario.name not in scenarios or who not in methods:
                continue
            value = one.claims if what == "claims" else one.covers(who)
            if what == "claims" or one.exists:
                place = (cell.scenario.name, cell.scenario.metric, cell.n, cell.runs)
                shares.append(Share(value, *place, who, one.size))
    return shares
