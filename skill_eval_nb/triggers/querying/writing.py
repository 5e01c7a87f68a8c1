"""`write_queries`: a trigger set into its file, which keeps whatever else it says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from skill_eval_nb.disk import read_bytes, write_atomic
from skill_eval_nb.documents import TriggerQuery, TriggerSet, dump
from skill_eval_nb.documents.dialects import check
from skill_eval_nb.documents.document import origin_of
from skill_eval_nb.running.refused import Refused, refuse
from skill_eval_nb.workspace import PathLike
from skill_eval_nb.workspace.rewriting import alone, written_like

from ..values import Query
from .reading import for_several, read_set


def write_queries(path: PathLike, queries: Iterable[Query], dialect: str = "iterations") -> Path:
    """Write a trigger set in one step; `read_queries` gives it back.

    A file that is there keeps its layout, and of each query that stays (by its words) whatever
    else it says of it; queries that are not given go. A new file is a bare list.

    Args:
        path: the file to write.
        queries: the whole set, in the order that the file is to have.
        dialect: whose form it must have: `iterations` or `codingbuddy`, which demands a query.

    Raises:
        Refused: what is there is no trigger set, or one for several skills; or the dialect does
            not hold such a set. Nothing was written then.
        NoSuchDocument: the dialect has no trigger sets.
        OSError: the file cannot be read or written.
    """
    given, file = tuple(queries), Path(path).expanduser()
    with alone(file):
        before = read_bytes(file) if file.exists() else None
        document = TriggerSet(queries=[]) if before is None else _there(file)
        document.queries = _merged(document.queries, given)
        origin = origin_of(document)
        bare = origin is None or isinstance(origin.raw, list)
        value = dump(document.queries if bare else document)
        wrong = [one for one in check("triggers", value, dialect) if one.severity == "error"]
        if wrong:
            raise Refused(f"`{dialect}` holds no such set: {one.message}" for one in wrong)
        return write_atomic(file, written_like(value, before))


def _there(file: Path) -> TriggerSet:
    document, faults = read_set(file)
    if faults:
        raise Refused([f"{one}; mend it before it is written to" for one in faults])
    if any(map(for_several, document.queries)):
        raise refuse(
            f"{file} names the `expected` skill of each query, for several skills: write the "
            "queries of one to another file"
        )
    return document


def _merged(there: Iterable[TriggerQuery], queries: Iterable[Query]) -> list[TriggerQuery]:
    """The rows of the queries: those that are there already, changed, and new ones."""
    known: defaultdict[str, list[TriggerQuery]] = defaultdict(list)
    for one in there:
        known[one.query].append(one)
    return [_row(known[one.query].pop(0) if known[one.query] else None, one) for one in queries]


def _row(row: TriggerQuery | None, query: Query) -> TriggerQuery:
    row = row or TriggerQuery(query=query.query, should_trigger=None)
    row.should_trigger = query.should_trigger
    if tuple(row.tags) != query.tags:
        row.tags = list(query.tags)
    if query.split is not None or row.split in ("train", "test"):
        row.split = query.split
    return row
