"""Whether an effect differs between models, on the evals that each of them has."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from skill_eval_nb.text import brief, chance, count, some

from .comparison import TINY, Scope, fewest_moved, members_of
from .inference.intervals import Noise, cells, run_noise
from .inference.multiple import flip_signs

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    Array = np.ndarray[Any, Any]

WHERE = {"suite": "these evals", "population": "tasks like these"}
"""What an answer is about."""


def flip_jointly(vectors: Array) -> list[float]:
    """The p of each column's mean, adjusted for the others; the smallest is that of them all.

    The signs of whole rows are flipped, so that columns that go together are not paid for twice.
    A column's p is the share of flips in which the largest t of any column, |mean| / (SD / √n),
    is at least its own (Westfall and Young 1993).

    Args:
        vectors: evals × models, at least two evals.

    >>> import numpy as np
    >>> flip_jointly(np.array([[0.3, 0.0], [0.4, 0.1], [0.5, -0.1], [0.4, 0.0]]))
    [0.125, 1.0]
    """
    import numpy as np

    n = len(vectors)
    means = flip_signs(vectors) / n
    squares = np.maximum((vectors**2).sum(axis=0) - n * means**2, 1e-12)
    sizes = np.where(np.abs(means) < 1e-12, 0.0, np.abs(means))
    t = sizes / np.sqrt(squares / (n - 1) / n)
    largest = t.max(axis=1)
    return [float((largest >= own * (1 - 1e-9)).mean()) for own in t[0]]


def welch_p(means: Sequence[float], noises: Sequence[Noise]) -> float:
    """Welch's p (Biometrika 1951) that means differ of which each has a noise of its own.

    >>> round(welch_p([0.1, 0.3], [Noise(0.05, 9), Noise(0.05, 9)]), 4)
    0.0111
    """
    import numpy as np
    from scipy import special

    m, mean = len(means), np.array(means)
    weight = np.array([noise.se**-2 for noise in noises])
    share = weight / weight.sum()
    spread = ((1 - share) ** 2 / np.array([noise.df for noise in noises])).sum()
    between = (weight * (mean - share @ mean) ** 2).sum() / (m - 1)
    f = between / (1 + 2 * (m - 2) / (m * m - 1) * spread)
    return float(special.fdtrc(m - 1, (m * m - 1) / (3 * spread), f))


class Interaction(NamedTuple):
    """What can be told of whether an effect differs between models, or harnesses.

    Attributes:
        scope: these evals or tasks like these.
        level: 1 - alpha.
        of: what the models are called.
        models: those with a pair; `left_out` are those without any.
        n_evals: how many evals each of them has on both sides, on which all here rests.
        estimates: the mean difference of each.
        p: of no difference between them; None if `lacks` says what is missing.
        deviations: of tasks like these, the adjusted p of how far each is from the mean over
            models; `mains` of each estimate itself. Nothing if that cannot be told.
    """

    scope: Scope
    level: float
    of: str
    models: list[str]
    left_out: list[str]
    n_evals: int
    estimates: list[float]
    p: float | None = None
    lacks: str = ""
    deviations: Sequence[float] = ()
    mains: Sequence[float] = ()

    @property
    def differs(self) -> bool | None:
        """Whether the effect differs; None if that cannot be told."""
        return None if self.p is None else self.p <= 1 - self.level + TINY

    def sentence(self) -> str:
        """The answer and what it rests on."""
        differs = f"effect differs between {self.of}"
        if self.p is None:
            return f"Whether the {differs} cannot be told: {self.lacks}."
        rests = f"{WHERE[self.scope]} ({count(self.n_evals, 'eval')} each), p {chance(self.p)}"
        begins = "The" if self.differs else "It is unclear whether the"
        return f"{begins} {differs} on {rests}."


def find_interaction(
    paired: pl.DataFrame, scope: Scope, level: float, of: str = "models"
) -> Interaction:
    """Whether the effect differs between the models of one comparison, as `pooled` has them.

    Of these evals by Welch's test of the models' means, of tasks like these by `flip_jointly` of
    what each model deviates from the mean over models, eval by eval.
    """
    import numpy as np

    models, left_out = paired.select("models", "left_out").row(0)
    evals = paired.drop_nulls("estimate")
    both = (zip(*evals[side].to_list(), strict=True) for side in ("values", "baseline_values"))
    runs = dict(zip(models, zip(*both, strict=True), strict=bool(len(evals))))
    effects = np.array(
        [
            [fmean(own) - fmean(other) for own, other in zip(*sides, strict=True)]
            for sides in runs.values()
        ]
    ).T
    means = effects.mean(axis=0).tolist() if len(evals) else []
    found = Interaction(scope, level, of, models, left_out, len(evals), means)
    if len(models) < 2:
        only = some(map(brief, models)) or "none"
        return found._replace(lacks=f"it takes two with both sides, and there is {only}")
    if not len(evals):
        return found._replace(lacks="no eval has both sides with each of them")
    if scope == "suite":
        of_each = {name: list(map(cells, sides)) for name, sides in runs.items()}
        noises = {name: run_noise(*sides) for name, sides in of_each.items()}
        silent = [brief(name) for name, noise in noises.items() if noise is None]
        if not silent:
            return found._replace(p=welch_p(means, list(filter(None, noises.values()))))
        if all(side.enough for sides in of_each.values() for side in sides):
            return found._replace(lacks=f"no run noise was seen with {some(silent)}")
        return found._replace(lacks="it takes two runs of an eval on either side with each of them")
    if "family" in evals.columns:
        members = members_of(evals["family"].to_list())
        effects = np.array([effects[own].sum(axis=0) for own in members])
    apart = effects - effects.mean(axis=1, keepdims=True)
    moved, least = int((abs(apart) > TINY).any(axis=1).sum()), fewest_moved(level)
    if moved < least:
        units = "families" if "family" in evals.columns else "evals"
        lacks = f"it takes {least} {units} on which they differ, and there are {moved}"
        return found._replace(lacks=lacks)
    each = flip_jointly(apart)
    return found._replace(p=min(each), deviations=each, mains=flip_jointly(effects))
