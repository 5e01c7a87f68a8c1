"""Handing the result on: benchmark.json, benchmark.md, report.html, and tables as files."""

from .benchmark import benchmark
from .export import write_benchmark, write_report, write_tables
from .html import html
from .markdown import markdown

__all__ = [
    "benchmark",
    "html",
    "markdown",
    "write_benchmark",
    "write_report",
    "write_tables",
]
