"""The search for a description: what it asks a model for, measures and chooses, when it ends.

A model is asked within the budget, and never twice for the same.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.models.ask import (
    FENCED_RULE,
    TEXT,
    AnswerCheck,
    Answered,
    Question,
    an_object,
    check_form,
    fence_lines,
    keyed_question,
    shorten_text,
)
from skill_eval_nb.running.asking import Item, Terms, ask_all, worst_usd
from skill_eval_nb.text import count
from skill_eval_nb.workspace import write_atomic
from skill_eval_nb.workspace.folders import OWN

from .describe import MOST, faults_of
from .measurement import Measured, QueryOutcome

Split = Literal["train", "test"]


@dataclass(frozen=True, slots=True)
class Score:
    """The share of runs that were right, 0-1, with its interval.

    Attributes:
        score: the share.
        low: the lower end of its 95 % interval, for queries like these.
        high: the upper end.
        n_queries: queries that it is based on.
        n_runs: runs that it is based on.
    """

    score: float
    low: float
    high: float
    n_queries: int
    n_runs: int

    def __str__(self) -> str:
        return f"{self.score:.0%} ({self.low:.0%} to {self.high:.0%})"


def scores_of(measured: Measured) -> dict[Split, Score]:
    """The score of each part of the queries with scored runs, by `stats.trigger_scores`."""
    from skill_eval_nb.stats import trigger_scores

    found: dict[Split, Score] = {}
    for row in trigger_scores(measured.attempts_table(), by="split").to_dicts():
        own = (one for one in measured.outcomes if one.query.split == row["split"])
        runs = [len(outcome.right) for outcome in own if outcome.right]
        if runs:
            figures = (row[f"run_accuracy{end}"] for end in ("", "_low", "_high"))
            found[row["split"]] = Score(*figures, n_queries=len(runs), n_runs=sum(runs))
    return found


@dataclass(frozen=True, slots=True)
class Step:
    """One description that was measured.

    Attributes:
        round: 1 for the current description, then 2, 3, …
        description: the words.
        asked: each query with its runs.
        train: its score on the train queries; None if no run was scored.
        test: its score on the held-out queries. It decides the choice, so it flatters the winner.
        lacking: why not all runs were made; None if they were. Only a complete step can be chosen.
        doubts: what is odd about the first measurement, in words.
        broken: why the first measurement cannot be trusted; None if it can.
        is_best: whether it was chosen.
    """

    round: int
    description: str
    asked: tuple[QueryOutcome, ...] = field(default=(), repr=False)
    train: Score | None = None
    test: Score | None = None
    lacking: str | None = None
    doubts: tuple[str, ...] = ()
    broken: str | None = None
    is_best: bool = False

    @property
    def row(self) -> dict[str, Any]:
        """The description with its scores and their intervals, as named values."""
        ends = score_row("train", self.train) | score_row("test", self.test)
        return {"description": self.description, **ends}


def score_row(name: str, score: Score | None) -> dict[str, float | None]:
    """A score and its interval as named values; null if there is none."""
    figures = (None,) * 3 if score is None else (score.score, score.low, score.high)
    return dict(zip((f"{name}_score", f"{name}_low", f"{name}_high"), figures, strict=True))


class SearchOver(Exception):
    """Nothing more can be measured or proposed; `halt`: the last measurement is not made either."""

    def __init__(self, reason: str, *, halt: bool = False) -> None:
        super().__init__(reason)
        self.halt = halt


SYSTEM = (
    f"""\
You help the author of an agent skill. An agent sees a list of skills, each by its name and \
description alone, and opens one where the description says that it fits what the user asks. \
Write a better description for one skill: it is to be opened for the queries that should trigger \
it, and left alone for the others.

Rules

