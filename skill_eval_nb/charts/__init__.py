"""Charts: one chart, one question, its answer in the title.

Each takes a `Workspace` (or the table that it needs, in pandas or polars) and gives an Altair
chart, which shows in JupyterLab with no network and stays in the saved notebook as a picture.
"""

from .checks import discrimination, expectation_matrix
from .cost import plan_curve, quality_against_cost
from .deltas import deltas, factors, forest
from .judges import judge_confusion, variance_components
from .lineage import iterations, lineage
from .rubric import rubric_dimensions, score_distributions
from .theme import save
from .triggers import trigger_confusion, trigger_rates, trigger_rounds

__all__ = [
    "deltas",
    "discrimination",
    "expectation_matrix",
    "factors",
    "forest",
    "iterations",
    "judge_confusion",
    "lineage",
    "plan_curve",
    "quality_against_cost",
    "rubric_dimensions",
    "save",
    "score_distributions",
    "trigger_confusion",
    "trigger_rates",
    "trigger_rounds",
    "variance_components",
]
