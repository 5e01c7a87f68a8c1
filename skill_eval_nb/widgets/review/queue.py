"""What there is to review and what of it is looked at: alone, side by side, blind."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Literal

from skill_eval_nb.stats.pairing import choose, side
from skill_eval_nb.text import count
from skill_eval_nb.workspace import natural
from skill_eval_nb.workspace.feedback import COMPLETE, Said

from ..show.run import RunKey, key_of
from ..ui import Child, Node, h, offer
from ..ui.panel import read_blob
from ..ui.parts import line, table
from ..ui.tree import flat
from .book import Book, Page

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace


DONE, PARTLY, LEFT = "reviewed", "reviewed in part", "not reviewed"

Row = dict[str, Any]
Pair = Literal["with and without", "iterations", "single"]

PAIRS: dict[Pair, str] = {
    "with and without": "with the skill and without",
    "iterations": "this iteration and the last",
    "single": "nothing: one run at a time",
}
"""What is put side by side, and how that is called."""


@dataclass(frozen=True, slots=True)
class Item:
    """One run, or two to be seen side by side.

    Attributes:
        token: a name that tells nothing of what it is.
        runs: the runs; of a pair the one that is compared first, then the one that it is
            compared against.
        eval_id: the eval, as the tables have it.
        eval_name: its name.
        failed: whether a check of the first run failed.
    """

    token: str
    runs: tuple[RunKey, ...]
    eval_id: str
    eval_name: str
    failed: bool

    @property
    def title(self) -> str:
        """What the eval is called: its name, or its id where it has none."""
        return named(self.eval_id, self.eval_name)

    @property
    def is_pair(self) -> bool:
        """Whether there are two sides."""
        return len(self.runs) > 1


def named(eval_id: str, eval_name: str) -> str:
    """What an eval is called.

    >>> named("1", "login"), named("1", "1")
    ('login', 'eval 1')
    """
    return eval_name if eval_name != eval_id else f"eval {eval_id}"


def token_of(*keys: RunKey) -> str:
    """A name for runs that is the same every time, and tells nothing of them."""
    return sha256(repr([tuple(key) for key in keys]).encode()).hexdigest()[:16]


def one_by_one(rows: Iterable[Row]) -> list[Item]:
    """Every run by itself."""
    return [_item(row) for _, of_eval in _by_eval(rows) for row in _in_order(of_eval)]


def side_by_side(rows: Iterable[Row], against: Iterable[Row]) -> list[Item]:
    """The runs of each eval beside those that they are compared against.

    Runs of the same number come together, the others in their order; a run that has none
    beside it stands alone.
    """
    first, second = dict(_by_eval(rows)), dict(_by_eval(against))
    items = []
    for eval_id in sorted({*first, *second}, key=natural):
        mine, theirs = first.get(eval_id, []), second.get(eval_id, [])
        items += [_item(*pair) for pair in _paired(_in_order(mine), _in_order(theirs))]
    return items


def _paired(mine: Sequence[Row], theirs: Sequence[Row]) -> Iterator[tuple[Row, ...]]:
    numbered = {row["run_number"]: row for row in theirs}
    together = {
        row["run_number"]: numbered[row["run_number"]]
        for row in mine
        if row["run_number"] in numbered
    }
    left = iter([row for row in theirs if row["run_number"] not in together])
    for row in mine:
        other = together.get(row["run_number"]) or next(left, None)
        yield (row, other) if other is not None else (row,)
    for row in left:
        yield (row,)


def _by_eval(rows: Iterable[Row]) -> list[tuple[str, list[Row]]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row["eval_id"]].append(row)
    return sorted(found.items(), key=lambda item: natural(item[0]))


def _in_order(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (natural(row["configuration"]), row["run_number"]))


def _item(*rows: Row) -> Item:
    keys = tuple(key_of(row) for row in rows)
    first = rows[0]
    failed = bool(first["failed"]) or first["gate_passed"] is False
    return Item(token_of(*keys), keys, first["eval_id"], first["eval_name"], failed)


@dataclass(frozen=True, slots=True)
class Selection:
    """What was asked to be reviewed; empty texts stand for what suits best.

    Attributes:
        pair: what is put side by side.
        workspace: the workspace, of those that are loaded.
        iteration: the iteration; the last one where none is asked for.
        configuration: the one whose runs are reviewed; the one with the skill.
        against: the configuration, or with `iterations` the iteration, that stands beside it.
    """

    pair: Pair = "with and without"
    workspace: str = ""
    iteration: str = ""
    configuration: str = ""
    against: str = ""


@dataclass(frozen=True, slots=True)
class Scope:
    """What is reviewed, everything settled.

    Attributes:
        selection: what was asked for, without what was left open.
        skill: the skill.
        items: the runs or pairs, in order.
        sides: what each side of a pair is called.
        workspaces, iterations, configurations, others: what else could be asked for.
        lacking: why there is nothing to see, or nothing beside it.
    """

    selection: Selection
    skill: str = ""
    items: tuple[Item, ...] = ()
    sides: tuple[str, ...] = ()
    workspaces: tuple[str, ...] = ()
    iterations: tuple[str, ...] = ()
    configurations: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    lacking: str | None = None


def scope_of(ws: Workspace, selection: Selection) -> Scope:
    """What a review of this is of.

    Raises:
        LookupError: there is no such workspace, iteration or configuration.
    """
    frame = ws.polars("runs")
    workspaces = sorted(frame["workspace"].unique(), key=natural)
    if not workspaces:
        return Scope(selection, lacking="There are no runs to review.")
    workspace = _one_of("workspace", selection.workspace or workspaces[0], workspaces)
    frame = frame.filter(workspace=workspace)
    iterations = sorted(frame["iteration"].unique(), key=natural)
    iteration = _one_of("iteration", selection.iteration or iterations[-1], iterations)
    here = frame.filter(iteration=iteration)
    configurations = sorted(here["configuration"].unique(), key=side)
    baseline, why = choose(configurations)
    treated = [name for name in configurations if name != baseline] or configurations
    configuration = selection.configuration or ("" if selection.pair == "single" else treated[0])
    if configuration:
        _one_of("configuration", configuration, configurations)
    others, against, lacking = (), "", None
    if selection.pair == "with and without":
        others = tuple(name for name in configurations if name != configuration)
        against = selection.against or (baseline if baseline in others else "") or ""
        if not against and len(others) == 1:
            against = others[0]
        if not against:
            lacking = f"Nothing stands beside these runs: {why or 'no other configuration'}."
    elif selection.pair == "iterations":
        others = tuple(name for name in iterations if name != iteration)
        before = iterations[: iterations.index(iteration)]
        against = selection.against or (before[-1] if before else "")
        if not against:
            lacking = f"Nothing stands beside these runs: there is no iteration before {iteration}."
    if against:
        _one_of("configuration or iteration", against, others)
    settled = Selection(selection.pair, workspace, iteration, configuration, against)
    mine = here.filter(configuration=configuration) if configuration else here
    if selection.pair == "single" or not against:
        items, sides = one_by_one(mine.iter_rows(named=True)), ()
    else:
        column = "iteration" if selection.pair == "iterations" else "configuration"
        beside = frame.filter(
            **{"iteration": iteration, "configuration": configuration, column: against}
        )
        items = side_by_side(mine.iter_rows(named=True), beside.iter_rows(named=True))
        sides = (iteration if column == "iteration" else configuration, against)
    return Scope(
        settled,
        here["skill"][0],
        tuple(items),
        sides,
        tuple(workspaces),
        tuple(iterations),
        tuple(configurations),
        others,
        lacking,
    )


def _one_of(what: str, name: str, known: list[str] | tuple[str, ...]) -> str:
    if name not in known:
        raise LookupError(f"There is no {what} `{name}` here; there are {', '.join(known)}.")
    return name


ALL = "all"
SHOWN = {
    ALL: "all",
    "left": "not reviewed",
    "failed": "failed checks",
}
"""Which runs or pairs are shown, and how that is called."""


@dataclass(frozen=True, slots=True)
class Choice:
    """All that is chosen, but what is said.

    Attributes:
        shown: one of SHOWN.
        eval_id: the eval; empty for all.
        at: the token of what is looked at.
        blind: whether it is hidden which side is which.
        revealed: whether it was, and is no longer.
        unfolded: the parts that were opened, and stay so from run to run.
    """

    shown: str = ALL
    eval_id: str = ""
    at: str = ""
    blind: bool = False
    revealed: bool = False
    unfolded: frozenset[str] = frozenset()

    @property
    def hidden(self) -> bool:
        """Whether nothing may tell which side is which."""
        return self.blind and not self.revealed


LETTERS = ("A", "B")
Feedback = Callable[[RunKey], Said | None]


def in_order(item: Item, seed: int) -> tuple[RunKey, ...]:
    """The runs of a pair in an order that depends on nothing but the pair and the seed."""
    turned = Random(f"{seed} {item.token}").random() < 0.5  # noqa: S311 -- no secret, only fair
    return item.runs[::-1] if turned else item.runs


def common(item: Item, said: Feedback) -> dict[str, tuple[float, float]]:
    """The dimensions that both runs of a pair are scored on, with their scores."""
    if not item.is_pair:
        return {}
    first, other = (said(key) or Said() for key in item.runs)
    return {
        name: (score, other.scores[name])
        for name, score in first.scores.items()
        if name in other.scores
    }


ALL_DIMENSIONS = "all dimensions"


def preferences(items: Iterable[Item], said: Feedback) -> dict[str, Counter[int]]:
    """On the mean of all dimensions, and on each: how often the first side (1), none or the other.

    A pair that was not scored on both sides is in none of them.
    """
    found: dict[str, Counter[int]] = defaultdict(Counter)
    for item in items:
        differences = {name: first - other for name, (first, other) in common(item, said).items()}
        if differences:
            found[ALL_DIMENSIONS][_sign(sum(differences.values()))] += 1
        for name, difference in differences.items():
            found[name][_sign(difference)] += 1
    return dict(found)


def outcome(items: Iterable[Item], said: Feedback, sides: tuple[str, ...]) -> Child:
    """Which side was preferred how often, said first and then shown."""
    found = preferences(items, said)
    if not found:
        return h("p", "No pair was scored on both sides.")
    first, second = map(line, sides)
    whole = found[ALL_DIMENSIONS]
    rows = [
        [line(name), *(str(signs[sign]) for sign in (1, 0, -1)), str(signs.total())]
        for name, signs in found.items()
        if len(found) != 2 or name != ALL_DIMENSIONS  # of one dimension the mean is its own
    ]
    return [
        h(
            "p",
            h("b", f"You preferred {first} in {whole[1]} of {count(whole.total(), 'pair')}"),
            f", {second} in {whole[-1]}, and neither in {whole[0]}.",
        ),
        table(
            ["Dimension", first, "no difference", second, "pairs"],
            rows,
            caption="Pairs in which a side had the higher score",
            numbers=(1, 2, 3, 4),
        ),
    ]


def _sign(difference: float) -> int:
    return (difference > 1e-9) - (difference < -1e-9)


def sealed(node: Child, folder: Path | None) -> list[Node]:
    """A tree in which nothing tells the folder: neither texts nor names that only the page has."""
    return [_sealed(child, "" if folder is None else str(folder)) for child in flat(node)]


def _sealed(node: Node, folder: str) -> Node:
    if isinstance(node, str):
        return node.replace(folder, "…") if folder else node
    tag, attributes, children = node
    return [tag, _unnamed(attributes, folder), [_sealed(child, folder) for child in children]]


def _unnamed(attributes: Mapping[str, Any], folder: str) -> dict[str, Any]:
    out = dict(attributes)
    for name, value in attributes.items():
        if name == "blob":
            out[name] = _alias(value)
        elif folder and isinstance(value, str) and folder in value:
            out[name] = value.replace(folder, _digest(folder))
    return out


def _alias(blob: str) -> str:
    return offer(_digest(blob), lambda: read_blob(blob))


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20]


@dataclass(frozen=True)
class ReviewState:
    """A review as it is now.

    Attributes:
        ws: what is loaded.
        scope: what of it is reviewed.
        choice: what the reviewer has chosen to see.
        book: what was said.
        seed: what the order of the sides depends on in a blind review.
    """

    ws: Workspace
    scope: Scope
    choice: Choice
    book: Book
    seed: int

    @cached_property
    def items(self) -> list[Item]:
        """All that is reviewed: of a blind review, what has two sides."""
        return [item for item in self.scope.items if item.is_pair or not self.choice.blind]

    @cached_property
    def shown(self) -> list[Item]:
        """What of it is shown: what was asked for, and the one that is looked at."""
        choice = self.choice

        def fits(item: Item) -> bool:
            if choice.eval_id and item.eval_id != choice.eval_id:
                return False
            if choice.shown == "left":
                return self.done(item) != DONE
            return item.failed or choice.shown != "failed"

        return [item for item in self.items if fits(item) or item.token == choice.at]

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

    def done(self, item: Item) -> str:
        """How much of an item is reviewed."""
        reviewed = sum(key in self.reviewed for key in item.runs)
        return LEFT if not reviewed else DONE if reviewed == len(item.runs) else PARTLY

    def is_scored(self, item: Item) -> bool:
        """Whether both sides of a pair are scored on some dimension."""
        return bool(common(item, self.book.said))

    @cached_property
    def pages(self) -> list[Page]:
        """Where the feedback on all this is kept."""
        places = {key[:3]: key for key in self.runs}
        return [self.book.pages.of(places[place]) for place in sorted(places, reverse=True)]

    @property
    def begun(self) -> list[Page]:
        """Those of them that say something."""
        return [page for page in self.pages if page.found]

    @property
    def complete(self) -> bool:
        """Whether the feedback says that it is complete."""
        return bool(self.begun) and all(page.now.status == COMPLETE for page in self.begun)

    @property
    def faults(self) -> list[str]:
        """Why something cannot be written, or was not."""
        found = [page.fault for page in self.pages if page.fault is not None]
        if not found and (waiting := self.book.waiting()):
            found.append(f"what was said of {count(waiting, 'run')} could not be written")
        return found

    def keep(self, key: RunKey, token: str) -> str:
        """A name for the text on a run: no other run's and no other file's; it tells neither."""
        page = self.book.pages.of(key)
        file = os.path.realpath(page.files[0]) if page.files else self.ws.path
        return f"review {sha256(f'{file} {token}'.encode()).hexdigest()[:32]}"
