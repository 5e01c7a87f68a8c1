"""Where evaluation files lie: finding, reading, checking, converting, safe writing."""

from skill_eval_nb.disk import write_atomic

from .benchmarks import RunId, SecondGraders, Stating, Told, compare, stated_runs
from .catalogue import Catalogue, catalogue
from .checking import check
from .completing import complete
from .converting import Converted, convert
from .crawl import Folder, crawl
from .files import Files, Suite, read_files
from .finding import NothingToLoad, PathLike, find
from .identity import EvalFolder, EvalIndex, EvalKey, folder_of, skill_named, stated
from .layout import FilePlace, Layout, RunPlace, lay_out
from .names import NO_ITERATION, UNSTATED, natural
from .pause import collector_paused
from .places import Place
from .problems import Problem, Problems, below, said_once
from .runs import RunDocuments, read_run
from .sides import Named, named_by
from .suites import Definition, Seen

__all__ = [
    "NO_ITERATION",
    "UNSTATED",
    "Catalogue",
    "Converted",
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
    "Seen",
    "Stating",
    "Suite",
    "Told",
    "below",
    "catalogue",
    "check",
    "collector_paused",
    "compare",
    "complete",
    "convert",
    "crawl",
    "find",
    "folder_of",
    "lay_out",
    "named_by",
    "natural",
    "read_files",
    "read_run",
    "said_once",
    "skill_named",
    "stated",
    "stated_runs",
    "write_atomic",
]
