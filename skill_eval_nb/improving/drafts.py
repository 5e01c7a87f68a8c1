"""`draft`: from what graders suggest and figures show to concrete changes of a suite."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Self

from skill_eval_nb.running.asking import PaidAnswer, Terms
from skill_eval_nb.text import brief, count, some
from skill_eval_nb.view import Block, Items, Shown, Text, Title

from .aggregation import Aggregate, aggregate
from .checks import evidence_of
from .drafter import ask_model
from .rules import RULES
from .values import Draft, SuiteItem

if TYPE_CHECKING:
    from skill_eval_nb.models import Connection, Prices
    from skill_eval_nb.tables.workspace import Workspace

_PARTS = {
    "structural_expectations": "structural expectation",
    "expectations": "expectation",
    "dimensions": "rubric dimension",
    "evals": "eval",
}


class Drafts(Shown, tuple[Draft, ...]):  # noqa: SLOT001 -- a tuple cannot have slots of its own
    """Drafts, as a tuple that shows itself.

    Attributes:
        price_usd: what asking the model costs at worst, in US dollars; 0 where none was named,
            None where its price is not known.
        cost_usd: what was spent.
        unasked: why the model has not drafted; None where it has, or where none was named.
    """

    price_usd: float | None
    cost_usd: float | None
    unasked: str | None

    def __new__(cls, drafts: Iterable[Draft] = (), asked: PaidAnswer[Any] | None = None) -> Self:
        """Drafts, and what came of asking a model."""
        self = super().__new__(cls, drafts)
        asked = asked or PaidAnswer()
        self.price_usd, self.cost_usd = asked.price_usd, asked.cost_usd
        self.unasked = asked.unasked
        return self

    def _blocks(self) -> Iterator[Block]:
        yield Title(count(len(self), "draft") if self else "no drafts")
        if self.unasked:
            yield Text(self.unasked)
        for one in self:
            missing = f"still to be written: {', '.join(one.missing)}" if one.missing else ""
            coming = (f"→ {item}" for item in map(_item, one.new) if item)
            rests = f"It rests on {count(len(one.runs), 'run')}." if one.runs else ""
            lines = [line for line in (*coming, missing, one.why, rests) if line]
            yield Items(lines, f"{one.key} {change(one)}")


def draft(
    ws: Workspace,
    found: Aggregate | None = None,
    *,
    baseline: str | None = None,
    model: str | None = None,
    connection: Connection | None = None,
    prices: Prices | None = None,
    budget_usd: float | None = None,
    dry_run: bool = False,
) -> Drafts:
    """Draft concrete changes of a suite; nothing is written, and no eval is run.

    By rule, from the figures: sharper checks found in the stored outputs, checks to drop or to
    take out of the gate, expectations to split or to reword, anchors and weights of rubric
    dimensions, expectations for what graders miss, evals to add. By a model beside that, where
    one is named.

    Args:
        ws: a workspace with one suite, of which all iterations count.
        found: what its graders suggest; `aggregate(ws)` where not given.
        baseline: the configuration to compare against; chosen by name where not given.
        model: who else drafts; an offline model costs nothing.
        connection: how models are reached.
        prices: what calls cost; the bundled table where not given.
        budget_usd: the most that the model may cost, in US dollars; without it, a model that
            costs something is not asked, and `unasked` says so.
        dry_run: ask nobody; `price_usd` is what the model costs at worst.

    Returns:
        The drafts, those first that rest on most runs. No two make the same change.

    Raises:
        Refused: the workspace holds several suites, the baseline is not there, or the budget
            cannot be kept.
        ModelFault: the model cannot be reached for want of a key.

    >>> import skill_eval_nb as sen
    >>> draft(sen.tables.Workspace.from_tables({}))
    no drafts
    """
    evidence = evidence_of(ws, aggregate(ws) if found is None else found, baseline)
    asked: PaidAnswer[tuple[Draft, ...]] = PaidAnswer()
    if model is not None:
        asked = ask_model(evidence, model, Terms(connection, prices, budget_usd, dry_run=dry_run))
    by_rule = [one for rule in RULES for one in rule(evidence)]
    return Drafts(ordered([*by_rule, *(asked.value or ())]), asked)


def ordered(drafts: Iterable[Draft]) -> list[Draft]:
    """Drafts without repeats, those that rest on most runs first.

    A change that differs in its description alone is the same; the first one counts.
    """
    first: dict[str, Draft] = {}
    for one in drafts:
        first.setdefault(_essence(one), one)
    return sorted(first.values(), key=lambda one: -len(one.runs))


def _essence(one: Draft) -> str:
    """What a draft changes, apart from how it is described."""
    new: list[Any] = [
        item
        if isinstance(item, str) or one.part == "dimensions"
        else {name: value for name, value in item.items() if name != "description"}
        for item in one.new
    ]
    return json.dumps([one.part, sorted(one.evals), one.target, new], sort_keys=True)


def change(one: Draft) -> str:
    """What a draft does, in one line.

    >>> from .values import new_draft
    >>> change(new_draft("drop", "expectations", ["1", "2"], "It is good", [], "Says nothing."))
    'drop the expectation ‘It is good’ of evals 1 and 2'
    """
    article = "a new" if one.target is None else "the"
    name = "" if one.target is None or one.part == "evals" else f" ‘{brief(one.target, 60)}’"
    evals = some([brief(each) for each in one.evals], 8)
    of = f" of eval{'' if len(one.evals) == 1 else 's'} {evals}" if one.evals else ""
    if one.part == "evals" and one.target is not None:
        return f"{one.kind} eval {evals}"
    return f"{one.kind} {article} {_PARTS[one.part]}{name}{of}"


def _item(each: SuiteItem) -> str:
    if isinstance(each, str):
        return brief(each, 120)
    fields = (f"{name}: {brief(str(v), 100)}" for name, v in each.items() if v not in ("", None))
    return brief("; ".join(fields), 400)
