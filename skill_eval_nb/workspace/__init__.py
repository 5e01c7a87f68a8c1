"""Where evaluation files lie: finding, reading, checking, safe writing."""

from skill_eval_nb.disk import write_atomic

from .benchmarks import RunId, SecondGraders, StatedRuns, compare, complete, stated_runs
from .catalogue import (
    BenchmarkFile,
    Catalogue,
    Definition,
    EvalIndex,
    EvalKey,
    Named,
    SeenEval,
    catalogued,
    named_by,
    skill_named,
    stated,
)
from .check import check
from .files import Files, SuiteFile, add_results
from .find import NothingToLoad, PathLike, Sides, find
from .layout import (
    NO_ITERATION,
    UNSTATED,
    EvalFolder,
    FilePlace,
    Folder,
    Layout,
    Place,
    RunPlace,
    crawl,
    folder_of,
    lay_out,
    natural,
)
from .problems import Problem, Problems, below, collapsed, report_broken_rates
from .read import RunDocuments, collector_paused, read_files, read_run

__all__ = [
    "NO_ITERATION",
    "UNSTATED",
    "BenchmarkFile",
    "Catalogue",
    "Definition",
    "EvalFolder",
    "EvalIndex",
    "EvalKey",
    "FilePlace",
    "Files",
    "Folder",
    "Layout",
    "Named",
    "NothingToLoad",
    "PathLike",
    "Place",
    "Problem",
    "Problems",
    "RunDocuments",
    "RunId",
    "RunPlace",
    "SecondGraders",
    "SeenEval",
    "Sides",
    "StatedRuns",
    "SuiteFile",
    "add_results",
    "below",
    "catalogued",
    "check",
    "collapsed",
    "collector_paused",
    "compare",
    "complete",
    "crawl",
    "find",
    "folder_of",
    "lay_out",
    "named_by",
    "natural",
    "read_files",
    "read_run",
    "report_broken_rates",
    "skill_named",
    "stated",
    "stated_runs",
    "write_atomic",
]
