"""Which runs a review is of, and what is put beside what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from skill_eval_nb.stats.pairing import choose, side
from skill_eval_nb.workspace import natural

from .items import Item, Pair, one_by_one, side_by_side

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace


@dataclass(frozen=True, slots=True)
class Asked:
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
        asked: as it was asked, without what was left open.
        skill: the skill.
        items: the runs or pairs, in order.
        sides: what each side of a pair is called.
        workspaces, iterations, configurations, others: what else could be asked for.
        lacking: why there is nothing to see, or nothing beside it.
    """

    asked: Asked
    skill: str = ""
    items: tuple[Item, ...] = ()
    sides: tuple[str, ...] = ()
    workspaces: tuple[str, ...] = ()
    iterations: tuple[str, ...] = ()
    configurations: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    lacking: str | None = None


def scope_of(ws: Workspace, asked: Asked) -> Scope:
    """What a review of this is of.

    Raises:
        LookupError: there is no such workspace, iteration or configuration.
    """
    frame = ws.polars("runs")
    workspaces = sorted(frame["workspace"].unique(), key=natural)
    if not workspaces:
        return Scope(asked, lacking="There are no runs to review.")
    workspace = _one_of("workspace", asked.workspace or workspaces[0], workspaces)
    frame = frame.filter(workspace=workspace)
    iterations = sorted(frame["iteration"].unique(), key=natural)
    iteration = _one_of("iteration", asked.iteration or iterations[-1], iterations)
    here = frame.filter(iteration=iteration)
    configurations = sorted(here["configuration"].unique(), key=side)
    baseline, why = choose(configurations)
    treated = [name for name in configurations if name != baseline] or configurations
    configuration = asked.configuration or ("" if asked.pair == "single" else treated[0])
    if configuration:
        _one_of("configuration", configuration, configurations)
    others, against, lacking = (), "", None
    if asked.pair == "with and without":
        others = tuple(name for name in configurations if name != configuration)
        against = asked.against or (baseline if baseline in others else "") or ""
        if not against and len(others) == 1:
            against = others[0]
        if not against:
            lacking = f"Nothing stands beside these runs: {why or 'no other configuration'}."
    elif asked.pair == "iterations":
        others = tuple(name for name in iterations if name != iteration)
        before = iterations[: iterations.index(iteration)]
        against = asked.against or (before[-1] if before else "")
        if not against:
            lacking = f"Nothing stands beside these runs: there is no iteration before {iteration}."
    if against:
        _one_of("configuration or iteration", against, others)
    settled = Asked(asked.pair, workspace, iteration, configuration, against)
    mine = here.filter(configuration=configuration) if configuration else here
    if asked.pair == "single" or not against:
        items, sides = one_by_one(mine.iter_rows(named=True)), ()
    else:
        column = "iteration" if asked.pair == "iterations" else "configuration"
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
