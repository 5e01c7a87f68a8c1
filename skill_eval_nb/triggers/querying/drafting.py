"""`draft_queries`: realistic queries for a skill, near misses above all, by a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from skill_eval_nb.models.asking import Answered, Question
from skill_eval_nb.running.given.skill import SkillSource, read_skill
from skill_eval_nb.running.refused import Refused, gathered, refuse
from skill_eval_nb.workspace import PathLike
from skill_eval_nb.workspace.names import OWN

from ..values import Query
from .answers import Wanted
from .asking import Asked, question_of
from .doubting import check_queries
from .drafted import DraftedQueries
from .reading import read_queries
from .writing import write_queries

if TYPE_CHECKING:
    from skill_eval_nb.models import Connection, Prices

MOST = 100
"""Queries that are drafted at once, at most."""
KEPT = Path(OWN, "queries")


def draft_queries(
    skill: PathLike,
    *,
    model: str,
    n: int = 20,
    others: Iterable[PathLike] = (),
    existing: Iterable[Query] = (),
    folder: PathLike | None = None,
    connection: Connection | None = None,
    prices: Prices | None = None,
    budget_usd: float | None = None,
    dry_run: bool = False,
) -> DraftedQueries:
    """Ask a model for queries that should and should not make an agent open a skill.

    Half of them should, the others should not; at least half of these are near misses (tagged
    `near miss`, and `for NAME` where another skill would be right). The answer is kept, and
    the same question is never paid for twice; with its queries among `existing`, others come.

    Args:
        skill: the skill's folder, or its SKILL.md, of which the model is shown the beginning.
        model: who drafts; an offline model costs nothing.
        n: queries to draft, 2 to 100.
        others: folders of skills that stand beside it: the model sees their names and
            descriptions.
        existing: queries that there are already; none of them comes again.
        folder: where the answer is kept; without it the skill's workspace, NAME-workspace
            beside it.
        connection: how the model is reached; where it is not given, the stand-in answers in
            process for its own models, and any other model from outside.
        prices: what calls cost; the bundled table where it is not given.
        budget_usd: the most that may be spent, in US dollars; without it, a model that costs
            something is not asked, and `unasked` says so.
        dry_run: ask nobody; `price_usd` is what the answer costs at worst.

    Returns:
        The queries, those that should trigger first; none where `unasked` says why.

    Raises:
        Refused: a skill cannot be read, two have the same name, n is out of bounds, the budget
            cannot be kept, or queries are being drafted there already, or the folder cannot be
            written. It is a ValueError.
        ModelFault: the model cannot be reached for want of a key.
        OSError: the answer cannot be written.
    """
    from skill_eval_nb.running.asking import ask_all, worst_usd
    from skill_eval_nb.running.lock import paying

    if not 2 <= n <= MOST:
        raise refuse(f"n is {n}: it is to be from 2 to {MOST}, half of each class")
    asked = _asked(skill, others, tuple(existing))
    wanted = Wanted(
        positives=(n + 1) // 2,
        negatives=n // 2,
        near_misses=(n // 2 + 1) // 2,
        name=asked.skill.name,
        others=tuple(one.name for one in asked.others),
        existing=asked.existing,
    )
    question = question_of(model, asked, wanted)
    kept = _home(asked.skill, folder) / KEPT / f"{question.key}.json"
    if kept.is_file():
        return _drafted(read_queries(kept), asked)
    price = worst_usd([question], prices)
    if dry_run or (price != 0 and budget_usd is None):
        return DraftedQueries(price_usd=price, unasked=_unasked(model, price, dry_run=dry_run))

    def keep(_: Question[tuple[Query, ...]], answered: Answered[tuple[Query, ...]]) -> None:
        write_queries(kept, answered.value)

    with paying([kept.parent], "a draft of queries"):
        if kept.is_file():  # somebody else has ended just now
            return _drafted(read_queries(kept), asked)
        told = ask_all(
            [question], connection=connection, prices=prices, budget_usd=budget_usd, keep=keep
        )
    if question.key in told.failed:
        reason = told.failed[question.key]
        return DraftedQueries(price_usd=price, cost_usd=told.cost_usd, unasked=reason)
    return _drafted(told.answered[question.key].value, asked, price, told.cost_usd)


def _asked(skill: PathLike, others: Iterable[PathLike], existing: tuple[Query, ...]) -> Asked:
    """The material; everything that is wrong with any of the skills is told at once."""
    faults: list[str] = []
    found: list[SkillSource] = []
    for one in (skill, *others):
        with gathered(faults):
            found.append(read_skill(one))
    names = Counter(one.name.casefold() for one in found)
    faults += [
        f"{number} of the skills are called `{name}`: no query could be for one of them alone"
        for name, number in names.items()
        if number > 1
    ]
    if faults:
        raise Refused(faults)
    return Asked(found[0], tuple(found[1:]), existing)


def _home(skill: SkillSource, folder: PathLike | None) -> Path:
    if folder is not None:
        return Path(folder).expanduser()
    return skill.folder.with_name(f"{skill.folder.name}-workspace")


def _drafted(
    queries: tuple[Query, ...],
    asked: Asked,
    price_usd: float | None = 0.0,
    cost_usd: float | None = 0.0,
) -> DraftedQueries:
    ordered = sorted(queries, key=lambda one: not one.should_trigger)
    doubts = check_queries([*asked.existing, *ordered], asked.skill.name)
    return DraftedQueries(ordered, doubts=doubts, price_usd=price_usd, cost_usd=cost_usd)


def _unasked(model: str, price: float | None, *, dry_run: bool) -> str:
    if price is None:
        return f"{model} was not asked: its price is not known; add it to the table of prices"
    hint = "this was a dry run" if dry_run else "give budget_usd to ask it"
    cost = f"it costs ${price:.4f} at worst" if price else "it costs nothing"
    return f"{model} was not asked: {cost}; {hint}"
