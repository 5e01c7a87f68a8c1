"""Charts: one chart, one question, its answer in the title.

Each takes a `Workspace` (or the table that it needs, in pandas or polars) and gives an Altair
chart, which shows in JupyterLab with no network and stays in the saved notebook as a picture.
"""

from .deltas import deltas
from .discrimination import discrimination
from .expectation_matrix import expectation_matrix
from .forest import forest
from .iterations import iterations
from .judge_confusion import judge_confusion
from .lineage import lineage
from .plan_curve import plan_curve
from .quality_against_cost import quality_against_cost
from .render import save
from .rubric_dimensions import rubric_dimensions
from .score_distributions import score_distributions
from .trigger_confusion import trigger_confusion
from .trigger_rates import trigger_rates
from .trigger_rounds import trigger_rounds
from .variance_components import variance_components

__all__ = [
    "deltas",
    "discrimination",
    "expectation_matrix",
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
