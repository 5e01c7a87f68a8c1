"""What there is to review and what of it is looked at: alone, side by side, blind."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from random import Random
from typing import TYPE_CHECKING, Any, Literal

from skill_eval_nb.stats.checks import offer_checks
from skill_eval_nb.stats.pairing import choose_baseline, side_key
from skill_eval_nb.stats.values import order_iterations
from skill_eval_nb.text import count
from skill_eval_nb.workspace import natural_key
from skill_eval_nb.workspace.feedback import COMPLETE, Remarks

from ..explore.rows import RowSearch, RunFinder, Things
from ..ui import Child, h
from ..ui.parts import line, table
from ..ui.source import Recent, RunKey, key_of
from .book import Book, Page

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace


Row = dict[str, Any]
Pair = Literal["with and without", "iterations", "single", "checks"]

PAIRS: dict[Pair, str] = {
    "with and without": "with the skill and without",
    "iterations": "this iteration and the last",
    "single": "one run at a time",
    "checks": "single checks: pass or fail",
}
"""What is put side by side, and how that is called."""
PARTS = ("workspace", "iteration", "configuration", "against")
"""Parts of a choice that name something of what was loaded."""


@dataclass(frozen=True, slots=True)
class Item:
    """One run, or two to be seen side by side.

    Attributes:
        token: a name that tells nothing of what it is.
        runs: the runs; of a pair the one that is compared first, then the one that it is
            compared against.
        title: what the eval is called: its name, or its id where it has none.
        failed: whether a check of the first run failed.
        check: of a single check of the run, its text.
        sampled: whether that was drawn at random.
    """

    token: str
    runs: tuple[RunKey, ...]
    title: str = ""
    failed: bool = False
    check: str | None = None
    sampled: bool = False

    @property
    def eval_id(self) -> str:
        """The eval, as the tables have it."""
        return self.runs[0].eval_id

    @property
    def is_pair(self) -> bool:
        """Whether there are two sides."""
        return len(self.runs) > 1


def token_of(*keys: RunKey, check: str | None = None) -> str:
    """A name for runs, or a check, that is the same every time, and tells nothing of them."""
    named = [*(tuple(key) for key in keys), *([] if check is None else [check])]
    return sha256(repr(named).encode()).hexdigest()[:16]


def side_by_side(rows: Iterable[Row], against: Iterable[Row] = ()) -> list[Item]:
    """The runs of each eval beside those that they are compared against.

    Runs of the same number come together, the others in their order; a run that has none
    beside it stands alone.
    """
    by_eval: dict[str, tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for place, several in enumerate((rows, against)):
        for row in several:
            by_eval[row["eval_id"]][place].append(row)
    return [
        _make_item(*pair)
        for eval_id in sorted(by_eval, key=natural_key)
        for pair in _pair_runs(*(sorted(rows, key=_run_order) for rows in by_eval[eval_id]))
    ]


def _run_order(row: Row) -> Any:
    return natural_key(row["configuration"]), row["run_number"]


def _pair_runs(mine: Sequence[Row], theirs: Sequence[Row]) -> Iterator[tuple[Row, ...]]:
    numbered = {row["run_number"]: row for row in theirs}
    mine_too = {row["run_number"] for row in mine}
    left = iter([row for row in theirs if row["run_number"] not in mine_too])
    for row in mine:
        other = numbered.get(row["run_number"]) or next(left, None)
        yield (row, other) if other is not None else (row,)
    for row in left:
        yield (row,)


def _make_item(*rows: Row) -> Item:
    keys, first = tuple(map(key_of, rows)), rows[0]
    name, id_, check = first["eval_name"], first["eval_id"], first.get("text")
    failed = bool(first.get("failed")) or first.get("gate_passed") is False
    title = name if name != id_ else f"eval {id_}"
    token = token_of(*keys, check=check)
    return Item(token, keys, title, failed, check, bool(first.get("sampled")))


ALL = "all"
SHOWN = {ALL: "all", "left": "not reviewed", "failed": "failed checks"}
"""Which runs or pairs are shown, and how that is called."""


@dataclass(frozen=True, slots=True)
class ReviewChoice:
    """All that is chosen, but what is said; empty texts stand for what suits best.

    Attributes:
        pair: what is put side by side.
        workspace: the workspace, of those that are loaded.
        iteration: the iteration; the last one where none is asked for.
        configuration: the one whose runs are reviewed; the one with the skill.
        against: the configuration, or with `iterations` the iteration, that stands beside it.
        shown: one of SHOWN.
        eval_id: the eval; empty for all.
        at: the token of what is looked at.
        blind: whether it is hidden which side is which.
        revealed: whether it was, and is no longer.
        finishing: whether it is asked if the review is to end with runs that are not reviewed.
        unfolded: the parts that were opened, and stay so from run to run.
        search: what runs are looked for; not used while sides are hidden: it would give them away.
    """

    pair: Pair = "with and without"
    workspace: str = ""
    iteration: str = ""
    configuration: str = ""
    against: str = ""
    shown: str = ALL
    eval_id: str = ""
    at: str = ""
    blind: bool = False
    revealed: bool = False
    finishing: bool = False
    unfolded: frozenset[str] = frozenset()
    search: RowSearch = field(default_factory=RowSearch)

    @property
    def hidden(self) -> bool:
        """Whether nothing may tell which side is which, nor what the judge says."""
        return self.of_checks or (self.blind and not self.revealed)

    @property
    def of_checks(self) -> bool:
        """Whether single checks are labelled."""
        return self.pair == "checks"


@dataclass(frozen=True, slots=True)
class Scope:
    """What is reviewed, everything settled.

    Attributes:
        choice: what was asked for, with what was left open.
        skill: the skill.
        items: the runs or pairs, in order.
        sides: what each side of a pair is called.
        options: by part of the choice what it could be.
        lacking: why there is nothing to see, or nothing beside it.
    """

    choice: ReviewChoice
    skill: str = ""
    items: Sequence[Item] = ()
    sides: tuple[str, ...] = ()
    options: Mapping[str, Sequence[str]] = field(default_factory=lambda: dict.fromkeys(PARTS, ()))
    lacking: str | None = None


def scope_of(ws: Workspace, choice: ReviewChoice) -> Scope:
    """What a review of this is of.

    Raises:
        LookupError: there is no such workspace, iteration or configuration.
    """
    frame = ws.polars("runs").drop_nulls("run_number")
    lost, unnumbered = ws.polars("runs").height - frame.height, ""
    if lost:
        unnumbered = (
            f"{count(lost, 'run')} without a number cannot be reviewed: "
            "number them 1, 2, … within eval and configuration."
        )
    workspaces = sorted(frame["workspace"].unique(), key=natural_key)
    if not workspaces:
        return Scope(choice, lacking=unnumbered or "There are no runs to review.")
    workspace = _one_of("workspace", choice.workspace or workspaces[0], workspaces)
    frame = frame.filter(workspace=workspace)
    iterations = order_iterations(frame)
    iteration = _one_of("iteration", choice.iteration or iterations[-1], iterations)
    here = frame.filter(iteration=iteration)
    configurations = sorted(here["configuration"].unique(), key=side_key)
    baseline, why = choose_baseline(configurations)
    treated = [name for name in configurations if name != baseline] or configurations
    if choice.pair in ("single", "checks") and len(configurations) > 1:
        treated = configurations = ["", *configurations]
    configuration = choice.configuration or treated[0]
    _one_of("configuration", configuration, configurations)
    others, against, lacking = [], "", None
    if choice.pair == "with and without":
        others = [name for name in configurations if name != configuration]
        usual = [name for name in others if name == baseline or len(others) == 1]
        against = choice.against or next(iter(usual), "")
        lacking = why or "no other configuration"
    elif choice.pair == "iterations":
        others = [name for name in iterations if name != iteration]
        before = iterations[: iterations.index(iteration)]
        against = choice.against or next(reversed(before), "")
        lacking = f"there is no iteration before {iteration}"
    own = {"configuration": configuration} if configuration else {}
    beside, sides = [], ()
    if against:
        _one_of("configuration or iteration", against, others)
        column = "iteration" if choice.pair == "iterations" else "configuration"
        place = {"iteration": iteration, **own}
        sides, lacking = (place[column], against), None
        beside = frame.filter(**place | {column: against}).iter_rows(named=True)
    if choice.of_checks:
        offered = offer_checks(ws).drop_nulls("run_number")
        mine = offered.filter(workspace=workspace, iteration=iteration, **own)
        items = list(map(_make_item, mine.iter_rows(named=True)))
    else:
        items = side_by_side(here.filter(**own).iter_rows(named=True), beside)
    alone = lacking and f"These runs have no counterpart: {lacking}."
    return Scope(
        replace(
            choice,
            workspace=workspace,
            iteration=iteration,
            configuration=configuration,
            against=against,
        ),
        here["skill"][0],
        items,
        sides,
        dict(zip(PARTS, (workspaces, iterations, configurations, others), strict=True)),
        " ".join(filter(None, (unnumbered, alone))) or None,
    )


def _one_of(what: str, name: str, known: Sequence[str]) -> str:
    if name not in known:
        there = ", ".join(filter(None, known))
        raise LookupError(f"There is no {what} `{name}` here; there are {there}.")
    return name


class ItemFinder:
    """Finds the runs that are reviewed by their words and by what they have."""

    def __init__(self, ws: Workspace, scope: Scope) -> None:
        """Know what each has; its words are read when some are looked for."""
        import polars as pl

        keys, every = {key for item in scope.items for key in item.runs}, ws.polars("runs")
        is_mine = [key_of(row) in keys for row in every.iter_rows(named=True)]
        self._runs, self._finder = every.filter(pl.Series(is_mine, dtype=pl.Boolean)), RunFinder(ws)
        told = {"Eval", "Side"} if scope.sides else {"Eval"}  # by other lists, or by every pair
        self.things: list[Things] = [
            {kind: own for kind, own in things.items() if kind not in told}
            for things in self._finder.things(self._runs)
        ]
        self._found: Recent[frozenset[RunKey]] = Recent(1)

    def find(self, search: RowSearch) -> frozenset[RunKey]:
        """The runs that are found; the last answer is kept."""

        def find_keys() -> frozenset[RunKey]:
            found = self._finder.find(self._runs, search)
            return frozenset(map(key_of, found.iter_rows(named=True)))

        return self._found.get_or_make(repr(search), find_keys)


LETTERS = ("A", "B")
Feedback = Callable[[RunKey], Remarks | None]


def in_order(item: Item, seed: int) -> tuple[RunKey, ...]:
    """The runs of a pair in an order that depends on nothing but the pair and the seed."""
    turned = Random(f"{seed} {item.token}").random() < 0.5  # noqa: S311 -- no secret, only fair
    return item.runs[::-1] if turned else item.runs


def _compare_scores(item: Item, remarks: Feedback) -> dict[str, float]:
    """On the dimensions that both runs of a pair are scored on, how much more the first has."""
    if not item.is_pair:
        return {}
    first, other = (remarks(key) or Remarks() for key in item.runs)
    both = first.scores.keys() & other.scores.keys()
    return {name: first.scores[name] - other.scores[name] for name in first.scores if name in both}


ALL_DIMENSIONS = "all dimensions"


def outcome(items: Iterable[Item], remarks: Feedback, sides: tuple[str, ...]) -> Child:
    """Which side was preferred how often: in a sentence, and on each dimension in a table.

    A pair that was not scored on both sides is in none of them.
    """
    found: dict[str, Counter[int]] = defaultdict(Counter)  # by whether the first is higher
    for item in items:
        differences = _compare_scores(item, remarks)
        whole = {ALL_DIMENSIONS: sum(differences.values())} if differences else {}
        for name, difference in (whole | differences).items():
            found[name][(difference > 1e-9) - (difference < -1e-9)] += 1
    if not found:
        return h("p", "No pair was scored on both sides.")
    first, second = map(line, sides)
    whole = found[ALL_DIMENSIONS]
    rows = [
        [line(name), *(str(signs[sign]) for sign in (1, 0, -1)), str(signs.total())]
        for name, signs in found.items()
        if len(found) != 2 or name != ALL_DIMENSIONS  # of one dimension the mean is its own
    ]
    heads = ["Dimension", first, "no difference", second, "pairs"]
    caption = "Pairs in which one side scored higher"
    preferred = f"You preferred {first} in {whole[1]} of {count(whole.total(), 'pair')}"
    return [
        h("p", h("b", preferred), f", {second} in {whole[-1]}, and neither in {whole[0]}."),
        table(heads, rows, caption=caption, numbers=(1, 2, 3, 4)),
    ]


@dataclass(frozen=True)
class ReviewState:
    """A review as it is now.

    Attributes:
        ws: what is loaded.
        scope: what of it is reviewed.
        choice: what the reviewer has chosen to see.
        book: what was said.
        seed: what the order of the sides depends on in a blind review.
        finder: finds runs.
    """

    ws: Workspace
    scope: Scope
    choice: ReviewChoice
    book: Book
    seed: int
    finder: ItemFinder

    @cached_property
    def items(self) -> list[Item]:
        """All that is reviewed: of a blind review, what has two sides."""
        return [item for item in self.scope.items if item.is_pair or not self.choice.blind]

    @cached_property
    def shown(self) -> list[Item]:
        """What of it is shown: what was asked for, and the one that is looked at."""
        choice = self.choice
        found = self.finder.find(choice.search) if choice.search and not choice.hidden else None

        def is_asked_for(item: Item) -> bool:
            if found is not None and found.isdisjoint(item.runs):
                return False
            if choice.eval_id and item.eval_id != choice.eval_id:
                return False
            if choice.shown == "left":
                return not self.is_done(item)
            return item.failed or choice.shown != "failed"

        return [item for item in self.items if is_asked_for(item) or item.token == choice.at]

    @property
    def at(self) -> int:
        """The place of the one that is open among those that are shown; -1 for none."""
        tokens = [item.token for item in self.shown]
        return tokens.index(self.choice.at) if self.choice.at in tokens else -1

    @cached_property
    def reviewed(self) -> frozenset[RunKey]:
        """The runs that are reviewed."""
        return frozenset(filter(self.book.is_reviewed, self.runs))

    @cached_property
    def runs(self) -> frozenset[RunKey]:
        """All runs that are to be."""
        return frozenset(key for item in self.items for key in item.runs)

    @property
    def left(self) -> int:
        """How many runs are not reviewed."""
        return len(self.runs) - len(self.reviewed)

    def is_done(self, item: Item) -> bool:
        """Whether all of an item is reviewed, or its check labelled."""
        if item.check is not None:
            return self.label(item) is not None
        return self.reviewed.issuperset(item.runs)

    def label(self, item: Item) -> bool | None:
        """Whether a check passes, as the reviewer says; None for one that is not labelled."""
        remarks = self.book.remarks(item.runs[0])
        label = None if remarks is None else remarks.labels.get(item.check or "")
        return None if label is None else label.passed

    @property
    def unit(self) -> str:
        """What is gone through, one by one."""
        return "check" if self.choice.of_checks else "pair" if self.scope.sides else "run"

    @property
    def progress(self) -> tuple[int, int]:
        """How many runs are reviewed, or checks labelled, and of how many."""
        if not self.choice.of_checks:
            return len(self.reviewed), len(self.runs)
        return sum(self.label(item) is not None for item in self.items), len(self.items)

    def is_scored(self, item: Item) -> bool:
        """Whether both sides of a pair are scored on some dimension."""
        return bool(_compare_scores(item, self.book.remarks))

    @cached_property
    def pages(self) -> list[Page]:
        """Where the feedback on all this is kept."""
        places = {key[:3]: key for key in self.runs}
        return [self.book.page_of(places[place]) for place in sorted(places, reverse=True)]

    @property
    def begun(self) -> list[Page]:
        """The pages with something in them."""
        return [page for page in self.pages if page.found]

    @property
    def complete(self) -> bool:
        """Whether the feedback says that it is complete."""
        return bool(self.begun) and all(page.now.status == COMPLETE for page in self.begun)

    @property
    def faults(self) -> list[str]:
        """Why something cannot be written, or was not."""
        found = [page.fault for page in self.pages if page.fault is not None]
        if not found and (waiting := self.book.count_unsaved()):
            found.append(f"the feedback on {count(waiting, 'run')} could not be written")
        return found

    def name_text(self, key: RunKey, token: str) -> str:
        """A name for the text on a run: no other run's and no other file's; it tells neither."""
        page = self.book.page_of(key)
        file = os.path.realpath(page.files[0]) if page.files else self.ws.path
        return f"review {sha256(f'{file} {token}'.encode()).hexdigest()[:32]}"
