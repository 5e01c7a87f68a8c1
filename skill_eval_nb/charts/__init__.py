"""Charts: one chart, one question, its answer in the title.

Each takes a `Workspace` (or the table that it needs, in pandas or polars) and gives an Altair
chart, which shows in JupyterLab with no network and stays in the saved notebook as a picture.
"""

from .deltas import deltas
from .expectation_matrix import expectation_matrix
from .forest import forest
from .iterations import iterations
from .quality_against_cost import quality_against_cost
from .render import save
from .rubric_dimensions import rubric_dimensions

__all__ = [
    "deltas",
    "expectation_matrix",
    "forest",
    "iterations",
    "quality_against_cost",
    "rubric_dimensions",
    "save",
]
