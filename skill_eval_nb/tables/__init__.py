"""Documents to tidy tables; every column declared once."""

from skill_eval_nb.workspace import NothingToLoad

from .check import check
from .columns import TABLES, Column, Table, describe
from .workspace import Workspace, from_files, from_table, load

__all__ = [
    "TABLES",
    "Column",
    "NothingToLoad",
    "Table",
    "Workspace",
    "check",
    "describe",
    "from_files",
    "from_table",
    "load",
]
