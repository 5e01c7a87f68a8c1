"""The text of stored outputs, as much of it as is looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from skill_eval_nb.grading.structural.globs import BadGlob, matching
from skill_eval_nb.grading.structural.outputs import list_outputs

from ...values import RunRef
from ..evidence import Seen

MOST_CHARS = 30_000
"""Characters of a run's files that are looked at."""
MOST_OUTPUTS = 300
"""Outputs that are looked at, as many of each side of each eval of each iteration."""


@dataclass(frozen=True, slots=True)
class Output:
    """The text of a run's output files that a glob names.

    Attributes:
        run: the run.
        text: of the files one after the other, the first `MOST_CHARS` characters.
        names: of these files.
    """

    run: RunRef
    text: str
    names: tuple[str, ...]


def outputs_of(
    seen: Seen, evals: Iterable[str], sides: tuple[str, str], pattern: str | None
) -> list[Output]:
    """The outputs of both sides' runs of some evals, a run without outputs left out.

    Of more than `MOST_OUTPUTS` runs the first of each side of each eval are read, but two at
    least.
    """
    chosen = set(evals)
    together: dict[tuple[str, ...], list[RunRef]] = {}
    for ref, run in seen.stored.items():
        if ref.eval_id in chosen and ref.configuration in sides and run.outputs is not None:
            together.setdefault(ref[:-1], []).append(ref)
    most = max(2, MOST_OUTPUTS // max(1, len(together)))
    return [
        _output(ref, str(seen.stored[ref].outputs), pattern)
        for refs in together.values()
        for ref in sorted(refs)[:most]
    ]


def common_glob(seen: Seen, evals: Iterable[str]) -> str | None:
    """The files that all outputs of some evals have, by their ending; None where none is common.

    Of several endings that all have, the one of most files counts.
    """
    chosen = set(evals)
    folders = [run.outputs for ref, run in seen.stored.items() if ref.eval_id in chosen]
    counted: Counter[str] = Counter()
    in_all: set[str] | None = None
    for folder in folders[:MOST_OUTPUTS]:
        names = list_outputs(str(folder)).names if folder is not None else []
        endings = [PurePosixPath(name).suffix for name in names]
        counted.update(endings)
        in_all = set(endings) if in_all is None else in_all & set(endings)
    shared = sorted((in_all or set()) - {""}, key=lambda one: (-counted[one], one))
    return f"*{shared[0]}" if shared else None


def _output(run: RunRef, folder: str, pattern: str | None) -> Output:
    outputs = list_outputs(folder)
    try:
        names = outputs.names if pattern is None else matching(pattern, outputs.names)
    except BadGlob:
        names = []
    text = ""
    for name in names:
        if len(text) >= MOST_CHARS:
            break
        try:
            data = outputs.read(name)
        except OSError:  # what cannot be read cannot be mined; a check would say so
            continue
        if b"\0" not in data:
            text += data[: MOST_CHARS * 4].decode("utf-8", "replace") + "\n"
    return Output(run, text[:MOST_CHARS], tuple(names))
