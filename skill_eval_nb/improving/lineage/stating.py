"""What a history.json of the workspace says of the versions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from skill_eval_nb.running.refused import no_such, refuse

from .sides import Side


@dataclass(frozen=True, slots=True)
class Stated:
    """A version as a history.json has it.

    Attributes:
        parent: the version that it was made from, by our names; None where it has none.
        pass_rate: 0–1; None where none is stated.
        result: baseline, won, lost or tie; None where none is stated.
    """

    parent: str | None
    pass_rate: float | None
    result: str | None


def stated(
    rows: Sequence[Mapping[str, object]], versions: Sequence[Side]
) -> tuple[dict[str, Stated], str]:
    """What is stated of each version, and what is to be said where that cannot be told.

    Stated versions are ours of the same name, else those in their place.

    Args:
        rows: of the table `history`, of one skill.
        versions: the versions that there are runs of.
    """
    names = [str(row["version"]) for row in rows]
    ours = [one.version for one in versions]
    if len(set(names)) < len(names):
        return {}, "Several files tell the versions' history; none of them was used."
    if len(names) > len(ours):
        there = f"the workspace has runs of {len(ours)}"
        return {}, (
            f"history.json tells of {len(names)} versions, {there}: which are which is not "
            "said, so it was not used."
        )
    places = names if set(names) <= set(ours) else ours
    called = dict(zip(names, places, strict=False))
    found: dict[str, Stated] = {}
    for name, row in zip(names, rows, strict=True):
        rate, result = row["expectation_pass_rate"], row["grading_result"]
        found[called[name]] = Stated(
            called.get(str(row["parent"])),
            rate if isinstance(rate, float) else None,
            str(result) if result is not None else None,
        )
    return found, ""


def given(parents: Mapping[str, str] | None, versions: Iterable[Side]) -> dict[str, str]:
    """Who was made from whom, by our names; iterations may be named as well as versions.

    Raises:
        Refused: a name is not there, or a parent does not come before its child.
    """
    every = list(versions)
    places = {one.version: place for place, one in enumerate(every)}
    # An iteration's with-skill side comes after the earlier version that it also ran.
    called = {one.iteration: one.version for one in every} | {one: one for one in places}
    found: dict[str, str] = {}
    for child, parent in (parents or {}).items():
        for name in (child, parent):
            if name not in called:
                raise refuse(no_such("version or iteration", name, called))
        mine, other = called[child], called[parent]
        if places[other] >= places[mine]:
            raise refuse(
                f"`{parent}` cannot be the parent of `{child}`: it does not come before it"
            )
        found[mine] = other
    return found
