"""Why a coefficient of agreement is missing, or says little: sentences for the column `note`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .raters import Raters

if TYPE_CHECKING:
    Row = dict[str, Any]

FEW = 20
"""Outputs judged twice below which a coefficient is a rough guess."""
CROWDED = 0.9
"""Share of one score above which alpha, ICC and kappa have too little spread to work with."""


def doubts(found: Row, raters: Raters, scale: tuple[int, int]) -> str | None:
    """What to bear in mind with the figures of one comparison, or None.

    Args:
        found: its figures, as `agreement` gives them.
        raters: whose they are.
        scale: the lowest and the highest score that the rubric allows.
    """
    import numpy as np

    if not len(raters.scores):
        return "There are no scores."
    said = []
    values, counts = np.unique(raters.scores, return_counts=True)
    most, share = values[counts.argmax()], counts.max() / counts.sum()
    off = int(((raters.scores < scale[0]) | (raters.scores > scale[1])).sum())
    if not found["n_repeated"]:
        said.append("No output was scored twice: judge again to see how far the scores hold.")
    elif len(values) == 1:
        said.append(f"All scores are {most:g}: without spread there is no alpha, ICC or kappa.")
    else:
        if share > CROWDED:
            said.append(
                f"{share:.0%} of the scores are {most:g}: alpha, ICC and kappa are low then "
                "however often the scores agree; look at exact agreement and AC2."
            )
        if found["icc_a1"] is None:
            said.append("The outputs are too few or too alike for an ICC.")
        if found["n_repeated"] < FEW:
            said.append(f"With {found['n_repeated']} outputs the coefficients are rough guesses.")
    if off:
        said.append(f"{off:,} of the scores lie outside {scale[0]}–{scale[1]}.")
    if raters.two and found["n_repeated"] and found["low"] is None:
        few = found["n_evals"] < 2
        why = "it takes two evals" if few else "it is the same on every eval"
        said.append(f"The difference has no interval: {why}.")
    if raters.stray:
        said.append(f"{raters.stray:,} of the human scores are of no judged run.")
    return " ".join(said) or None
