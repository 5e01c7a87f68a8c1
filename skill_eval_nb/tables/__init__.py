"""Documents to tidy tables; every column declared once."""

from .columns import TABLES, Column, Table
from .workspace import Workspace