1. Say what the skill does and when to use it, in the third person, as in “Does … Use when …”. \
Say what users ask for and how they put it; where a query was taken wrongly, say what the skill \
is not for.
2. The queries that you are shown are a sample. Name the kind of request behind them, and do not \
list them: the description is judged by other queries, which you do not see.
3. The description competes with those of other skills. Do not claim what the skill cannot do.
4. One line of plain text, at most {MOST:,} characters, and better a few hundred; no `<` or `>`, \
no `---`.
5. It is to differ from every description that was tried before. Their results are on the same \
queries: learn from them.
6. `why` says in one or two sentences what you change and what for.
7. """
    + FENCED_RULE
)
SCHEMA = an_object(why=TEXT, description=TEXT)
MOST_QUERIES, QUERY_CHARS, BODY_CHARS = 60, 500, 6_000
MOST_INSTEAD = 3
MAX_TOKENS = 4_000


def question(
    model: str,
    name: str,
    body: str,
    steps: Sequence[Step],
    base: Step,
    competing: Sequence[tuple[str, str]],
) -> Question[str]:
    """Ask for another description.

    Args:
        model: the model to ask.
        name: the skill's name.
        body: its SKILL.md below the front matter.
        steps: the descriptions tried so far; the model sees only their train queries.
        base: the step whose failures are shown.
        competing: names and descriptions of other skills.
    """
    parts = [
        ("skill", [f"Name: {name}", "", shorten_text(body, BODY_CHARS)]),
        ("tried", [_json(_tell_tried(step)) for step in steps]),
        ("failures", [_json(failure) for failure in _list_failures(base)]),
        ("competing", [_json({"name": skill, "description": other}) for skill, other in competing]),
    ]
    nonce, blocks = fence_lines(parts)
    intro = (
        f"The fences' nonce is {nonce}. `tried` has the descriptions so far, each with its runs on "
        f"the train queries; `failures` has the train queries that went wrong in round "
        f"{base.round}; `competing` other skills that may be on the list."
    )
    return keyed_question(
        model,
        SYSTEM,
        "\n\n".join([intro, *blocks]),
        wish="Now write the description.\n",
        schema=SCHEMA,
        read=partial(_read_answer, steps=steps),
        max_tokens=MAX_TOKENS,
        who="the proposer",
    )


def _read_answer(raw: Any, steps: Sequence[Step]) -> str:
    look = AnswerCheck()
    description = look.read_text(check_form(raw, SCHEMA), "description", "the answer").strip()
    for fault in faults_of(description) if description else ():
        look.note_fault(f"`description`: {fault}")
    for step in steps:
        if _normalise(step.description) == _normalise(description):
            look.note_fault(f"`description`: it was tried in round {step.round}")
    look.raise_faults()
    return description


def _tell_tried(step: Step) -> dict[str, Any]:
    train = [run for outcome in _train_outcomes(step) for run in outcome.right]
    return {
        "round": step.round,
        "description": step.description,
        "right": f"{sum(train)} of {len(train)} runs",
    }


def _list_failures(base: Step) -> Iterator[dict[str, Any]]:
    """The train queries with a wrong run, the worst first."""
    wrong = [one for one in _train_outcomes(base) if one.share is not None and one.share < 1]
    wrong.sort(key=lambda outcome: outcome.share or 0.0)
    for outcome in wrong[:MOST_QUERIES]:
        should = outcome.query.should_trigger
        opened = sum(right == should for right in outcome.right)
        yield {
            "query": shorten_text(outcome.query.query, QUERY_CHARS),
            "should_trigger": should,
            "triggered": f"{opened} of {len(outcome.right)} runs",
            "instead": [text for text, _ in Counter(outcome.instead).most_common(MOST_INSTEAD)],
        }


def _train_outcomes(step: Step) -> list[QueryOutcome]:
    return [outcome for outcome in step.asked if outcome.query.split == "train"]


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _normalise(text: str) -> str:
    """A description as it is compared: spaces and capitals do not count."""
    return " ".join(text.casefold().split())


KEPT = Path(OWN, "proposals")


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is stored of a question to the proposer.

    Attributes:
        description: its answer; None if there is none yet.
        spent_usd: what it has cost; an answer that never came counts at its worst case. None if
            a price is not known.
    """

    description: str | None = None
    spent_usd: float | None = 0.0


