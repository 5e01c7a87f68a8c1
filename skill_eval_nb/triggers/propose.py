"""Ask a model for another description: within the budget, and never twice for the same."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

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
from skill_eval_nb.workspace import write_atomic
from skill_eval_nb.workspace.folders import OWN

from .describe import MOST, faults_of
from .measured import QueryOutcome
from .optimised import SearchOver, Step

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


def kept(folder: Path, key: str) -> Proposal:
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
    before, prices = kept(folder, question.key), terms.known_prices
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
