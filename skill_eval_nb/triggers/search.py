"""The search for a description: what it asks a model for, measures and chooses, when it ends.

A model is asked within the budget, and never twice for the same.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
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
from skill_eval_nb.running.asking import AskingProgress, Item, Terms, ask_all, worst_usd
from skill_eval_nb.running.protocol import Refused
from skill_eval_nb.running.threads import Stopped
from skill_eval_nb.workspace import write_atomic
from skill_eval_nb.workspace.folders import OWN

from .attempt import Query
from .describe import MOST, faults_of
from .measurement import Measured, QueryOutcome
from .optimised import OptimisingProgress, SearchOver, Step, mean, scores_of

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
        ("failures", [_json(failure) for failure in _failures(base)]),
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
        read=partial(_read, steps=steps),
        max_tokens=MAX_TOKENS,
        who="the proposer",
    )


def _read(raw: Any, steps: Sequence[Step]) -> str:
    look = AnswerCheck()
    description = look.nonempty(check_form(raw, SCHEMA), "description", "the answer").strip()
    for fault in faults_of(description) if description else ():
        look.wrong(f"`description`: {fault}")
    for step in steps:
        if _plain(step.description) == _plain(description):
            look.wrong(f"`description`: it was tried in round {step.round}")
    look.done()
    return description


def _tell_tried(step: Step) -> dict[str, Any]:
    train = [run for outcome in _train(step) for run in outcome.right]
    return {
        "round": step.round,
        "description": step.description,
        "right": f"{sum(train)} of {len(train)} runs",
    }


def _failures(base: Step) -> Iterator[dict[str, Any]]:
    """The train queries with a wrong run, the worst first."""
    wrong = [outcome for outcome in _train(base) if outcome.share is not None and outcome.share < 1]
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


def _train(step: Step) -> list[QueryOutcome]:
    return [outcome for outcome in step.asked if outcome.query.split == "train"]


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _plain(text: str) -> str:
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
        raise SearchOver(f"the proposer may cost ${worst:.4f}, more than is left of the budget")

    def keep(description: str | None, usd: float | None) -> None:
        earlier = before.spent_usd
        spent = None if earlier is None or usd is None else earlier + usd
        record = {"description": description, "spent_usd": spent}
        path = folder / KEPT / f"{question.key}.json"
        write_atomic(path, json.dumps(record, indent=2) + "\n")

    def save(answered: Answered[str]) -> str:
        keep(answered.value, prices.cost(answered.usage, question.model))
        return answered.value

    keep(None, worst)
    key = question.key
    answers = ask_all([Item(key, "a description", question, None, save)], terms)
    if key in answers.failed:
        keep(None, answers.cost_usd)
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


def choose(steps: Sequence[Step]) -> tuple[Step, str]:
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
    from skill_eval_nb.stats.inference.exact import exact_p

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
        self.best, self.why = choose(self.steps)
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
            if ended := step.broken or self._end():
                return ended
            description = self.propose(self.leading)

    @property
    def leading(self) -> Step:
        """The step to build on: the best on the train queries; of several, the last."""
        return max(self.steps, key=lambda step: (_score_train(step), step.round))

    def _end(self) -> str:
        """Why the search ends after these steps; empty if it goes on."""
        steps, last = self.steps, self.steps[-1]
        if all(outcome.passes for outcome in last.asked if outcome.query.split == "train"):
            return f"every train query passes in round {last.round}"
        scores = [_score_train(step) for step in steps]
        if len(steps) > PATIENCE and max(scores[-PATIENCE:]) <= max(scores[:-PATIENCE]):
            return f"the train score did not improve in the last {PATIENCE} rounds"
        if len(steps) < self.rounds:
            return ""
        if self.rounds == 1:
            return "only one round was wanted"
        return f"all {self.rounds} rounds were made"


def _score_train(step: Step) -> float:
    return mean(step.asked, "train") or 0.0


@dataclass
class Money:
    """What a search may spend, and has spent.

    Attributes:
        ceiling_usd: the most that everything may cost, in US dollars; None for no ceiling.
        attempts: attempts in one round.
        last_attempts: attempts in the last measurement.
        cap_usd: the most that one attempt may cost; None if no price is known.
        costs: what each measurement and question has cost, earlier starts included, by name;
            None if a price is not known.
        made: what each attempt so far has cost.
    """

    ceiling_usd: float | None
    attempts: int
    last_attempts: int
    cap_usd: float | None
    costs: dict[str, float | None] = field(default_factory=dict)
    made: list[float] = field(default_factory=list)

    def count_measurement(self, measured: Measured) -> None:
        """Count a measurement."""
        self.costs[str(measured.folder)] = measured.cost_usd
        costs = (attempt.cost_usd for attempt in measured.attempts)
        self.made += [cost for cost in costs if cost is not None]

    @property
    def cost_usd(self) -> float | None:
        """US dollars spent, earlier starts included; None if a price is not known."""
        return None if None in self.costs.values() else self.spent_usd

    @property
    def spent_usd(self) -> float:
        """US dollars spent, as far as prices are known."""
        return sum(filter(None, self.costs.values()))

    def left(self, *, fresh: bool = False) -> float | None:
        """US dollars that may still be spent; None for no ceiling.

        The money for the last measurement is not included, except for that measurement itself
        (`fresh`).
        """
        if self.ceiling_usd is None:
            return None
        back = 0.0 if fresh else self._keep_back(self.ceiling_usd)
        return max(self.ceiling_usd - self.spent_usd - back, 0.0)

    def _keep_back(self, ceiling_usd: float) -> float:
        """US dollars for the last measurement.

        Its worst case, but not more than it would cost if every attempt were as expensive as the
        most expensive one so far, plus one worst case. Before any attempt was made: not more than
        its share of the ceiling.
        """
        cap = self.cap_usd or 0.0
        share = self.last_attempts / (self.attempts + self.last_attempts) * ceiling_usd
        likely = self.last_attempts * max(self.made) + cap if self.made else share
        return min(self.last_attempts * cap, likely)

    @property
    def holds_a_round(self) -> bool:
        """Whether another round probably fits, by the mean cost of the attempts so far."""
        left, usual = self.left(), sum(self.made) / max(len(self.made), 1)
        return left is None or left >= self.attempts * usual + (self.cap_usd or 0.0)


FRESH = "fresh"
"""The series of the last measurement, which never decides a choice."""
RESERVE = " (money is set aside for the last measurement)"
NO_ROUND = "the budget is probably too small for another round and the last measurement"


@dataclass(kw_only=True)
class PaidSearch(Search):
    """A search with real attempts and a proposer, within a budget; it continues earlier starts.

    Attributes:
        asking: makes the question for the proposer from the steps so far and the one to build on.
        queries: all queries, each with its split.
        measuring: `measure` with the arguments that never change.
        money: what may be spent.
        folder: where proposals are stored.
        terms: how the proposer is asked; once its `stop` is set, nothing more is begun.
        progress: called with each `OptimisingProgress`.
    """

    asking: Callable[[Sequence[Step], Step], Question[str]]
    queries: Sequence[Query]
    measuring: Callable[..., Measured]
    money: Money
    folder: Path
    terms: Terms
    progress: Callable[[OptimisingProgress], None] | None

    def measure(self, description: str, *, fresh: bool = False) -> Step:
        """Measure a description; see `Search.measure`."""
        self._heed()
        doing = "measuring again" if fresh else "measuring"
        first = not self.steps
        self._report(doing)
        measured = self.measuring(
            queries=[query for query in self.queries if not fresh or query.split == "test"],
            description=description,
            series=FRESH if fresh else "",
            budget_usd=self.money.left(fresh=fresh),
            progress=lambda progress: self._report(doing, progress),
            stop=self.terms.stop,
        )
        self.money.count_measurement(measured)
        asked, scores = measured.outcomes, scores_of(measured)
        doubts = measured.doubts.to_dicts() if first else []
        # If no run of the first round was scored, the doubts say why.
        done, tells = measured.status == "done", first or any(outcome.right for outcome in asked)
        reserve = "" if fresh or measured.status != "partial" else RESERVE
        return Step(
            0,
            description,
            asked,
            train=scores.get("train"),
            test=scores.get("test"),
            lacking=None if done and tells else measured.message + reserve,
            doubts=tuple(doubt["message"] for doubt in doubts),
            broken=" ".join(doubt["message"] for doubt in doubts if doubt["broken"]) or None,
        )

    def propose(self, base: Step) -> str:
        """Ask for the next description; see `Search.propose`."""
        self._heed()
        request = self.asking(self.steps, base)
        there = read_proposal(self.folder, request.key)
        self.money.costs[request.key] = there.spent_usd
        # If there is an answer, an earlier start began this round, and its attempts are reused.
        if there.description is None and not self.money.holds_a_round:
            raise SearchOver(NO_ROUND)
        self._report("proposing")
        try:
            return propose(request, self.folder, replace(self.terms, budget_usd=self.money.left()))
        except Stopped as error:
            raise SearchOver(str(error), halt=True) from error
        finally:
            self.money.costs[request.key] = read_proposal(self.folder, request.key).spent_usd

    def _heed(self) -> None:
        if self.terms.stop is not None and self.terms.stop.is_set():
            raise SearchOver("it was stopped", halt=True)

    def _report(
        self,
        doing: Literal["measuring", "proposing", "measuring again"],
        measuring: AskingProgress | None = None,
    ) -> None:
        if self.progress is None:
            return
        number = len(self.steps) + (doing != "measuring again")
        spent = self.money.spent_usd + (0.0 if measuring is None else measuring.spent_usd)
        self.progress(
            OptimisingProgress(doing, number, self.rounds, tuple(self.steps), measuring, spent)
        )


def split(queries: Sequence[Query], held_out: float, seed: int) -> tuple[Query, ...]:
    """Split queries into train and held-out ones, in the same proportion for each class.

    Queries with the same tags are spread over both parts as evenly as possible. Where a query goes
    depends on the seed and its words, not on its place. Queries that state a split keep it.

    Args:
        queries: at least two of each class, no two with the same words.
        held_out: the share of each class to hold out, above 0 and below 1; at least one query of
            each class is held out, and at least one is not.
        seed: for the random split.

    Returns:
        The same queries in the same order, each with its split.

    Raises:
        Refused: the share is not one, a query occurs twice, or a part lacks a class; all faults
            at once.

    >>> asked = [Query(f"q{n}", should_trigger=n < 5) for n in range(10)]
    >>> dealt = split(asked, 0.4, seed=0)
    >>> sum(one.split == "test" for one in dealt if one.should_trigger)
    2
    """
    counts = Counter(" ".join(query.query.casefold().split()) for query in queries)
    # Queries that differ only in spaces and capitals could end up in both parts.
    faults = [
        f"the query “{words[:80]}” occurs {times} times, so it could be both train and held-out: "
        "keep one of them"
        for words, times in counts.items()
        if times > 1
    ]
    if not 0 < held_out < 1:
        faults.append(f"held_out is {held_out}: it is a share of the queries, such as 0.4")
        raise Refused(faults)

    def drawn(query: Query) -> str:
        text = f"{seed}\n{query.query}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(text).hexdigest()

    tested: set[Query] = set()
    for should in (True, False):
        own = [query for query in queries if query.should_trigger == should and query.split is None]
        own.sort(key=lambda query: (sorted(query.tags), drawn(query)))
        wanted = min(max(round(held_out * len(own)), 1), len(own) - 1)
        tested.update(own[int((at + 0.5) * len(own) / wanted)] for at in range(wanted))
    dealt = tuple(
        query if query.split else replace(query, split="test" if query in tested else "train")
        for query in queries
    )
    for should, verb in ((True, "should"), (False, "should not")):
        for half, name in (("train", "train"), ("test", "held-out")):
            if not any(query.should_trigger == should and query.split == half for query in dealt):
                faults.append(
                    f"there is no {name} query that {verb} trigger: a search needs at least two "
                    "such queries, better ten, some to learn from and some to choose by"
                )
    if faults:
        raise Refused(faults)
    return dealt
