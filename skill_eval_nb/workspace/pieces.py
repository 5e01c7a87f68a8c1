"""The documents of evals and runs on their way into another dialect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from skill_eval_nb.documents import Eval, EvalMetadata, Grading
from skill_eval_nb.documents.dialects import source_of

from .catalogue import Catalogue
from .gathering import Gathered
from .identity import EvalKey
from .names import eval_parts
from .numbering import safe
from .places import Place
from .target import Piece, Target, eval_names, same, stem, with_


def run_pieces(
    documents: Iterable[Gathered], names: dict[str, Any], key: EvalKey, target: Target
) -> Iterator[Piece]:
    """The documents of a run; a grading says of which eval and run, where the target wants it."""
    for one in documents:
        own = names | {"file": stem(one.path)}
        if one.kind != "grading":
            yield Piece(one.kind, one.path, one.document, own)
        elif "grading" not in target.home.states:
            yield Piece("grading", one.path, _told_by_folders(one, key), own)
        else:
            document, source = one.document, source_of(one.document)
            if document.run_id and source is not None and source.dialect == target.dialect:
                own["pass"] = safe(document.run_id)
            id_ = same(document.eval_id, target.evals[key].in_folders)
            document = with_(document, eval_id=id_, run_id=document.run_id or own["pass"])
            yield Piece("grading", one.path, document, own)


def _told_by_folders(one: Gathered, key: EvalKey) -> Grading:
    """A grading without what the names of its folders say: leaving this out is no loss."""
    said = {"eval_id": key.id, "eval_name": key.name, "configuration": one.place.configuration}
    same = [name for name, text in said.items() if str(getattr(one.document, name)) == text]
    return with_(one.document, **dict.fromkeys(same))


def suite_piece(one: Gathered, keys: list[EvalKey], target: Target) -> Piece:
    """An eval suite with the target's ids."""
    evals = [
        with_(eval_, id=same(eval_.id, target.evals[key].in_suite))
        for eval_, key in zip(one.document.evals, keys, strict=True)
    ]
    return Piece("evals", one.path, with_(one.document, evals=evals), {})


def metadata_pieces(
    one: Gathered, sides: Iterable[str], who: Catalogue, target: Target
) -> Iterator[Piece]:
    """An eval's metadata with the target's id, once or (where it lies there) for each side."""
    id_ = same(one.document.eval_id, target.evals[who.eval_of(one.place)].in_folders)
    document = one.document
    if id_ != document.eval_id and (document.eval_id is not None or target.home.counted):
        document = with_(document, eval_id=id_)
    yield from _by_side(one.path, document, one.place, sides, who, target)


def missing_metadata(
    place: Place,
    source: str,
    definition: Eval | None,
    sides: Iterable[str],
    who: Catalogue,
    target: Target,
) -> Iterator[Piece]:
    """Metadata for an eval that has none and whose folder would not tell its id and name."""
    key = who.eval_of(place)
    name = target.evals[key]
    if eval_parts(name.folder) == (str(name.in_folders), key.name):
        return
    document = EvalMetadata(
        eval_id=name.in_folders,
        eval_name=key.name,
        prompt=definition.prompt if definition else None,
        assertions=definition.expectations if definition else [],
    )
    yield from _by_side(source, document, place, sides, who, target)


def _by_side(
    source: str,
    document: EvalMetadata,
    place: Place,
    sides: Iterable[str],
    who: Catalogue,
    target: Target,
) -> Iterator[Piece]:
    names = eval_names(place, who, target)
    if "{configuration}" not in target.home.paths.get("eval_metadata", ""):
        yield Piece("eval_metadata", source, document, names)
        return
    for side in sides:
        if target.home.sides is None or side in target.home.sides:
            yield Piece("eval_metadata", source, document, names | {"configuration": safe(side)})
