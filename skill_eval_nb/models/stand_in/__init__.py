"""The stand-in model: answers the Messages API offline, by rules and a seed.

No model is behind it, and its answers say so. It exists so that runs, grading, retries and
statistics can be tried, tested and shown without a network, a key or a cent. It answers through
`app.transport(StandIn())`, a transport inside the process for the SDK's HTTP client.

A draw of it is a hash of a seed and of names, so the same run draws the same in any process, on
any thread, after any restart, and whatever the order of calls.
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
"""The names it lists. Messages are answered under any name, so that real ones can be tried."""

Prefers = Literal["noisy", "better", "first", "last", "tie"]


@dataclass(frozen=True, slots=True)
class StandIn:
    """A model that follows rules and a seed.

    The model of chance, on the rubric's scale of 1 to 5: an output's latent quality is
    `base`, plus `effect` where the skill's body was in the context when it was written, plus
    a part of the eval (sd `eval_sd`, the same on both sides), plus a part of the eval that
    only the skill's side has (sd `effect_sd`), plus a part of the run (sd `run_sd`). A score
    is that quality plus a part of the judging and dimension (sd `judging_sd`), rounded to a
    whole number within 1 to 5. All parts are independent and normal. `truth` says what comes
    out of it. A part is drawn from the seed and a name of what it belongs to: the eval from
    the task's text, the run from the session, the judging from all that the judge is sent.
    A skill whose body has a line `stand-in effect: 0.4` has that effect in place of `effect`.
    Of the demo skill's evals it writes texts by hand, and there an opened skill adds `effect`
    2.4 times, by the share of the instructions that the eval needs which the body holds.

    Attributes:
        seed: Another seed, other draws; the same seed and requests, the same answers.
        base: Mean latent quality without the skill.
        effect: What the opened skill adds to it.
        eval_sd: Sd of the evals.
        effect_sd: Sd of the skill's effect over the evals.
        run_sd: Sd of the runs of one eval and configuration.
        judging_sd: Sd of the judgings of one output and dimension.
        check_sd: Sd of how hard the judged expectations are (see `passing`).
        opens: Chance that a listed skill which fits the task is opened, 0 to 1. Which one fits
            is a rule without chance, `agent.fitting`.
        cache_minimum: Tokens below which a marked prefix is not cached.
        prefers: Which of two works its comparator prefers: `better`, the one of higher
            quality; `noisy`, the same with a part of the comparison added to each quality (sd
            `judging_sd`); `first` and `last`, whatever they are; `tie`, none.
        strays: Chance that one of the listed skills is opened if none fits, 0 to 1; each of
            them as likely as any other.
    """

    seed: int = 0
    base: float = 2.8
    effect: float = 0.9
    eval_sd: float = 0.4
    effect_sd: float = 0.0
    run_sd: float = 0.5
    judging_sd: float = 0.4
    check_sd: float = 0.5
    opens: float = 1.0
    cache_minimum: int = 1024
    prefers: Prefers = "noisy"
    strays: float = 0.0
