"""`read_queries`: a trigger set, whatever form its file has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, cast

import msgspec

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import Faults, NotJSON, TriggerQuery, TriggerSet, mend, parse
from skill_eval_nb.running.refused import Refused, refuse
from skill_eval_nb.stats.phrases import brief, count, some
from skill_eval_nb.workspace import PathLike

from ..values import Query
from .finding import set_in

NONE = frozenset(("", "none", "null", "no skill"))
"""What is expected, in a set for several skills, where none of them should be picked up."""


def read_queries(path: PathLike, *, skill: str | None = None) -> tuple[Query, ...]:
    """Read a trigger set.

    Args:
        path: a file: a bare list of queries, an object with such a list (`queries`, `evals`,
            `query_results`, …), a result with counts, evals that say `should_trigger`; or a
            folder with one such set in it, as a skill's or a workspace.
        skill: the skill's name, for a set that names the `expected` skill of each query; a
            query that expects another one, or none, should not trigger this.

    Returns:
        The queries in the file's order, all of them.

    Raises:
        Refused: it is no trigger set; a query cannot be used, or does not say whether the skill
            should be picked up (all of them are told); or the folder has no set, or several.
        FileNotFoundError: there is no such path.
        OSError: the file cannot be read.
        NothingToLoad: the folder holds nothing of the kind.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "trigger-eval-set.json")
    ...     written = file.write_text('[{"query": "Add up sales.csv", "should_trigger": true}]')
    ...     read_queries(folder)[0].query
    'Add up sales.csv'
    """
    given = Path(path).expanduser()
    file = set_in(given) if given.is_dir() else given
    document, faults = read_set(file)
    if faults:
        raise Refused(faults)
    labels = [_label(one, skill) for one in document.queries]
    if fault := _unlabelled(document.queries, labels, skill):
        raise refuse(f"{file} {fault}")
    return tuple(
        Query(one.query, bool(label), tuple(one.tags), _split(one))
        for one, label in zip(document.queries, labels, strict=True)
    )


def read_set(file: Path) -> tuple[TriggerSet, list[str]]:
    """A file as the document that forgets nothing of it, and what of it cannot be used.

    Raises:
        Refused: it is no trigger set at all.
        OSError: it cannot be read.
    """
    try:
        raw = parse(read_bytes(file), Faults())
    except NotJSON as error:
        raise refuse(f"{file} is no trigger set: {error}") from None
    document, faults = mend(raw, TriggerSet)
    wrong = [one for one in faults if one.severity == "error"]
    if any(one.where in ("$", "$.queries") for one in wrong):
        held = brief(msgspec.json.encode(raw).decode())
        raise refuse(
            f"{file} is no trigger set: it holds {held}. It is to be a list of objects with "
            "`query` and `should_trigger`, or an object with such a list in `queries`"
        )
    return document, [f"{file}: {one.where}: {one.message}" for one in wrong]


def for_several(one: TriggerQuery) -> bool:
    """Whether a row says which skill should be picked up, and not whether one should."""
    return one.should_trigger is None and one.expected is not None


def _label(one: TriggerQuery, skill: str | None) -> bool | None:
    expected = (one.expected or "").strip()
    if not for_several(one):
        return one.should_trigger
    return expected == skill if expected.casefold() not in NONE else False


def _unlabelled(
    queries: Sequence[TriggerQuery], labels: Sequence[bool | None], skill: str | None
) -> str | None:
    """What to say where nobody knows of a query whether it should trigger."""
    expected = {(one.expected or "").strip() for one in queries if for_several(one)}
    named = sorted(name for name in expected if name.casefold() not in NONE)
    if named and skill not in expected:
        which = "say for which one, by `skill`" if skill is None else f"none expects `{skill}`"
        return f"is a set for several skills ({some(named, 20)}): {which}"
    missing = [str(number) for number, label in enumerate(labels, 1) if label is None]
    if not missing:
        return None
    return (
        f"has {count(len(labels), 'row')}, of which {len(missing)} (number {some(missing)}) do not "
        "say whether the skill should be picked up: give each `should_trigger`, true or false"
    )


def _split(one: TriggerQuery) -> Literal["train", "test"] | None:
    return cast("Literal['train', 'test']", one.split) if one.split in ("train", "test") else None
