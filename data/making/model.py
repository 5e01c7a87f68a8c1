"""The model that every verdict, score and figure is drawn from.

Each eval has a difficulty and an effect of the skill of its own, each run has its noise, and
the judge has a noise of its own:

    logit P(a check passes) = ease − difficulty(eval)
                              + skill × (gain + effect(eval)) + noise(run)
    what the judge sees     = base + skill × gain + N(eval) + N(run)
    score of a judging      = that + N(judging), rounded into 1 … 5
    tokens                  = 14,000 × exp(N(eval) + 0.3 with the skill + N(run))
    seconds                 = tokens / 420 × exp(N(run))

`skill` is 0 for the baseline and at most 1: a first draft of a skill gives a part of its
effect. `N` is normal with mean 0; the standard deviations stand below or, where they differ
from dimension to dimension, in the tables.

Every draw has a source of chance of its own, named after what it is drawn for, so that a
change in one place moves nothing elsewhere.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from string import Template
from typing import TypedDict

SEED = 192
SD_DIFFICULTY = 0.8
SD_EFFECT = 0.5
SD_RUN = 0.4
SD_TOKENS_EVAL, SD_TOKENS_RUN, SD_SECONDS_RUN = 0.25, 0.12, 0.15


def chance(*names: object) -> random.Random:
    """The source of chance for what is called by these names."""
    return random.Random("/".join(map(str, (SEED, *names))))


def normal(sd: float, *names: object) -> float:
    """A draw from a normal distribution with mean 0."""
    return chance(*names).gauss(0.0, sd)


@dataclass(frozen=True)
class Run:
    """Which run it is, and how much of the skill's effect it has (0 to 1)."""

    workspace: str
    eval: str
    iteration: int
    configuration: str
    number: int
    skill: float

    @property
    def of_eval(self) -> tuple[object, ...]:
        """The names that all runs of this eval share."""
        return (self.workspace, self.eval)

    @property
    def names(self) -> tuple[object, ...]:
        """The names of this run alone."""
        return (*self.of_eval, self.iteration, self.configuration, self.number)


class Verdict(TypedDict):
    """A graded expectation."""

    text: str
    passed: bool
    evidence: str


@dataclass(frozen=True)
class Check:
    """An expectation: when it passes, and what then stands in the output and as evidence.

    `good` is the piece of the output that is there when it passes, `bad` the one that is there
    instead when it fails. In all texts `$file` and the like stand for the eval's own names,
    and `$where` in the evidence for the place of that piece.
    """

    text: str
    passed: str
    failed: str
    ease: float = 0.0
    gain: float = 1.5
    good: str = ""
    bad: str = ""
    place: str = "output"

    def passes(self, run: Run) -> bool:
        """Whether it passes in `run`."""
        logit = (
            self.ease
            - normal(SD_DIFFICULTY, *run.of_eval, "difficulty")
            + run.skill * (self.gain + normal(SD_EFFECT, *run.of_eval, "effect"))
            + normal(SD_RUN, *run.names, "run")
        )
        return chance(*run.names, "check", self.text).random() < 1 / (1 + math.exp(-logit))

    def piece(self, passed: bool, names: dict[str, str]) -> str:
        """What the output holds for it."""
        return Template(self.good if passed else self.bad).substitute(names).strip("\n")

    def verdict(self, passed: bool, names: dict[str, str], file: str, content: str) -> Verdict:
        """The expectation as it is graded: `content` is that of the `file` looked at."""
        where = find(self.piece(passed, names), file, content)
        evidence = Template(self.passed if passed else self.failed)
        return {
            "text": Template(self.text).substitute(names),
            "passed": passed,
            "evidence": evidence.substitute(names, where=where),
        }


def find(piece: str, file: str, content: str) -> str:
    """Where the first line of a piece stands: ``file:line: text``."""
    first = piece.partition("\n")[0].strip()
    for number, line in enumerate(content.splitlines(), 1):
        if first and first in line:
            return f"{file}:{number}: {line.strip().rstrip('.')}"
    return file


@dataclass(frozen=True)
class Dimension:
    """A rubric dimension: where its scores come from, and what is said for each."""

    name: str
    base: float
    gain: float
    sd_eval: float
    sd_run: float
    sd_judge: float
    evidence: list[str]

    def score(self, run: Run, judging: int) -> int:
        """The score that a judging gives to `run`."""
        seen = (
            self.base
            + run.skill * self.gain
            + normal(self.sd_eval, *run.of_eval, self.name)
            + normal(self.sd_run, *run.names, self.name)
            + normal(self.sd_judge, *run.names, self.name, judging)
        )
        return min(5, max(1, round(seen)))

    def says(self, score: int, names: dict[str, str]) -> str:
        """Why the score was given."""
        return Template(self.evidence[score - 1]).substitute(names)


@dataclass(frozen=True)
class Usage:
    """Tokens and time of a run."""

    tokens: int
    milliseconds: int

    @property
    def seconds(self) -> float:
        return self.milliseconds / 1000

    @property
    def timing(self) -> dict[str, float]:
        """What every timing.json holds."""
        return {
            "total_tokens": self.tokens,
            "duration_ms": self.milliseconds,
            "total_duration_seconds": self.seconds,
        }


def usage(run: Run) -> Usage:
    """The tokens and the time that `run` took."""
    tokens = 14_000 * math.exp(
        normal(SD_TOKENS_EVAL, *run.of_eval, "tokens")
        + (0.3 if run.skill else 0.0)
        + normal(SD_TOKENS_RUN, *run.names, "tokens")
    )
    seconds = tokens / 420 * math.exp(normal(SD_SECONDS_RUN, *run.names, "seconds"))
    return Usage(round(tokens), round(seconds * 10) * 100)
