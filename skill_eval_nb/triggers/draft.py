"""`draft_queries`: have a model draft realistic queries for a skill, mainly near misses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from skill_eval_nb.models.ask import (
    FENCED_RULE,
    TEXT,
    YES_OR_NO,
    AnswerCheck,
    Question,
    a_list,
    an_object,
    check_form,
    fence_lines,
    keyed_question,
    or_null,
    short,
    shorten_text,
)
from skill_eval_nb.running.asking import PaidAnswer, Terms, ask_once
from skill_eval_nb.running.protocol import refuse
from skill_eval_nb.running.skill import SkillSource, folder_beside
from skill_eval_nb.skill_md import read_text
from skill_eval_nb.text import brief
from skill_eval_nb.workspace import PathLike
from skill_eval_nb.workspace.folders import OWN

from .attempt import Others, Query, read_offer
from .queries import QueryDoubt, check_queries, gives_away, plain, read_queries, write_queries

if TYPE_CHECKING:
    from skill_eval_nb.models import Connection, Prices


NEAR_MISS = "near miss"
"""The tag of a query that is close to what the skill does but is not for it."""
MOST_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Demand:
    """What to draft: half of the queries should trigger, the others should not.

    Attributes:
        n: how many queries.
        skill: the skill that they are for.
        others: the skills installed next to it.
        existing: the queries that already exist.
    """

    n: int
    skill: SkillSource
    others: tuple[SkillSource, ...]
    existing: tuple[Query, ...]

    @property
    def numbers(self) -> tuple[int, int, int]:
        """How many should trigger, how many should not, and the least near misses of these."""
        negatives = self.n // 2
        return self.n - negatives, negatives, (negatives + 1) // 2


def read(raw: Any, wanted: Demand) -> tuple[Query, ...]:
    """The queries of an answer.

    Some things are not faults here, but doubts of `check_queries`: queries that say nearly the
    same, and a name of one word, such as `pdf`, which users may say anyway.

    Raises:
        BadAnswer: if anything is wrong; it lists every fault with its query.
    """
    look = AnswerCheck()
    rows = check_form(raw, SCHEMA)["queries"]
    found = [_query(row, look, f"queries[{at}]", wanted) for at, row in enumerate(rows)]
    _see_all(found, look, wanted)
    look.done()
    return tuple(found)


def _query(row: dict[str, Any], look: AnswerCheck, where: str, wanted: Demand) -> Query:
    text = " ".join(look.nonempty(row, "query", where).split())
    should, near, right = row["should_trigger"], row["near_miss"], row.get("right_skill")
    if len(text) > MOST_CHARS:
        look.wrong(f"{where}: `query` has {len(text):,} characters; at most {MOST_CHARS:,}")
    if re.search(r"[\W_]", wanted.skill.name) and gives_away(text, wanted.skill.name):
        look.wrong(f"{where}: `query` names the skill, {wanted.skill.name}")
    if should and near:
        look.wrong(f"{where}: a near miss should not trigger")
    if right is not None and (should or not near):
        look.wrong(f"{where}: `right_skill` is for near misses alone; null elsewhere")
    elif right is not None and right not in (others := [other.name for other in wanted.others]):
        known = ", ".join(others) or "none"
        look.wrong(f"{where}: no other skill is called {short(right)}; there are {known}")
    tags = (NEAR_MISS, *([f"for {right}"] if right is not None else [])) if near else ()
    return Query(text, should, tags)


def _see_all(found: Sequence[Query], look: AnswerCheck, wanted: Demand) -> None:
    """Check the numbers of queries, and that none is repeated."""
    positives, negatives, near_misses = wanted.numbers
    should = sum(query.should_trigger for query in found)
    near = sum(NEAR_MISS in query.tags for query in found)
    if should != positives:
        look.wrong(f"there are {should} queries that should trigger, not {positives}")
    if len(found) - should != negatives:
        missed = len(found) - should
        look.wrong(f"there are {missed} queries that should not trigger, not {negatives}")
    if near < near_misses:
        look.wrong(f"there are {near} near misses; at least {near_misses}")
    known = {plain(query.query): "a query that there is already" for query in wanted.existing}
    for at, query in enumerate(found):
        words = plain(query.query)
        if words and words in known:
            look.wrong(f"queries[{at}] repeats {known[words]}")
        known.setdefault(words, f"queries[{at}]")


SYSTEM = (
    """\
You write trigger evals for the author of an agent skill. A model sees the name and the \
description of each skill that is installed, and opens one where a user's request calls for it. \
You are shown one skill, the others that are installed beside it, and the queries that there are \
already. Write queries that show whether its description makes a model open it when it should, \
and only then.

Rules

