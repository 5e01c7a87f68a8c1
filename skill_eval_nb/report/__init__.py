"""Handing the result on: benchmark.json, benchmark.md, report.html, and tables as files."""

from .benchmark import benchmark
from .export import Written, write_benchmark, write_report, write_tables
from .html import html
from .markdown import markdown

__all__ = [
    "Written",
    "benchmark",
    "html",
    "markdown",
    "write_benchmark",
    "write_report",
    "write_tables",
]
