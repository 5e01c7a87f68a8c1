"""Which runs are those of which version: the with-skill side of each iteration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skill_eval_nb.running.refused import no_such, refuse
from skill_eval_nb.stats.names import natural
from skill_eval_nb.stats.pairing import WITHOUT, likeness, side

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Side:
    """The runs of a version: all those of a configuration in an iteration."""

    version: str
    iteration: str
    configuration: str

    def of(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows of a table that are of these runs."""
        return frame.filter(iteration=self.iteration, configuration=self.configuration)

    def of_iteration(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows of a table that are of the same iteration, on whichever side."""
        return frame.filter(iteration=self.iteration)


def is_earlier(configuration: str) -> bool:
    """Whether a configuration is by its name an earlier version of the skill.

    >>> is_earlier("old_skill"), is_earlier("without_skill"), is_earlier("with_skill")
    (True, False, False)
    """
    like = likeness(configuration)
    return like is not None and like[0] >= len(WITHOUT)


def earlier_of(names: Sequence[str]) -> str | None:
    """The configuration that is an earlier version, where it is clear which."""
    earlier = [name for name in names if is_earlier(name)]
    return earlier[0] if len(earlier) == 1 else None


def versions_of(
    runs: pl.DataFrame, configuration: str | None = None
) -> tuple[list[Side], list[str]]:
    """The versions in natural order of their iterations, and what is to be said of them.

    The with-skill side of each iteration is a version. Where the first iteration also ran an
    earlier version of the skill (`old_skill`), that is v0: what the first change was made to.

    Args:
        runs: the table of one skill.
        configuration: the side that is the skill's; told by names where it is not given.

    Raises:
        Refused: there is no such configuration.
    """
    known = sorted(runs["configuration"].unique(), key=side)
    if configuration is not None and configuration not in known:
        raise refuse(no_such("configuration", configuration, known))
    notes: list[str] = []
    found: list[tuple[str, str]] = []
    for iteration in sorted(runs["iteration"].unique(), key=natural):
        names = sorted(runs.filter(iteration=iteration)["configuration"].unique(), key=side)
        own = _own(names, configuration)
        if own is None:
            notes.append(f"{iteration} is no version: it has no runs with the skill.")
            continue
        others = [name for name in names if name != own and likeness(name) is None]
        if others and configuration is None:
            notes.append(f"{iteration} also ran {', '.join(others)}: {own} is taken as the skill.")
        earlier = earlier_of(names)
        if not found and earlier is not None and earlier != own:
            found.append((iteration, earlier))
            notes.append(f"v0 is {earlier} of {iteration}, which the first change was made to.")
        found.append((iteration, own))
    return [Side(f"v{number}", *one) for number, one in enumerate(found)], notes


def _own(names: Sequence[str], configuration: str | None) -> str | None:
    """The skill's side among the configurations of an iteration, if it is there."""
    if configuration is not None:
        return configuration if configuration in names else None
    if "with_skill" in names:
        return "with_skill"
    return next((name for name in names if likeness(name) is None), None)
