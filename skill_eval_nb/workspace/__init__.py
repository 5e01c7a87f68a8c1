"""Where evaluation files lie: finding, reading, safe writing."""

from skill_eval_nb.disk import write_atomic
from skill_eval_nb.documents.sides import UNSTATED
from skill_eval_nb.text import natural_key

from .catalogue import Catalogue, catalogue_files, read_files
from .evals import EvalKey
from .find import NothingToLoad, PathLike, Sides, find
from .folders import NO_ITERATION, Place
from .layout import Layout, RunPlace, folder_of
from .problems import Problem, Problems
from .read import collector_paused, read_run

__all__ = [
    "NO_ITERATION",
    "UNSTATED",
    "Catalogue",
    "EvalKey",
    "Layout",
    "NothingToLoad",
    "PathLike",
    "Place",
    "Problem",
    "Problems",
    "RunPlace",
    "Sides",
    "catalogue_files",
    "collector_paused",
    "find",
    "folder_of",
    "natural_key",
    "read_files",
    "read_run",
    "write_atomic",
]
