"""Documents that belong to no single eval, with the ids that the target gives to evals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from skill_eval_nb.documents import Review
from skill_eval_nb.documents.dialects import DIALECTS

from .benchmarks import Stating
from .catalogue import Catalogue
from .gathering import Gathered
from .identity import EvalKey, folder_of
from .names import NO_ITERATION, eval_parts
from .places import Place
from .problems import Problems
from .sides import named_by
from .target import Piece, Target, eval_names, same, stem, unfit, with_


def benchmark_pieces(
    benchmarks: Iterable[Stating], who: Catalogue, target: Target
) -> Iterator[Piece]:
    """The benchmarks: one an iteration, or one for all where the target's file holds many."""
    pieces = [_benchmark(one, who, target) for one in benchmarks]
    form = DIALECTS[target.dialect].get("benchmark")
    if form is not None and form.many and pieces:
        yield pieces[0]._replace(document=[one for piece in pieces for one in piece.document])
    else:
        yield from pieces


def _benchmark(one: Stating, who: Catalogue, target: Target) -> Piece:
    runs = []
    for run in one.document.runs:
        key = stated_eval(run.eval_id, run.eval_name, one, who)
        runs.append(with_(run, eval_id=same(run.eval_id, target.evals[key].in_folders)))
    document = with_(one.document, runs=runs)
    named = document.metadata.iteration is not None or one.iteration == NO_ITERATION
    if "benchmark" in target.home.states and not named:
        text = one.iteration.removeprefix("iteration-")
        number = int(text) if re.fullmatch(r"[0-9]{1,9}", text) else text
        document = with_(document, metadata=with_(document.metadata, iteration=number))
    return Piece("benchmark", one.path, [document], _where(target.iterations[one.iteration]))


def stated_eval(id_: str | int | None, name: str | None, one: Stating, who: Catalogue) -> EvalKey:
    """The eval that a row of a benchmark is of."""
    text = None if id_ is None else str(id_)
    key = who.index.find(one.place.workspace, one.iteration, text, name)
    return key or EvalKey(text or str(name), name or str(text))


def other_piece(one: Gathered, who: Catalogue, target: Target, losses: Problems) -> Piece:
    """A document of an iteration or of the whole workspace."""
    document, place = one.document, one.place
    alone = set(target.iterations) == {NO_ITERATION}
    iteration = target.iterations[place.iteration] if alone else _iteration(place, target)
    names = _where(iteration) | {"file": stem(one.path), "named": _named(one)}
    if folder_of(place) in who.keys:
        names["where"] = "{iteration}/{eval}".format(**eval_names(place, who, target))
    if one.kind == "feedback" and "feedback" in target.home.paths:
        reviews = (_review(review, one, who, target, losses) for review in document.reviews)
        document = with_(document, reviews=[review for review in reviews if review is not None])
    elif one.kind == "comparison" and document.eval_id is not None:
        key = who.index.find(place.workspace, place.iteration, str(document.eval_id), None)
        if key is not None:
            eval_id = same(document.eval_id, target.evals[key].in_folders)
            document = with_(document, eval_id=eval_id)
    return Piece(one.kind, one.path, document, names)


def _review(
    review: Review, one: Gathered, who: Catalogue, target: Target, losses: Problems
) -> Review | None:
    """A review with the run id as the target names runs; None for a run that was left out."""
    named, side, number = named_by(review.run_id, target.configurations)
    key = who.index.find(one.place.workspace, one.place.iteration, eval_parts(named)[0], named)
    if key is None or side is None:
        return review
    if reason := unfit(target, side, 1 if number is None else number):
        losses.add("warning", "loss", one.path, f"a review {reason}", where="$.reviews[*]")
        return None
    name = target.evals[key]
    if named not in (name.folder, f"eval-{name.in_folders}"):
        named = f"eval-{name.in_folders}"
    numbered = number is not None and target.home.runs
    run_id = f"{named}-{side}" + (f"-run-{number}" if numbered else "")
    return review if run_id == review.run_id else with_(review, run_id=run_id)


def _iteration(place: Place, target: Target) -> str:
    """The folder of a document's iteration; the workspace's own where it is of none."""
    return "" if place.iteration == NO_ITERATION else target.iterations[place.iteration]


def _where(iteration: str) -> dict[str, Any]:
    return {"iteration": iteration, "where": iteration}


def _named(one: Gathered) -> str:
    """The name that a file had, beginning with its kind."""
    name = stem(one.path)
    return name if name.startswith(one.kind) else f"{one.kind}-{name}"
