"""The rules that draft without a model: one module a rule, each a function of what is seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...values import Draft
from ..evidence import Seen
from .evals import of_evals
from .mined import mined
from .rubric import of_rubric
from .splitting import splitting
from .spoken import spoken
from .unchecked import unchecked
from .useless import useless

Rule = Callable[[Seen], Iterator[Draft]]

RULES: tuple[Rule, ...] = (mined, spoken, useless, splitting, of_rubric, unchecked, of_evals)
"""In the order in which drafts that rest on equally much are given."""

__all__ = ["RULES", "Rule"]
