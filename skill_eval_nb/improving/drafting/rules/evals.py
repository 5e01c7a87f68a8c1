"""Evals to add where the plan asks for more of them, and evals that are too easy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from skill_eval_nb.documents import Eval
from skill_eval_nb.stats.phrases import count, figure, quoted

from ...values import Draft
from ..checks import form
from ..evidence import Seen
from ..keys import made
from ..saying import sentences

FEWEST_RUNS = 3
"""Runs on each side from which on an eval that all of them pass is too easy."""


def of_evals(seen: Seen) -> Iterator[Draft]:
    """One eval to add, with the checks that all have; a new task for one that all runs pass."""
    if seen.sides is not None and seen.suite:
        yield from _to_add(seen, seen.sides[1])
        yield from _harder(seen, seen.sides)


def _to_add(seen: Seen, baseline: str) -> Iterator[Draft]:
    from skill_eval_nb.stats import plan

    try:
        designs = plan(seen.ws.polars("runs"), baseline=baseline)
    except ValueError:  # nothing that a plan could rest on
        return
    chosen = [row for row in designs.to_dicts() if row["chosen"]]
    asked = chosen[-1] if chosen else None  # of the last iteration
    there = seen.ws.polars("evals").height
    if asked is None or asked["n_evals"] <= there:
        return
    more = asked["n_evals"] - there
    form_of_one = common(list(seen.suite.values()))
    has = (
        "with the checks that every eval has" if len(form_of_one) > 1 else "which has no checks yet"
    )
    why = sentences(
        f"To find a difference of {figure(asked['wanted'])} in {asked['metric']}, the plan asks "
        f"for {asked['n_evals']} evals × {count(asked['n_runs'], 'run')}; there are {there}, so "
        f"{more} more. This is the form of one, {has}.",
        str(asked["note"] or ""),
    )
    runs = [ref for ref in seen.stored if ref.iteration == asked["iteration"]]
    yield made("add", "evals", (), None, [form_of_one], why, runs=runs)


def common(evals: list[Eval]) -> dict[str, Any]:
    """The form of a new eval: what every eval of the suite has, and no task yet."""
    lists: dict[str, list[Any]] = {}
    for name in ("expectations", "structural_expectations"):
        several = [getattr(one, name) for one in evals]
        shared = set.intersection(*({form(check) for check in own} for own in several))
        lists[name] = [check for check in several[0] if form(check) in shared]
    rubrics = [one.quality_rubric.dimensions if one.quality_rubric else [] for one in evals]
    shared = set.intersection(*({form(one) for one in own} for own in rubrics))
    dimensions = [one for one in rubrics[0] if form(one) in shared]
    item: dict[str, Any] = {"prompt": ""}
    if lists["expectations"]:
        item["expectations"] = [one.text for one in lists["expectations"]]
    if lists["structural_expectations"]:
        item["structural_expectations"] = msgspec.to_builtins(lists["structural_expectations"])
    if dimensions:
        item["quality_rubric"] = {"dimensions": msgspec.to_builtins(dimensions)}
    return item


def too_easy(seen: Seen) -> dict[str, tuple[int, int]]:
    """The evals that every run passes on both sides, with the number of runs of each."""
    if seen.sides is None:
        return {}
    easy: dict[str, tuple[int, int]] = {}
    for eval_id in seen.suite:
        own = seen.ws.polars("runs").filter(eval_id=eval_id).drop_nulls("pass_rate")
        rates = dict(own.group_by("configuration").agg("pass_rate").iter_rows())
        one, other = (rates.get(side, []) for side in seen.sides)
        if min(len(one), len(other)) >= FEWEST_RUNS and min(*one, *other) == 1:
            easy[eval_id] = (len(one), len(other))
    return easy


def _harder(seen: Seen, sides: tuple[str, str]) -> Iterator[Draft]:
    for eval_id, (one, other) in too_easy(seen).items():
        why = (
            f"Every one of {one} runs of {sides[0]} and {other} of {sides[1]} passes all checks "
            f"of {quoted(seen.names[eval_id])}: its task is too easy to show what the skill is "
            "good for. A harder one is still to be written."
        )
        runs = [ref for ref in seen.stored if ref.eval_id == eval_id]
        item = {**msgspec.to_builtins(seen.suite[eval_id]), "prompt": ""}
        yield made("reword", "evals", (eval_id,), eval_id, [item], why, runs=runs)
