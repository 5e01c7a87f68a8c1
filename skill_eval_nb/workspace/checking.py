"""Check files, or whole workspaces, against what a dialect prescribes."""

from __future__ import annotations

import os

from skill_eval_nb.documents import Faults
from skill_eval_nb.documents.dialects import DIALECTS, NoSuchDocument, read
from skill_eval_nb.documents.dialects import check as check_document

from .catalogue import catalogue
from .files import read_files
from .finding import find
from .gathering import Gathered, gather_files, gather_run
from .layout_rules import check_layout, is_kept
from .nearest import main_of, nearest
from .problems import Problems
from .references import STRICT, Whole, check_references
from .suited import at_home, suite_keys


def check(path: str | os.PathLike[str], dialect: str | None = None) -> Problems:
    """Every fault of a file or of all documents of workspaces, with file and JSON path.

    Each workspace is checked on its own, against the dialect that its documents are nearest
    to, kind by kind.

    Args:
        path: a file or a folder.
        dialect: what to check against; found out from the documents where it is not given.

    Returns:
        the problems: what each document breaks of the dialect's rules, and what the
        documents say of each other that does not hold (ids, folders, run ids of feedback).

    Raises:
        FileNotFoundError: `path` does not exist.
        NothingToLoad: there is no evaluation document.
        NoSuchDocument: there is no such dialect.
    """
    if dialect is not None and dialect not in DIALECTS:
        raise NoSuchDocument(f"there is no dialect `{dialect}`; there are {', '.join(DIALECTS)}")
    found = find(path)
    problems = found.problems
    files = read_files(found.layout.files, Problems())
    who = catalogue(found.layout, files, found.base, Problems())
    suites = suite_keys(files, who)
    beside = [at_home(one, suites) for one in gather_files(found.layout.files, problems)]
    runs = [run for place in found.layout.runs for run in gather_run(place, problems)]
    keys = {suite: of_it for suite, (_, of_it) in suites.items()}
    for folder in who.names:
        mine = [run for run in runs if run.place.workspace == folder]
        documents = [one for run in mine for one in run.documents]
        documents += [one for one in beside if one.place.workspace == folder]
        if documents:
            _check_workspace(folder, Whole(mine, documents, keys, who), dialect, problems)
    return problems


def _check_workspace(folder: str, whole: Whole, dialect: str | None, problems: Problems) -> None:
    against = nearest(whole.documents)
    strict = dialect == STRICT or (dialect is None and is_kept(whole, main_of(against)))
    if strict or dialect is not None:
        against |= dict.fromkeys(against.keys() & DIALECTS[dialect or STRICT], dialect or STRICT)
    for one in whole.documents:
        problems.add_faults(one.path, _faults(one, against[one.kind]).collapsed())
    check_references(whole, strict, problems)
    if strict:
        check_layout(whole, folder, problems)
    for name in dict.fromkeys(against.values()):
        of_it = ", ".join(kind for kind, of in against.items() if of == name)
        what = f"checked against `{name}`" if name else "of no dialect"
        problems.add("info", "dialect", folder, f"{what}: {of_it}")


def _faults(one: Gathered, dialect: str | None) -> Faults:
    """What a document breaks of its dialect's rules; of the common ones, where it has none."""
    if dialect is None:
        return read(one.kind, one.raw)[1]
    return check_document(one.kind, one.raw, dialect)
