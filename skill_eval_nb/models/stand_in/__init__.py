"""The stand-in model: answers the Messages API offline, by rules and a seed.

There is no model behind it, and its answers say so. With it, runs, grading, retries and statistics
can be tried, tested and shown without a network, a key or a cent. It answers through
`app.transport(StandIn())`, an in-process transport for the SDK's HTTP client.

Its random numbers are hashes of a seed and of names, so the same run gets the same ones in any
process, on any thread, after any restart, and for any order of calls.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Literal


def uniform(*names: object) -> float:
    """A number above 0 and below 1, the same for the same names.

    >>> uniform(0, "eval", "a") == uniform(0, "eval", "a") != uniform(1, "eval", "a")
    True
    """
    text = json.dumps(names, ensure_ascii=True, default=str)
    drawn = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
    return ((drawn >> 12) + 0.5) / 2**52


def normal(*names: object) -> float:
    """A standard normal number, the same for the same names."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(uniform(*names))


def digest(*names: object, length: int = 24) -> str:
    """A short opaque text, the same for the same names: for ids.

    >>> len(digest("a")), digest("a") == digest("b")
    (24, False)
    """
    text = json.dumps(names, ensure_ascii=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=32).hexdigest()[:length]


Role = Literal[
    "executor",
    "judge",
    "comparator",
    "analyst",
    "drafter",
    "merger",
    "query_drafter",
    "eval_drafter",
    "proposer",
    "other",
]

EXECUTOR = "stand-in"
JUDGE = "stand-in-judge"
MODELS = (EXECUTOR, JUDGE)
"""Its own names. It answers under any name, so that real models' names can be tried."""

Prefers = Literal["noisy", "better", "first", "last", "tie"]


@dataclass(frozen=True, slots=True)
class StandIn:
    """A model that follows rules and a seed.

    The random model, on the rubric's scale of 1 to 5: an output's latent quality is `base`, plus
    `effect` if the skill's body was in the context when it was written, plus a term of the eval
    (sd `eval_sd`, the same on both sides), and a term of the run (sd `run_sd`). A score is that
    quality plus a term of the judging and dimension (sd `judging_sd`), rounded to a whole number
    from 1 to 5. All terms are independent and normal. A term is drawn from the seed and a name: for
    an eval the task's text, for a run the session, for a judging everything that the judge is sent.

    If a skill's body has a line `stand-in effect: 0.4`, that replaces `effect`. For the demo
    skill's evals it uses texts written by hand; an opened skill then adds 2.4 times `effect`,
    multiplied by the share of the instructions needed for the eval that the body has.

    Attributes:
        seed: another seed gives other random numbers; the same seed and requests give the same
            answers.
        base: mean latent quality without the skill.
        effect: what the opened skill adds to it.
        eval_sd: sd of the evals.
        run_sd: sd of the runs of one eval and configuration.
        judging_sd: sd of the judgings of one output and dimension.
        check_sd: sd of how hard the judged expectations are (see `answers.passing_quality`).
        opens: chance that a listed skill which fits the task is opened, 0 to 1. Which one fits is
            decided by a rule without chance, `agent.best_skill`.
        prefers: which of two works its comparator prefers: `better`, the one of higher quality;
            `noisy`, the same with a random term added to each quality (sd `judging_sd`); `first`
            and `last`, by position; `tie`, neither.
    """

    seed: int = 0
    base: float = 2.8
    effect: float = 0.9
    eval_sd: float = 0.4
    run_sd: float = 0.5
    judging_sd: float = 0.4
    check_sd: float = 0.5
    opens: float = 1.0
    prefers: Prefers = "noisy"
