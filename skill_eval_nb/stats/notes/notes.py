"""`notes`: what an analyst would say of an iteration, written by rule from the statistics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from skill_eval_nb.tables import Workspace
from skill_eval_nb.tables.frames import like

from ..names import Key, natural
from ..pairing import side
from .note import Group, Note, frame_of_notes
from .on_effects import gains, noisy_dimensions
from .on_expectations import silent_or_hurting, unsteady_evals
from .on_runs import left_out, standing_out, unpaired

MAKERS = (
    gains,
    silent_or_hurting,
    left_out,
    unpaired,
    noisy_dimensions,
    unsteady_evals,
    standing_out,
)


def notes(data: Any, baseline: str | None = None, level: float = 0.95, most: int = 9) -> Any:
    """Short notes on each iteration, those that matter most first. No model is asked.

    Kinds, in order:

    - `gain and cost`: what a configuration changes against the baseline in pass rate, with its
      verdict (that on tasks like these, where single runs tell nothing of these evals), and in
      seconds, tokens and dollars a run; means over paired evals (`deltas`);
    - `hurts`: expectations of that class (`discrimination`);
    - `left out`: runs that errored, were gated, or have no grading;
    - `unpaired`: evals that lack a side;
    - `noisy dimension`: rubric dimensions whose difference is not proven, and on which two
      runs of an eval differ by more than the two sides do: the standard deviation inside
      evals, run and judge together (`variance`, the mean of both sides' variances), exceeds
      the estimate (`deltas_by_dimension`);
    - `flaky eval`: evals of whose expectations at least half, and at least two, changed from
      run to run of a configuration (`discrimination_by_eval`);
    - `always passes`, `always fails`: expectations of these classes (`discrimination`);
    - `outlier`: runs that stand out in time, tokens or cost (`outliers`).

    Args:
        data: a `Workspace`.
        baseline: the configuration to compare against; chosen by name where not given.
        level: 1 - alpha of the verdicts and classes.
        most: notes an iteration, at most.

    Returns:
        In the backend of `data`, one row a note: `workspace`, `skill`, `iteration`,
        `configuration` (null where the note is of none alone), `kind`, `text` (one line, names
        from files cut), and in full the names of the `evals`, `expectations` and `runs` that
        it is about, and `numbers`, a list of name and value. No row where there is nothing
        to say.

    Raises:
        TypeError: for anything but a `Workspace`: notes rest on several tables.
        ValueError: for a baseline that is not there, or a level outside (0, 1).

    >>> from skill_eval_nb.tables import Workspace
    >>> notes(Workspace.from_tables({})).height
    0
    """
    if not callable(getattr(type(data), "polars", None)):
        raise TypeError(
            f"Notes rest on several tables: give a Workspace, not {type(data).__name__}."
        )
    tables = {name: data.polars(name) for name in ("runs", "expectations", "rubric_scores")}
    own = Workspace.from_tables(tables)
    made = [note for maker in MAKERS for note in maker(own, baseline, level)]
    return like(data, frame_of_notes(_first(sorted(made, key=_place), most)))


def _place(note: Note) -> Key:
    names = (natural(name or "") for name in note.group)
    return (*names, note.rank, side(note.configuration or ""), note.text)


def _first(ranked: list[Note], most: int) -> Iterator[Note]:
    """The first notes of each iteration."""
    met: Counter[Group] = Counter()
    for note in ranked:
        met[note.group] += 1
        if met[note.group] <= most:
            yield note
