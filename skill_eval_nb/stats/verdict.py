"""A comparison in a word and its reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from skill_eval_nb.text import (
    as_label,
    count,
    format_figure,
    format_p,
    lower_first,
    p_value,
    with_sign,
)

from .comparison import TINY, PairedResult, fewest_moved
from .inference import BESIDE, Adjusted
from .values import better, unit_of

SAYS = {
    "helps": "{who} {does} on {where}",
    "hurts": "{who} {does} on {where}",
    "no worthwhile difference": "{who} makes no worthwhile difference on {where}",
    "unclear": "It is unclear whether {who} {verb} on {where}",
    "unclear: errors decide": "It is unclear whether {who} {verb} on {where}: errored runs decide",
    "too few runs": "Too few runs to say whether {who} {verb} on {where}",
    "too few evals": "Too few evals to say whether {who} {verb} on {where}",
    None: "No verdict on whether {who} {verb} on {where}",
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
BEHIND = {
    "rate": " pp",
    "seconds": " s",
    "tokens": " tokens",
    "characters": " characters",
    "1-5": " points",
    "usd": " US$",
}
"""What stands behind the figures of a unit in a sentence."""
USUAL = 0.05
"""The alpha that need not be named."""
Row = Mapping[str, Any]
Both = tuple[Row, Row]
"""The rows of a comparison: about these evals, and about tasks like these."""


def in_words(value: float, metric: str, write: Callable[[float], str] = format_figure) -> str:
    """A difference, or a figure that is no rate, with its unit; rates in percentage points.

    >>> in_words(0.25, "pass_rate", with_sign), in_words(42, "time_seconds")
    ('+25 pp', '42 s')
    """
    unit = unit_of(metric)
    return write(100 * value if unit == "rate" else value) + BEHIND.get(unit, "")


def decide_verdict(
    found: PairedResult,
    metric: str,
    worth: float | None,
    adjusted: Adjusted | None = None,
) -> tuple[str | None, str]:
    """The word and the reason.

    `helps` and `hurts` are decided by the exact p alone, at 1 - level; `no worthwhile
    difference` by two one-sided tests at 1 - level, which is where the interval of 2 level - 1
    lies inside ± `worth` (Schuirmann 1987).

    Args:
        found: the comparison.
        metric: what is compared. If neither more nor less of it is better, the word is
            None, and the reason gives the figures.
        worth: the smallest difference worth having, in the metric's unit; None if unknown.
        adjusted: the p-value that decides, if several questions were asked at once.
    """
    if not found.n_evals:
        return "too few evals", "No eval has this figure on both sides."
    wording = _Sentence(found, metric, adjusted)
    which = better(metric)
    p = found.p if adjusted is None else adjusted.p
    lacking = wording.what_a_claim_lacks()
    if lacking:
        return "too few runs" if found.scope == "suite" else "too few evals", f"{lacking}."
    if which is None:
        return None, f"{wording.figures()}; neither more nor less of it is better."
    if p is not None and p <= 1 - found.level + TINY:
        gains = wording.estimate > 0 if which == "more" else wording.estimate < 0
        small = worth is not None and abs(wording.estimate) < worth - TINY
        less = f", which is less than {in_words(worth or 0, metric)}" if small else ""
        return "helps" if gains else "hurts", f"{wording.figures()}{less}."
    outlook = f" Smallest detectable effect: {in_words(found.mde, metric)}." if found.mde else ""
    if found.margin is None:
        return "unclear", f"{wording.figures()}.{outlook}"
    adjusted_ = adjusted is not None and adjusted.alone < 1 - found.level - TINY
    inner = "adjusted interval" if adjusted_ else f"{100 * (2 * found.level - 1):.3g} % interval"
    if worth is not None and found.margin <= worth + TINY:
        inside = f"the {inner} lies within ±{in_words(worth, metric)}"
        return "no worthwhile difference", f"{wording.figures()}: {inside}."
    beyond = f"Any difference beyond {in_words(found.margin, metric)} can be ruled out ({inner})."
    return "unclear", f"{wording.figures()}. {beyond}{outlook}"


def sentence(word: str | None, metric: str, who: str, where: str) -> str:
    """A verdict as a sentence, without a full stop.

    >>> sentence("helps", "pass_rate", "with_skill", these_evals(3))
    'with_skill helps on these 3 evals'
    >>> sentence("hurts", "tokens", "with_skill", these_evals(1))
    'with_skill uses more tokens on this eval'
    """
    if word is None and better(metric) is None:
        return f"{who} changes the {metric.replace('_', ' ')} on {where}"
    verb = TAKES.get(metric, ("helps",))[0]
    return SAYS[word].format(who=who, where=where, verb=verb, does=word_of(word, metric))


def word_of(word: str | None, metric: str) -> str | None:
    """A verdict as a table shows it, next to its metric.

    >>> word_of("hurts", "tokens"), word_of("hurts", "pass_rate")
    ('uses more tokens', 'hurts')
    """
    does = TAKES.get(metric)
    return does[word == "helps"] if does is not None and word in ("helps", "hurts") else word


def these_evals(n: int) -> str:
    """The evals that were run, in a sentence."""
    return "this eval" if n == 1 else f"these {n:,} evals"


def say_luck(least_p: float) -> str:
    """How often chance alone gives the clearest result that was possible.

    >>> say_luck(0.1), say_luck(1)
    ('comes by luck in 10 % of cases', 'could be luck')
    """
    return "could be luck" if least_p > 0.99 else f"comes by luck in {100 * least_p:.2g} % of cases"


LEANS = ("lean", "lean_low", "lean_high", "lean_p", "improved")
"""Columns of `deltas`: the word, its interval and p, and how many evals improved of how many."""
NO_LEAN = "no lean"
ADDITIONS = (*LEANS, "next_step", "next_runs")
"""Columns of `deltas` that stand beside a verdict, and where there can be none are null."""
TASKS = "tasks like these"
"""The evals that might have been asked, in a sentence."""
BORROWED = "If runs vary here as they do in public benchmarks"
TOO_SMALL = " can settle a difference like this: ask whether it matters."
"""How a next step ends that is none."""


class Claim(NamedTuple):
    """What a row of `deltas` claims.

    Attributes:
        row: the row.
        words: its verdict as a sentence, without a full stop.
        reason: what that rests on.
    """

    row: Row
    words: str
    reason: str


class Answer(NamedTuple):
    """A comparison in sentences, wherever it is shown.

    Attributes:
        row: that of `deltas` about these evals.
        claims: about these evals and about tasks like these, what comes first before the other;
            one alone if nothing is paired.
        lean: what stands beside the verdict and apart from it; "" if it has none.
        next_steps: what would decide what has no verdict, and the row that this is of.
    """

    row: Row
    claims: list[Claim]
    lean: str
    next_steps: list[tuple[str, Row]]

    @property
    def short(self) -> str:
        """The first verdict with what it rests on, or if it is of these evals their lean."""
        first = self.claims[0]
        return f"{first.words}. {(first.row is self.row and self.lean) or first.reason}"


def say_answer(suite: Row, beyond: Row, title: str = "") -> Answer:
    """What both rows of a comparison say.

    Args:
        suite: the row of `deltas` about these evals.
        beyond: that about tasks like these.
        title: what the metric is called, as it begins a sentence; else its name.
    """
    who = as_label(suite["configuration"], 60)
    title = title or suite["metric"].removesuffix("_seconds").replace("_", " ").capitalize()
    if not suite["n_evals"]:
        none = Claim(suite, f"{who} cannot be compared", suite["reason"])
        return Answer(suite, [none], "", [])
    claims = [
        Claim(row, sentence(row["verdict"], row["metric"], who, where), f"{title}: {row['reason']}")
        for row, where in ((suite, these_evals(suite["n_evals"])), (beyond, TASKS))
    ]
    if beyond_comes_first(suite, beyond):
        claims.reverse()
    return Answer(suite, claims, say_lean(suite), say_next_steps(suite, beyond))


def beyond_comes_first(suite: Row, beyond: Row) -> bool:
    """Whether the answer on tasks like these is the one to begin with.

    A single run of each eval tells nothing of chance on these evals, and many evals may still
    tell of tasks like them.

    >>> beyond_comes_first({"verdict": "too few runs"}, {"verdict": "helps"})
    True
    >>> beyond_comes_first({"verdict": "unclear"}, {"verdict": "helps"})
    False
    """
    return suite["verdict"] == "too few runs" and beyond["verdict"] != "too few evals"


def say_lean(row: Row) -> str:
    """What a row of `deltas` leans to, in a sentence; "" if it has no lean.

    >>> row = {"lean": "leans up", "configuration": "tdd", "improved": "4 of 4", "n_evals": 4}
    >>> say_lean({**row, "estimate": 0.5, "lean_low": 0.07, "lean_high": 0.93})[-69:]
    ', tdd leans up: +50 pp (+7 to +93) on these 4 evals; 4 of 4 improved.'
    """
    if row["lean"] is None:
        return ""
    estimate, low, high = (
        with_sign(round(100 * row[name], 1)) for name in ("estimate", "lean_low", "lean_high")
    )
    does = "leans neither way" if row["lean"] == NO_LEAN else row["lean"]
    return (
        f"{BORROWED}, {as_label(row['configuration'], 60)} {does}: {estimate} pp ({low} to "
        f"{high}) on {these_evals(row['n_evals'])}; {row['improved']} improved."
    )


def say_next_steps(suite: Row, beyond: Row) -> list[tuple[str, Row]]:
    """What would decide a comparison without a verdict, a sentence for each scope that has none.

    >>> steps = say_next_steps({"next_step": "Run more."}, {"next_step": "Add 2 evals."})
    >>> [words for words, _ in steps]
    ['Next: run more.', 'For tasks like these: add 2 evals.']
    """
    runs, evals = suite["next_step"], beyond["next_step"]
    if runs and evals and runs.endswith(TOO_SMALL) and evals.endswith(TOO_SMALL):
        runs, evals = f"{runs.removesuffix(TOO_SMALL)} and {lower_first(evals)}", None
    evals = None if evals == runs else evals
    steps = (("Next", runs, suite), ("For tasks like these", evals, beyond))
    return [(f"{what}: {lower_first(step)}", row) for what, step, row in steps if step]


def limit_by_suite(these: Row, beyond: Row) -> Row:
    """The row about tasks like these, without a claim that these evals do not support.

    Other evals only add to what is uncertain on these: where the runs alone can explain a
    difference, a claim beyond them is luck. Then p is the larger of the two, and the interval
    holds 0. If these evals have too few runs to say anything, the row stays as it is.

    >>> row = {"verdict": "helps", "p": 0.03, "low": 0.1, "high": 0.3, "reason": "+20 pp."}
    >>> found = limit_by_suite({**row, "verdict": "unclear", "p": 0.2}, row)
    >>> found["verdict"], found["p"], found["low"], found["reason"]
    ('unclear', 0.2, 0.0, 'Not clear on these evals, so not beyond them either: +20 pp.')
    """
    claims = ("helps", "hurts")
    if beyond["verdict"] not in claims or these["verdict"] in (*claims, "too few runs"):
        return beyond
    p = {
        name: max(p_value for p_value in (these[name], beyond[name]) if p_value is not None)
        for name in ("p", "p_adjusted")
        if name in beyond
    }
    return take_back({**beyond, **p}, "Not clear on these evals, so not beyond them either")


def take_back(row: Row, why: str) -> Row:
    """The row without its claim: its interval holds 0."""
    low, high = row["low"], row["high"]
    return {
        **row,
        "low": None if low is None else min(low, 0.0),
        "high": None if high is None else max(high, 0.0),
        "verdict": "unclear",
        "reason": f"{why}: {lower_first(row['reason'])}",
    }


class _Sentence:
    """What a comparison's figures are called in a sentence."""

    def __init__(self, found: PairedResult, metric: str, adjusted: Adjusted | None = None) -> None:
        self.found, self.metric, self.adjusted = found, metric, adjusted
        self.estimate = found.estimate or 0.0
        self.much = in_words(self.estimate, metric, with_sign)

    def figures(self) -> str:
        """The estimate with its interval and p."""
        found = self.found
        suite = found.scope == "suite"
        weighted = ", weighted" if found.weighted else ""
        where = f"{these_evals(found.n_evals)}{weighted}"
        if not suite:
            where = f"{TASKS} ({self._evals()}{weighted})"
        p = "" if found.p is None else f", exact p {format_p(found.p)}"
        if p and self.adjusted is not None and self.adjusted.p != found.p:
            p += f" ({p_value(self.adjusted.p)} adjusted)"
        return f"{self.much}{self._interval_text()} on {where}{p}"

    def what_a_claim_lacks(self) -> str:
        """What is missing before anything can be claimed, or ""."""
        found = self.found
        least_p = found.least_p if self.adjusted is None else self.adjusted.least
        if found.sufficient and least_p <= 1 - found.level + TINY:
            return ""
        if not found.sufficient:
            return self._few_evals() if found.scope == "population" else self._few_runs()
        if not found.moved:
            return f"{self.figures()}: no eval differs between the sides"
        least = max(found.least_p, least_p)
        alone = found.least_p > 1 - found.level + TINY  # too large even before it is adjusted
        adjusted = "" if alone else ", corrected for the other figures,"
        of = self._evals() if found.scope == "population" else self._count_runs()
        clearest = f"the clearest result that {of} with these values could give{adjusted}"
        return f"{self.figures()}; even {clearest} {say_luck(least)}{self._say_alpha()}"

    def _few_runs(self) -> str:
        runs, other = self.found.runs
        once = runs == other == self.found.n_evals
        each = "each run once per side" if once else "too few of them run twice per side"
        return f"{self.figures()}, {each}"

    def _few_evals(self) -> str:
        found = self.found
        n, unit = (found.n_evals, "eval") if found.families is None else (found.families, "family")
        differ = f"{found.moved} of {count(n, unit)} differ between the sides"
        takes = f"a claim about {TASKS} takes {fewest_moved(found.level)}{self._say_alpha()}"
        return f"{self.much} on {self._evals()}: {differ}, and {takes}"

    def _say_alpha(self) -> str:
        """The alpha, if it is not the usual one."""
        alpha = 1 - self.found.level
        return f" (p ≤ {format_figure(alpha)} is required)" if alpha < USUAL - TINY else ""

    def _interval_text(self) -> str:
        found = self.found
        if found.low is not None and found.high is not None:
            near = 2 * BESIDE * abs(self.estimate)  # an end that only leaves out 0
            factor = 100 if unit_of(self.metric) == "rate" else 1
            ends = (0.0 if abs(end) <= near else end * factor for end in (found.low, found.high))
            return f" ({' to '.join(map(with_sign, ends))})"
        if not found.sufficient:
            return ""
        if found.scope == "suite":
            return " (all runs of an eval came out the same)"
        return " (the same on every eval)"

    def _evals(self) -> str:
        families = self.found.families
        of = "" if families is None else f" in {count(families, 'family')}"
        return count(self.found.n_evals, "eval") + of

    def _count_runs(self) -> str:
        """Evals × runs per side where every eval could have as many, else both sides' runs."""
        n, (runs, other) = self.found.n_evals, self.found.runs
        if runs != other or runs % n:
            return f"{runs} and {other} runs"
        return f"{runs} runs per side" if n == 1 else f"{n} × {runs // n} runs per side"
