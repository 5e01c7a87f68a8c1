"""What a reader of another tool's file gives: runs, each as the documents of its folder.

A reader takes the parts of a file that it names, and no others: settings, environments and
arguments, where keys lie, never come further than this room.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, Protocol

from ..base import Faults
from ..evals import EvalMetadata
from ..results import BenchmarkRun, Comparison, ConfigurationSummary, Stated
from ..run import GradedExpectation, Grading, Judging, Metrics, RubricScore, Structural, Timing

WITH, WITHOUT, UNSTATED = "with_skill", "without_skill", "unstated"


class Run(BenchmarkRun):
    """A run as a tool tells of it: what names it, and the documents that would lie in its folder.

    `rate` is its pass rate where that is no count of verdicts, `score` the tool's own weighted
    figure; `incomplete` says why the tool itself does not take it for a result. Where `path` is
    not given it was read from the tool's file. Without a `run_number` it is the next of its eval
    and configuration.
    """

    grading: Grading | None = None
    structural: Structural | None = None
    timing: Timing | None = None
    metrics: Metrics | None = None
    judgings: list[Judging] = []
    judge_model: str | None = None
    rate: float | None = None
    score: float | None = None
    incomplete: str | None = None
    path: str | None = None


class Aggregate(ConfigurationSummary):
    """What a tool states of a configuration (or of `delta`), its own weighted figure included.

    `others` are figures that no run has, by their names.
    """

    score: Stated = None
    others: dict[str, float] = {}


@dataclass
class Results:
    """What a file of a tool tells.

    Attributes:
        runs: the runs; a configuration that nothing states is `unstated`.
        skill: the skill, where the file names it.
        key: what no other file has: the same key is a copy, and counted once.
        iteration: the iteration, where the file names one.
        below: the folders between the workspace and the file, where the file says so.
        aggregates: configuration, or `delta`, to what the tool itself states of it.
        evals: what the evals are, joined to runs by their ids.
        comparisons: blind comparisons.
        faults: what was repaired, decided or left out, each with what to do.
    """

    runs: list[Run] = field(default_factory=list)
    skill: str | None = None
    key: str | None = None
    iteration: str | None = None
    below: str | None = None
    aggregates: dict[str, Aggregate] = field(default_factory=dict)
    evals: list[EvalMetadata] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    faults: Faults = field(default_factory=Faults)


class Tool(Protocol):
    """A reader of another tool's results; a module with these two functions is one.

    `skill_eval_nb.tools` is the entry point group under which others register theirs::

        [project.entry-points."skill_eval_nb.tools"]
        our-harness = "our_harness.skill_eval"

    and `our_harness/skill_eval.py` may be no more than::

        from skill_eval_nb.documents.tools import Part, Results, Run, checks

        def recognise(raw):
            return isinstance(raw, dict) and "our_harness" in raw

        def read(raw, path):
            whole = Part(raw)
            results = Results(skill=whole.text("skill"), faults=whole.faults)
            for row in whole.parts("trials"):
                results.runs.append(Run(
                    configuration="with_skill" if row.flag("skill_on") else "without_skill",
                    eval_id=row.text("task"),
                    grading=checks((c.text("name"), c.flag("ok")) for c in row.parts("checks")),
                ))
            return results
    """

    def recognise(self, raw: Any) -> bool:
        """Whether a file is this tool's, from what is in it.

        Args:
            raw: what a `.json` file holds; of a `.jsonl` file a list with its first line.
        """
        ...

    def read(self, raw: Any, path: str) -> Results:
        """What the file tells; `raw` has all lines of a `.jsonl` file."""
        ...


_NOT = re.compile(
    r"(?:without|no|non)[-_. ]?skills?(?![a-z])|(?<![a-z])(?:baseline|vanilla|control)(?![a-z])"
)
_WITH = re.compile(
    r"(?<![a-z])with[-_. ]?skills?(?![a-z])|(?<![a-z])(?:skilled|treatment)(?![a-z])"
)


@lru_cache(1024)
def side_in(name: str | None) -> str | None:
    """The side that a name speaks of, in words that people use for it.

    >>> side_in("gpt-noskills"), side_in("job-with-skills-2"), side_in("seo-skill-bench")
    ('without_skill', 'with_skill', None)
    """
    words = (name or "").lower()
    if words in ("skill", "skills"):
        return WITH
    return WITHOUT if _NOT.search(words) else WITH if _WITH.search(words) else None


def side_of(path: str, levels: int = 3) -> str | None:
    """The side that the name of a file, or of the nearest folder above it, speaks of."""
    names = path.replace("\\", "/").split("/")[-levels - 1 :]
    names[-1] = names[-1].rsplit(".", 1)[0]
    return next((side for name in reversed(names) if (side := side_in(name))), None)


def checks(verdicts: Iterable[tuple[str | None, bool | None]]) -> Grading:
    """A grading of texts and verdicts; the verdict is None where a check was not scored."""
    return Grading(
        expectations=[GradedExpectation(text=text or "unnamed", passed=ok) for text, ok in verdicts]
    )


def votes(of: dict[str, list[bool]]) -> list[Judging]:
    """Votes on checks as judgings: 5 for yes and 1 for no, with a weight of 0 in every mean."""
    return [
        Judging(
            judging=at + 1,
            rubric_scores={
                name: RubricScore(score=5.0 if cast[at] else 1.0, weight=0.0)
                for name, cast in of.items()
                if at < len(cast)
            },
        )
        for at in range(max(map(len, of.values()), default=0))
    ]


def seconds_between(start: str | None, end: str | None) -> float | None:
    """Seconds from one ISO 8601 time to another; None where either is none, or they are turned."""
    try:
        passed = datetime.fromisoformat(end or "") - datetime.fromisoformat(start or "")
    except (ValueError, TypeError):
        return None
    return passed.total_seconds() if passed.total_seconds() >= 0 else None


def mean(
    values: Iterable[float | None], weights: Iterable[float | None] | None = None
) -> float | None:
    """The mean of the values that are known, weighted where weights are given."""
    known = [
        (value, 1.0 if weight is None else weight)
        for value, weight in zip(values, weights or iter(lambda: None, 0), strict=False)
        if value is not None
    ]
    total = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / total if total else None
