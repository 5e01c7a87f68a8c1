"""Where evaluation files lie: finding, reading, safe writing."""

from skill_eval_nb.disk import write_atomic
from skill_eval_nb.documents.sides import UNSTATED
from skill_eval_nb.text import natural

from .benchmarks import (
    BenchmarkFile,
    RunId,
    SecondGraders,
    StatedRuns,
    compare_rates,
    complete_record,
    stated_runs,
)
from .catalogue import (
    Catalogue,
    add_results,
    catalogue_files,
    named_by,
    read_files,
)
from .evals import EvalIndex, EvalKey, eval_named, skill_named, stated_text
from .find import NothingToLoad, PathLike, Sides, find
from .folders import NO_ITERATION, Place
from .layout import FilePlace, Layout, RunPlace, folder_of
from .problems import (
    Problem,
    Problems,
    group_problems,
    settle_problems,
)
from .read import Files, collector_paused, read_run

__all__ = [
    "NO_ITERATION",
    "UNSTATED",
    "BenchmarkFile",
    "Catalogue",
    "EvalIndex",
    "EvalKey",
    "FilePlace",
    "Files",
    "Layout",
    "NothingToLoad",
    "PathLike",
    "Place",
    "Problem",
    "Problems",
    "RunId",
    "RunPlace",
    "SecondGraders",
    "Sides",
    "StatedRuns",
    "add_results",
    "catalogue_files",
    "collector_paused",
    "compare_rates",
    "complete_record",
    "eval_named",
    "find",
    "folder_of",
    "group_problems",
    "named_by",
    "natural",
    "read_files",
    "read_run",
    "settle_problems",
    "skill_named",
    "stated_runs",
    "stated_text",
    "write_atomic",
]