1. Write what real users type: first person, a purpose, names of files and columns, figures, bits \
of background, now and then a typing error or no capital letters. Vary length (one line to a \
paragraph), tone and the way the wish is put. Every query stands on its own.
2. Queries that should trigger need what the skill does, mostly without its own words: another \
name for the thing, a symptom, a goal. They are large enough that a model would look for help.
3. Queries that should not trigger are near misses above all (`near_miss` true): the same words, \
files or field, and yet another task, one for another of the installed skills or for none. Few, \
if any, are plainly about something else.
4. `right_skill` is the name of the installed skill that a near miss is for; null where it is for \
none, and for every query that should trigger.
5. Never name the skill. Never say that there is a skill, a trigger, a test or an eval.
6. No query repeats another one, or one that there is already, in nearly the same words.
7. `why` says in a few words what the query puts to the test.
8. """
    + FENCED_RULE
)
SCHEMA: dict[str, Any] = an_object(
    queries=a_list(
        an_object(
            # The reason comes before the query, so that it is written first.
            why=TEXT,
            should_trigger=YES_OR_NO,
            near_miss=YES_OR_NO,
            right_skill=or_null(TEXT),
            query=TEXT,
        )
    )
)
SKILL_CHARS, TEXT_CHARS, MOST_EXISTING = 12_000, 1_024, 200
TOKENS_A_QUERY, TOKENS_AROUND = 250, 2_000


def question_of(model: str, wanted: Demand) -> Question[tuple[Query, ...]]:
    """The question; the same material and model always make the same one."""
    return keyed_question(
        model,
        SYSTEM,
        _demand_text(wanted),
        schema=SCHEMA,
        read=partial(read, wanted=wanted),
        max_tokens=TOKENS_AROUND + TOKENS_A_QUERY * wanted.n,
        who="the drafter",
    )


def _demand_text(wanted: Demand) -> str:
    body = read_text(wanted.skill.folder)
    existing = [
        f"- ({'should' if query.should_trigger else 'should not'}) {_line(query.query)}"
        for query in wanted.existing[:MOST_EXISTING]
    ]
    parts = [
        ("skill", [shorten_text(body, SKILL_CHARS)]),
        ("others", [f"- {other.name}: {_line(other.description)}" for other in wanted.others]),
        ("existing", existing),
    ]
    nonce, blocks = fence_lines(parts)
    sections = [f"The skill is {wanted.skill.name}. The fences' nonce is {nonce}.", *blocks]
    if len(wanted.existing) > MOST_EXISTING:
        sections.append(f"{len(wanted.existing) - MOST_EXISTING} more existing are not shown.")
    positives, negatives, near_misses = wanted.numbers
    sections.append(
        f"Now write exactly {positives} queries that should trigger and {negatives} "
        f"that should not, at least {near_misses} of these near misses."
    )
    return "\n\n".join(sections)


def _line(text: str) -> str:
    return brief(text, TEXT_CHARS)


class DraftedQueries(tuple[Query, ...]):  # noqa: SLOT001 -- a tuple cannot have slots of its own
    """Drafted queries, as a tuple.

    Attributes:
        doubts: what `check_queries` says of the existing queries and these together.
        price_usd: the most that asking costs, in US dollars; 0 if an answer is stored, None if the
            price is not known.
        cost_usd: what was spent now, in US dollars; None if the price is not known.
        unasked: why there are none; None if there are.
    """

    doubts: tuple[QueryDoubt, ...]
    price_usd: float | None
    cost_usd: float | None
    unasked: str | None

    def __new__(cls, answer: PaidAnswer[tuple[Query, ...]]) -> Self:
        """The queries of an answer, with its price and cost."""
        queries = sorted(answer.value or (), key=lambda query: not query.should_trigger)
        drafted = super().__new__(cls, queries)
        drafted.price_usd, drafted.cost_usd = answer.price_usd, answer.cost_usd
        drafted.doubts, drafted.unasked = (), answer.unasked
        return drafted

    def __repr__(self) -> str:
        lines = [f"drafted {len(self)} queries" if self else f"nothing drafted: {self.unasked}"]
        for query in self:
            tags = f"  [{', '.join(query.tags)}]" if query.tags else ""
            should = "should    " if query.should_trigger else "should not"
            lines.append(f"  {should}  {brief(query.query, 200)}{tags}")
        return "\n".join([*lines, *(f"  {doubt.doubt}: {doubt.message}" for doubt in self.doubts)])


MOST = 100
"""The most queries that are drafted at once."""
KEPT = Path(OWN, "queries")


def draft_queries(
    skill: PathLike,
    *,
    model: str,
    n: int = 20,
    others: Others = "none",
    existing: Iterable[Query] = (),
    folder: PathLike | None = None,
    connection: Connection | None = None,
    prices: Prices | None = None,
    budget_usd: float | None = None,
    dry_run: bool = False,
) -> DraftedQueries:
    """Ask a model for queries that should and should not make an agent open a skill.

    Half of them should, the others should not; at least half of these are near misses (tagged `near
    miss`, and `for NAME` where another skill would be right). The answer is stored, so the same
    question is never paid for twice; pass its queries as `existing` to get others.

    Args:
        skill: the skill's folder or its SKILL.md; the model sees the beginning of it.
        model: who drafts; an offline model costs nothing.
        n: queries to draft, 2 to 100.
        others: the skills next to it, as for `measure`; the model sees their names and
            descriptions.
        existing: queries that already exist; none of them is repeated.
        folder: where the answer is stored; by default NAME-workspace next to the skill.
        connection: how the model is reached; if not given, the stand-in answers in process for
            its own models; other models are called over the network.
        prices: what calls cost; the bundled table if not given.
        budget_usd: the most that may be spent, in US dollars; without it, a model that costs money
            is not asked, and `unasked` says so.
        dry_run: do not ask; `price_usd` is the most that the answer can cost.

    Returns:
        The queries, those that should trigger first; none if `unasked` says why.

    Raises:
        Refused: a skill cannot be read, two have the same name, n is out of bounds, the budget is
            too small, the folder cannot be written, or queries are already being drafted there. It
            is a ValueError.
        ModelFault: the model cannot be reached because there is no key.
        OSError: the answer cannot be written.
    """
    if not 2 <= n <= MOST:
        raise refuse(f"n is {n}: it must be from 2 to {MOST}, half of each class")
    offer = read_offer(skill, others, None)
    source = offer.skill
    wanted = Demand(n, source, offer.others, tuple(existing))
    question = question_of(model, wanted)
    home = folder_beside(source.folder, folder)
    terms = Terms(connection, prices, budget_usd, dry_run=dry_run)
    found = DraftedQueries(
        ask_once(question, home / KEPT, read_queries, write_queries, "queries", terms)
    )
    if found:
        found.doubts = check_queries([*wanted.existing, *found], source.name)
    return found
