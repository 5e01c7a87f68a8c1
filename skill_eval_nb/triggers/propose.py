"""The proposer asked: within the ceiling, each answer kept, the same question never paid twice."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.models.ask import (
    FENCED_RULE,
    TEXT,
    AnswerCheck,
    Answered,
    Question,
    an_object,
    fenced,
    formed,
    shortened,
)
from skill_eval_nb.running.asking import NO_MONEY, ask_all, worst_usd
from skill_eval_nb.workspace import write_atomic
from skill_eval_nb.workspace.layout import OWN

from .describe import MOST, faults_of
from .optimised import QueryOutcome, Round, SearchOver

if TYPE_CHECKING:
    from skill_eval_nb.models import Connection, Prices


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
    rounds: Sequence[Round],
    base: Round,
    competing: Sequence[tuple[str, str]],
) -> Question[str]:
    """Ask for another description.

    Args:
        model: who is asked.
        name: the skill's name.
        body: its SKILL.md below the front matter.
        rounds: what was tried; of each only the train queries are told.
        base: the one whose failures are shown.
        competing: names and descriptions of other skills.
    """
    text = _prompt(name, body, rounds, base, competing)
    content = f"{model}\n{SYSTEM}\n{text}".encode("utf-8", "replace")
    return Question(
        key=hashlib.sha256(content).hexdigest()[:24],
        model=model,
        system=SYSTEM,
        content=[{"type": "text", "text": f"{text}\n\nNow write the description.\n"}],
        schema=SCHEMA,
        read=partial(_read, rounds=rounds),
        max_tokens=MAX_TOKENS,
        who="the proposer",
    )


def _read(raw: Any, rounds: Sequence[Round]) -> str:
    look = AnswerCheck()
    description = look.nonempty(formed(raw, SCHEMA), "description", "the answer").strip()
    for fault in faults_of(description) if description else ():
        look.wrong(f"`description`: {fault}")
    for round_ in rounds:
        if _plain(round_.description) == _plain(description):
            look.wrong(f"`description`: it was tried in round {round_.number}")
    look.done()
    return description


def _prompt(
    name: str,
    body: str,
    rounds: Sequence[Round],
    base: Round,
    competing: Sequence[tuple[str, str]],
) -> str:
    parts = [
        ("skill", [f"Name: {name}", "", shortened(body, BODY_CHARS)]),
        ("tried", [_json(_tried(round_)) for round_ in rounds]),
        ("failures", [_json(failure) for failure in _failures(base)]),
        ("competing", [_json({"name": skill, "description": other}) for skill, other in competing]),
    ]
    nonce, blocks = fenced(parts)
    intro = (
        f"The fences' nonce is {nonce}. `tried` has the descriptions so far, each with its runs on "
        f"the train queries; `failures` has the train queries that went wrong in round "
        f"{base.number}; `competing` other skills that may be on the list."
    )
    return "\n\n".join([intro, *blocks])


def _tried(round_: Round) -> dict[str, Any]:
    train = [run for outcome in _train(round_) for run in outcome.right]
    return {
        "round": round_.number,
        "description": round_.description,
        "right": f"{sum(train)} of {len(train)} runs",
    }


def _failures(base: Round) -> Iterator[dict[str, Any]]:
    """The train queries with a wrong run, the worst first."""
    wrong = [outcome for outcome in _train(base) if outcome.share is not None and outcome.share < 1]
    wrong.sort(key=lambda outcome: outcome.share or 0.0)
    for outcome in wrong[:MOST_QUERIES]:
        should = outcome.query.should_trigger
        opened = sum(right == should for right in outcome.right)
        yield {
            "query": shortened(outcome.query.query, QUERY_CHARS),
            "should_trigger": should,
            "triggered": f"{opened} of {len(outcome.right)} runs",
            "instead": [text for text, _ in Counter(outcome.instead).most_common(MOST_INSTEAD)],
        }


def _train(round_: Round) -> list[QueryOutcome]:
    return [outcome for outcome in round_.outcomes if outcome.query.split == "train"]


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _plain(text: str) -> str:
    """A description as it is compared: neither spaces nor capitals make it another."""
    return " ".join(text.casefold().split())


KEPT = Path(OWN, "proposals")


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is kept of a question to the proposer.

    Attributes:
        description: its answer; None where there is none yet.
        spent_usd: what it has cost, an answer that never came at its worst; None where a price
            is not known.
    """

    description: str | None = None
    spent_usd: float | None = 0.0


def kept(folder: Path, key: str) -> Proposal:
    """What is there of a question; nothing where it was not asked, or cannot be read."""
    try:
        record: Any = json.loads(read_bytes(folder / KEPT / f"{key}.json"))
        return Proposal(record["description"], record["spent_usd"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return Proposal()


def propose(
    question: Question[str],
    folder: Path,
    *,
    left_usd: float | None,
    connection: Connection | None,
    prices: Prices,
    stop: threading.Event | None,
) -> Proposal:
    """Ask for a description; an answer that is kept is given back as it is.

    That it was asked is written before, with its worst price, and the answer as soon as it came.

    Args:
        question: what is asked.
        folder: where answers are kept.
        left_usd: the most that it may cost now; None for no ceiling.
        connection: how the model is reached.
        prices: what calls cost.
        stop: once it is set, asking ends.

    Raises:
        Over: there is no answer, or no money for it.
        Stopped: `stop` was set.
        ModelFault: no API key was found.
        OSError: the answer cannot be kept.
    """
    before = kept(folder, question.key)
    if before.description is not None:
        return before
    worst = worst_usd([question], prices)
    if left_usd is not None and worst is not None and worst > left_usd:
        raise SearchOver(f"the proposer may cost ${worst:.4f}, and the budget does not hold it")
    _keep(folder, question.key, Proposal(None, _sum(before.spent_usd, worst)))

    def keep(_: Question[str], answered: Answered[str]) -> None:
        spent = _sum(before.spent_usd, prices.cost(answered.usage, question.model))
        _keep(folder, question.key, Proposal(answered.value, spent))

    replies = ask_all(
        [question],
        connection=connection,
        prices=prices,
        budget_usd=left_usd,
        keep=keep,
        stop=stop,
    )
    if question.key in replies.failed:
        reason = replies.failed[question.key]
        spent = 0.0 if reason == NO_MONEY else replies.cost_usd
        _keep(folder, question.key, Proposal(None, _sum(before.spent_usd, spent)))
        raise SearchOver(f"there is no further proposal: {reason}")
    return kept(folder, question.key)


def _keep(folder: Path, key: str, proposal: Proposal) -> None:
    record = {"description": proposal.description, "spent_usd": proposal.spent_usd}
    write_atomic(folder / KEPT / f"{key}.json", json.dumps(record, indent=2) + "\n")


def _sum(usd: float | None, other: float | None) -> float | None:
    return None if usd is None or other is None else usd + other
