"""Declaring what a dialect's document has: a choice of the shared document's fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Annotated, Any, cast

import msgspec

from ..base import Document
from ..parsing import Unreadable, read_number


def same(value: Any) -> Any:
    """The conversion that there is nothing to do for."""
    return value


@dataclass(frozen=True, slots=True)
class Form:
    """How a dialect writes one kind of document.

    Conversions take and give plain JSON values with the names that the types declare.
    `to_wire` prepares a neutral document for `wire`; what `wire` then does not know is left
    out. `to_neutral` is given only where the structure differs so much that the neutral
    type cannot read the file itself. `many`: one benchmark file holds many iterations.
    """

    wire: type[Document]
    to_wire: Callable[[Any], Any] = same
    to_neutral: Callable[[Any], Any] | None = None
    many: bool = False


RUN = "{iteration}/{eval}/{side}/run-{run}"
"""The folder of a run, where a side of an eval may have several."""


@dataclass(frozen=True, slots=True)
class Paths:
    """Where the documents of a dialect lie, below the workspace.

    Paths are templates over `iteration` (empty where a workspace has no such level), `eval` (its
    folder), `id` (its id as a file's name), `side` (the configuration), `run` (the number),
    `where` (the iteration, or an eval in it), `file` (the name that a file had) and `named`
    (the same, beginning with its kind).

    Attributes:
        kinds: kind of document to path. One that the dialect does not describe is written as it
            was read.
        outputs: the folder of a run's outputs and transcripts; None where there is no place.
        sides: the configurations that there are, where there are only these.
        several: whether a side of an eval may have more than one run.
        counted: whether evals are numbers, from 1 in the suite and from 0 in folders, and
            iterations are numbers from 1.
        stated: kinds of which a document says itself of what it is, not its folder: a
            benchmark of which iteration, a grading of which eval.
        repeats: whether a row of a benchmark can repeat a run of another iteration: enough
            figures stand in it to tell.
        rows: whether a benchmark has a row a run, so that it can be all that tells of one.
    """

    kinds: dict[str, str]
    outputs: str | None = RUN
    sides: tuple[str, ...] | None = None
    several: bool = True
    counted: bool = False
    stated: frozenset[str] = frozenset()
    repeats: bool = True
    rows: bool = False


@dataclass(frozen=True, slots=True)
class Dialect:
    """A dialect: its name, the form of each kind of document that it has, where they lie."""

    name: str
    documents: dict[str, Form]
    paths: Paths


def narrow(
    shared: type[Document],
    fields: str,
    *,
    required: str = "",
    plain: str | None = None,
    **types: Any,
) -> type[Document]:
    """A document type with some of the `fields` of a shared one, in the order given.

    Args:
        shared: where the meanings, other names, types and defaults come from.
        fields: names, with blanks between them.
        required: those that the dialect demands, whatever the shared document says.
        plain: the field that a bare value stands for, if the dialect has such a thing.
        types: types that take the place of the shared ones: narrower, or with limits.
    """
    known = {field.name: field for field in msgspec.structs.fields(shared)}
    demanded = required.split()
    chosen: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for name in fields.split():
        field = known[name]
        kind = field.type
        if name in types:
            metas = [
                meta for meta in getattr(kind, "__metadata__", ()) if isinstance(meta, msgspec.Meta)
            ]
            kind = types[name]
            for meta in metas:
                kind = Annotated[kind, msgspec.Meta(description=meta.description, extra=meta.extra)]
        if name in demanded or field.required:
            chosen.append((name, kind))
        elif field.default is not msgspec.NODEFAULT:
            chosen.append((name, kind, field.default))
        else:
            chosen.append((name, kind, msgspec.field(default_factory=field.default_factory)))
    struct = msgspec.defstruct(
        shared.__name__,
        chosen,
        bases=(Document,),
        namespace={"__doc__": shared.__doc__, "plain": plain},
        kw_only=True,
    )
    return cast("type[Document]", struct)


def reshape(**changes: Callable[[Any], Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A conversion of an object that changes the values under some of its keys.

    >>> reshape(n=str)({"n": 1, "m": 2})
    {'n': '1', 'm': 2}
    """
    return lambda value: {key: changes.get(key, same)(item) for key, item in value.items()}


def each(change: Callable[[Any], Any]) -> Callable[[list[Any]], list[Any]]:
    """A conversion of a list that changes each of its elements.

    >>> each(str)([1, 2])
    ['1', '2']
    """
    return lambda items: [change(item) for item in items]


def kebab(text: str) -> str:
    """A skill's name in lower case with hyphens.

    >>> kebab("My Skill (v2)")
    'my-skill-v2'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def numbered(text: str) -> int | None:
    """The number in an eval's id or folder name, if it is a plain one.

    >>> numbered("eval-3-login"), numbered("7"), numbered("v2-login")
    (3, 7, None)
    """
    found = re.fullmatch(r"(?:eval-?)?(\d{1,9})(?:-.*)?", text)
    return int(found[1]) if found else None


def named(expectations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Expectations as assertions with a short name and a description.

    >>> named([{"text": "The tests pass"}])
    [{'name': 'the_tests_pass', 'description': 'The tests pass'}]
    """
    return [
        {
            "name": expectation.get("name")
            or expectation.get("id")
            or _short(expectation["text"])
            or f"expectation_{number}",
            "description": expectation["text"],
            **({"type": expectation["type"]} if "type" in expectation else {}),
        }
        for number, expectation in enumerate(expectations, 1)
    ]


def _short(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:48].rstrip("_")


Plain = dict[str, Any]

SKILL_SIDES = ("with_skill", "new_skill")
BASELINE_SIDES = ("without_skill", "baseline", "old_skill", "no_skill")
"""Configurations by the names that people give to the two sides, best first."""


def side_of(runs: list[Plain], names: tuple[str, ...]) -> str | None:
    """The first of `names` that is a configuration of some run."""
    there = {run["configuration"] for run in runs}
    return next((name for name in names if name in there), None)


def by_eval(runs: list[Plain], configuration: str | None = None) -> dict[Any, list[Plain]]:
    """Runs by what names their eval, in the order met; of one configuration, if given."""
    groups: dict[Any, list[Plain]] = {}
    for run in runs:
        if configuration is None or run["configuration"] == configuration:
            groups.setdefault(run.get("eval_id", run.get("eval_name")), []).append(run)
    return groups


def figures_of(runs: list[Plain], figure: str) -> list[float]:
    """The values of one figure in those runs that state it."""
    found = (run.get("result", {}).get(figure) for run in runs)
    return [value for value in found if value is not None]


def mean(values: Iterable[float]) -> float | None:
    """The mean, or None of nothing.

    >>> mean([1, 2]), mean([])
    (1.5, None)
    """
    there = list(values)
    return fmean(there) if there else None


def spread(values: list[float]) -> Plain | None:
    """Mean, sample standard deviation (of two or more), smallest and largest; None of nothing.

    >>> spread([1.0, 3.0])
    {'mean': 2.0, 'stddev': 1.4142135623730951, 'min': 1.0, 'max': 3.0}
    """
    if not values:
        return None
    deviation = {"stddev": stdev(values)} if len(values) > 1 else {}
    return {"mean": fmean(values), **deviation, "min": min(values), "max": max(values)}


def mean_of(stated: Any, unit: str | None = None) -> float | None:
    """The mean in a stated figure, whether it stands there in full, bare or printed.

    None of what is no such figure: below 0, or a rate above 1.

    >>> mean_of("85%", "rate"), mean_of({"mean": 12.5}), mean_of("about twelve")
    (0.85, 12.5, None)
    """
    value = stated.get("mean") if isinstance(stated, dict) else stated
    try:
        number = None if value is None else read_number(value, unit)
    except Unreadable:
        return None
    if number is None or number < 0 or (unit == "rate" and number > 1):
        return None
    return number


def without_none(value: Plain) -> Plain:
    """The entries that have a value."""
    return {key: item for key, item in value.items() if item is not None}


def pick(value: Plain, names: str, **renamed: str) -> Plain:
    """The entries of an object that have a value: of `names`, and others under a new name.

    >>> pick({"skill": "s", "tokens": 3, "time": None}, "skill time", total="tokens")
    {'skill': 's', 'total': 3}
    """
    keys = {**{name: name for name in names.split()}, **renamed}
    return without_none({name: value.get(key) for name, key in keys.items()})


def means(runs: list[Plain], figures: dict[str, str]) -> Plain:
    """The means of figures over runs, by the names that a dialect has for them.

    Tokens are whole. A figure that no run states is left out.
    """
    found = {name: mean(figures_of(runs, figure)) for name, figure in figures.items()}
    return without_none({**found, "tokens": when(found.get("tokens"), round)})


def first_skill(benchmarks: list[Plain]) -> str | None:
    """The skill that the first benchmark names which names one."""
    names = (benchmark["metadata"].get("skill_name") for benchmark in benchmarks)
    return next(filter(None, names), None)


def when(value: Any, change: Callable[[Any], Any]) -> Any:
    """`change(value)`, or None where there is no value."""
    return None if value is None else change(value)
