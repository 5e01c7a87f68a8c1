"""Documents to tidy tables; every column declared once."""

from .columns import TABLES, Column, Table
from .describe import describe
from .load import NothingToLoad, load
from .workspace import Workspace

__all__ = ["TABLES", "Column", "NothingToLoad", "Table", "Workspace", "describe", "load"]
