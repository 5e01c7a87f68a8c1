"""Handing the result on: benchmark.json, benchmark.md, report.html, tables as files, and logs."""

from .document import benchmark
from .export import Written, write_benchmark, write_report, write_tables
from .inspect_logs import write_inspect
from .page import html, markdown

__all__ = [
    "Written",
    "benchmark",
    "html",
    "markdown",
    "write_benchmark",
    "write_inspect",
    "write_report",
    "write_tables",
]