def read_proposal(folder: Path, key: str) -> Proposal:
    """What is stored of a question; nothing if it was not asked, or cannot be read."""
    try:
        record: Any = json.loads(read_bytes(folder / KEPT / f"{key}.json"))
        return Proposal(record["description"], record["spent_usd"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return Proposal()


def propose(question: Question[str], folder: Path, terms: Terms) -> str:
    """Ask for a description; a stored answer is returned without asking.

    The worst price is stored before the question is asked, and the answer as soon as it arrives.

    Args:
        question: what to ask.
        folder: where answers are stored.
        terms: how to ask, with the most that it may cost now.

    Raises:
        SearchOver: there is no answer, or no money for it.
        Stopped: `stop` was set.
        ModelFault: no API key was found.
        OSError: the answer cannot be stored.
    """
    before, prices = read_proposal(folder, question.key), terms.known_prices
    if before.description is not None:
        return before.description
    worst = worst_usd([question], prices)
    if terms.budget_usd is not None and worst is not None and worst > terms.budget_usd:
        raise SearchOver(f"the proposer may cost ${worst:.4f}, more than the rest of the budget")

    def store(description: str | None, usd: float | None) -> None:
        earlier = before.spent_usd
        spent = None if earlier is None or usd is None else earlier + usd
        record = {"description": description, "spent_usd": spent}
        path = folder / KEPT / f"{question.key}.json"
        write_atomic(path, json.dumps(record, indent=2) + "\n")

    def save(answered: Answered[str]) -> str:
        store(answered.value, prices.cost(answered.usage, question.model))
        return answered.value

    store(None, worst)
    key = question.key
    answers = ask_all([Item(key, "a description", question, None, save)], terms)
    if key in answers.failed:
        store(None, answers.cost_usd)
        raise SearchOver(f"there is no further proposal: {answers.failed[key].reason}")
    return answers.values[key]


LEVEL = 0.125
"""The largest p at which a description replaces another. Three queries that go one way, with none
going the other, just reach it. A wrong step costs little: the two are then about equally good.
"""
SURE = 0.05
"""The largest p, shared among all comparisons, at which a description is called better; above it,
it only seems better.
"""


@dataclass(frozen=True, slots=True)
class Paired:
    """A description compared with an earlier one on the same held-out queries.

    Attributes:
        before: the mean share of right runs of the earlier one, 0-1.
        after: that of the later one.
        n: queries that have runs of both.
        p: the chance of a lead at least this large if each query's two results could just as well
            be swapped; exact; None if the later one does not lead.
    """

    before: float
    after: float
    n: int
    p: float | None


def choose_step(steps: Sequence[Step]) -> tuple[Step, str]:
    """Choose among descriptions by the held-out queries alone, and say why.

    They are compared in order, the current one first. A later one replaces it if it does better
    than chance explains. If the two cannot be told apart, the earlier one stays, unless the later
    one is shorter and scores no lower.

    Args:
        steps: the first is the current description, and is kept if no other was fully measured.
    """
    best = steps[0]
    sentences = []
    for step in steps[1:]:
        pair = pair_steps(best, step)
        if step.lacking is not None:
            sentences.append(f"{_name(step)} was not finished, so it cannot be chosen.")
        elif pair is None:
            sentences.append(f"{_name(step)} has no held-out query to be compared by.")
        else:
            best, words = _choose_of_two(best, step, pair, SURE / (len(steps) - 1))
            sentences.append(words)
    first = "is chosen" if best is not steps[0] else "is kept"
    every = [f"{_name(best)} {first}.", *sentences]
    return best, " ".join(f"{sentence[0].upper()}{sentence[1:]}" for sentence in every)


def _choose_of_two(best: Step, step: Step, pair: Paired, sure: float) -> tuple[Step, str]:
    """Which of two to keep, and why; `sure` is the largest p that shows a difference."""
    chance = "" if pair.p is None else f" (exact one-sided p = {pair.p:.2g})"
    against = (
        f"{pair.after:.0%} right on {pair.n} held-out queries against {pair.before:.0%}{chance}"
    )
    if pair.p is not None and pair.p <= sure:
        return step, f"{_name(step)} is better than {_name(best)}: {against}."
    if pair.p is not None and pair.p <= LEVEL:
        words = f"{_name(step)} seems better than {_name(best)}: {against}, which may be chance."
        return step, words
    if pair.after < pair.before:
        return best, f"{_name(step)} scores lower than {_name(best)}: {against}."
    shorter = len(step.description) < len(best.description)
    kept = "shorter" if shorter else "earlier"
    words = (
        f"{_name(step)} and {_name(best)} cannot be told apart: {against}, so the {kept} one is "
        "kept."
    )
    return step if shorter else best, words


def pair_steps(before: Step, after: Step) -> Paired | None:
    """Compare two descriptions query by query; None if they share no query with runs.

    The test is the exact permutation test with one value a query and side, the share of right
    runs: it flips the sign of each query's difference. Its result holds for queries like these, not
        only for these.
    """
    from skill_eval_nb.stats.inference import exact_p

    shares = {row.query: row.share for row in before.asked if row.query.split == "test"}
    both = [
        (outcome.share, known)
        for outcome in after.asked
        if outcome.share is not None and (known := shares.get(outcome.query)) is not None
    ]
    if not both:
        return None
    later, earlier = (sum(side) / len(both) for side in zip(*both, strict=True))
    leads = later > earlier + 1e-9
    p = exact_p([([share], [other]) for share, other in both]) / 2 if leads else None
    return Paired(earlier, later, len(both), p)


def _name(step: Step) -> str:
    return "the current description" if step.round == 1 else f"round {step.round}"


PATIENCE = 2
"""A search ends after this many rounds without a better train score."""


NOTHING = "Nothing was measured."


@dataclass(kw_only=True)
class Search:
    """A search for a better description; subclasses define how it measures and proposes.

    Proposals and the end of the search depend only on train queries, the choice only on held-out
    ones. The score that decides is biased upwards, so the choice is measured once more.

    Attributes:
        present: the current description, which is measured first.
        rounds: the most descriptions to measure, including the current one.
        steps: those measured so far, in order.
        best: the one that was chosen; None if none was measured.
        why: why it was chosen, in words.
        fresh: its results on new runs of the held-out queries; None if they were not made.
        ended: why the search ended, in words.
        status: `partial` if anything but its own rules ended it, such as the budget;
            `broken` where the first measurement cannot be trusted.
    """

    present: str
    rounds: int = 5
    steps: list[Step] = field(default_factory=list)
    best: Step | None = None
    why: str = NOTHING
    fresh: Step | None = None
    ended: str = ""
    status: Literal["done", "partial", "broken"] = "done"

    def measure(self, description: str, *, fresh: bool = False) -> Step:
        """Measure a description; with `fresh`, on new runs of the held-out queries only.

        Raises:
            SearchOver: nothing was measured.
        """
        raise NotImplementedError

    def propose(self, base: Step) -> str:
        """Propose another description, based on a step.

        Raises:
            SearchOver: there is none.
        """
        raise NotImplementedError

    def run_search(self) -> Self:
        """Measure and propose until the end, choose, and measure the choice once more."""
        over, lacking = None, None
        try:
            self.ended = self._try_descriptions()
        except SearchOver as error:
            over, self.ended, self.status = error, str(error), "partial"
        if not self.steps:
            return self
        first = self.steps[0]
        if over is None and first.broken is not None:
            self.best, self.why, self.status = first, first.broken, "broken"
            return self
        self.best, self.why = choose_step(self.steps)
        if over is None or not over.halt:
            try:
                self.fresh = self.measure(self.best.description, fresh=True)
                lacking = self.fresh.lacking
            except SearchOver as error:
                lacking = str(error)
        if lacking is not None:
            self.ended += f"; the last measurement was not finished: {lacking}"
            self.status = "partial"
        return self

    def _try_descriptions(self) -> str:
        """Measure and propose in turn; returns why it ended."""
        description = self.present
        while True:
            step = replace(self.measure(description), round=len(self.steps) + 1)
            self.steps.append(step)
            if step.lacking is not None:
                why = f"round {step.round} was not finished: {step.lacking}"
                raise SearchOver(why, halt=step.round == 1)
            if ended := step.broken or self._reason_to_end():
                return ended
            description = self.propose(self.leading)

    @property
    def leading(self) -> Step:
        """The step to build on: the best on the train queries; of several, the last."""
        return max(self.steps, key=lambda step: (_score_train(step), step.round))

    def _reason_to_end(self) -> str:
        """Why the search ends after these steps; empty if it goes on."""
        steps, last = self.steps, self.steps[-1]
        if all(outcome.passes for outcome in last.asked if outcome.query.split == "train"):
            return f"every train query passes in round {last.round}"
        scores = [_score_train(step) for step in steps]
        if len(steps) > PATIENCE and max(scores[-PATIENCE:]) <= max(scores[:-PATIENCE]):
            return f"the train score did not improve in the last {PATIENCE} rounds"
        is_last = len(steps) >= self.rounds
        return f"the last of {count(self.rounds, 'round')} was made" if is_last else ""


def _score_train(step: Step) -> float:
    """The share of runs of train queries that were right; 0 if no run was scored."""
    runs = [run for outcome in _train_outcomes(step) for run in outcome.right]
    return sum(runs) / len(runs) if runs else 0.0
