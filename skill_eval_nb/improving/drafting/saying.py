"""What a draft says of the check or the suggestion that it rests on."""

from __future__ import annotations

from collections.abc import Iterable

from skill_eval_nb.stats.phrases import brief, count, quoted

from ..values import RunRef, Suggestion
from .checks import Check

REASON = 240
"""Characters of a suggestion that are quoted at most."""


def named(check: Check) -> str:
    """A check by its id and its words.

    An expectation without an id is named by its words alone.
    """
    words = quoted(check.text)
    return words if check.target == check.text else f"{brief(check.target)} ({words})"


def figures(check: Check) -> str:
    """What became of a check, in sentences."""
    return " ".join(f"{named(check)}: {told[0].lower()}{told[1:]}" for told in check.reasons)


def suggested(suggestions: Iterable[Suggestion]) -> str:
    """What graders said, each with the number of runs that said it."""
    return " ".join(
        f"Graders of {count(one.frequency, 'run')} said: {quoted(one.reason, REASON)}"
        + ("" if one.reason.rstrip().endswith((".", "!", "?")) else ".")
        for one in suggestions
    )


def sentences(*parts: str) -> str:
    """The parts that say something, one after the other."""
    return " ".join(part for part in parts if part)


def runs_of(checks: Iterable[Check], suggestions: Iterable[Suggestion] = ()) -> tuple[RunRef, ...]:
    """The runs that checks and suggestions rest on, each once."""
    verdicts = [ref for check in checks for ref in check.verdicts]
    sources = [source.run for one in suggestions for source in one.sources]
    return tuple(dict.fromkeys([*verdicts, *sources]))
