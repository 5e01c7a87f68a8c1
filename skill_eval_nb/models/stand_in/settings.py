"""What the stand-in is told, its draws, and how it misbehaves.

A draw is a hash of a seed and of names, so the same run draws the same in any process, on any
thread, after any restart, and whatever the order of calls.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
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


Kind = Literal[
    "bad_request_400",
    "unauthorized_401",
    "rate_limited_429",
    "server_error_500",
    "overloaded_529",
    "silence",
    "cut",
    "stream_error",
    "refusal",
    "max_tokens",
    "invalid_json",
    "out_of_range",
    "missing_dimensions",
    "no_evidence",
    "huge_output",
    "huge_answer",
]
Role = Literal[
    "executor",
    "judge",
    "comparator",
    "analyst",
    "drafter",
    "merger",
    "query_drafter",
    "proposer",
    "other",
]

UNBILLED: tuple[Kind, ...] = (
    "bad_request_400",
    "unauthorized_401",
    "rate_limited_429",
    "server_error_500",
    "overloaded_529",
)
"""Faults that come in place of an answer, with this status."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to misbehave, and whom it strikes.

    Kinds: `bad_request_400`, `unauthorized_401`, `rate_limited_429` (with `retry-after`),
    `server_error_500`, `overloaded_529` are error answers. `silence` never answers.
    `cut` breaks the connection in the middle of the body or stream. `stream_error` sends an
    error event in mid-stream (answered whole where the request did not ask for a stream).
    `refusal` and `max_tokens` are stop reasons: no content, and half the answer. Of a judge:
    `invalid_json`, `out_of_range` (a score of 9), `missing_dimensions` (the last one),
    `no_evidence` (all of it empty). `huge_output` makes the executor write and print a file
    of `size` bytes with Bash; `huge_answer` makes the text that long. A kind that does not
    apply to the request at hand (no Bash, no JSON asked for) leaves the answer as it is.

    Attributes:
        kind: What happens.
        share: Chance that it strikes a request that it aims at, drawn from the seed.
        role: Aims at calls of this role only. None: of all.
        first: Aims at the first so many calls of a session only, so that a retry succeeds.
        turn: Aims at this turn of a conversation only; the first turn is 1.
        calls: Aims at these calls only, counted from 1 among those that the rest aims at.
        holds: Aims at requests whose body holds this text. None: any.
        retry_after: Seconds in the `retry-after` of a 429. None: no such header.
        size: Bytes of a huge output or answer.
    """

    kind: Kind
    share: float = 1.0
    role: Role | None = None
    first: int | None = None
    turn: int | None = None
    calls: tuple[int, ...] = ()
    holds: str | None = None
    retry_after: float | None = 1.0
    size: int = 20_000_000


class Misfortune:
    """Counts what each fault aims at, and tells which one strikes. Safe among threads."""

    def __init__(self, faults: tuple[Fault, ...], seed: int) -> None:
        self._faults = faults
        self._seed = seed
        self._seen: Counter[tuple[int, str]] = Counter()
        self._calls: Counter[int] = Counter()
        self._lock = threading.Lock()

    def strike(self, role: Role, session: str, turn: int, body: str) -> Fault | None:
        """The first fault that strikes this request; every one that it aims at is counted."""
        struck: Fault | None = None
        for number, fault in enumerate(self._faults):
            if not _aims(fault, role, turn, body):
                continue
            with self._lock:
                self._calls[number] += 1
                call = self._calls[number]
                self._seen[number, session] += 1
                seen = self._seen[number, session]
            late = fault.first is not None and seen > fault.first
            elsewhere = fault.calls and call not in fault.calls
            if struck or late or elsewhere:
                continue
            if uniform(self._seed, "fault", number, session, turn, seen) < fault.share:
                struck = fault
        return struck


def _aims(fault: Fault, role: Role, turn: int, body: str) -> bool:
    return (
        fault.role in (None, role)
        and fault.turn in (None, turn)
        and (fault.holds is None or fault.holds in body)
    )


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
        latency: Seconds that every message takes to be answered.
        batch_seconds: Seconds from the creation of a message batch to its end.
        cache_minimum: Tokens below which a marked prefix is not cached.
        log: A file that takes one JSON line a request; many processes may share it.
            None: nothing is written.
        store: A folder that keeps message batches, so that another process can collect
            them. None: they live as long as the server or transport.
        faults: How it misbehaves; the first that strikes counts.
        prefers: Which of two works its comparator prefers: `better`, the one of higher
            quality; `noisy`, the same with a part of the comparison added to each quality (sd
            `judging_sd`); `first` and `last`, whatever they are; `tie`, none.
        strays: Chance that one of the listed skills is opened where none fits, 0 to 1; each of
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
    latency: float = 0.0
    batch_seconds: float = 0.0
    cache_minimum: int = 1024
    log: str | None = None
    store: str | None = None
    faults: tuple[Fault, ...] = ()
    prefers: Prefers = "noisy"
    strays: float = 0.0
