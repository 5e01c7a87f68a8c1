"""Handing the result on: benchmark.json, benchmark.md, report.html, tables, logs; a gate for CI."""

from .document import benchmark
from .export import Written, write_benchmark, write_report, write_tables
from .gate import Gate, gate
from .inspect_logs import write_inspect
from .library import Library, library
from .page import html, markdown

__all__ = [
    "Gate",
    "Library",
    "Written",
    "benchmark",
    "gate",
    "html",
    "library",
    "markdown",
    "write_benchmark",
    "write_inspect",
    "write_report",
    "write_tables",
]
