"""Notebooks that a test writes for itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import nbformat

if TYPE_CHECKING:
    from tests.notebooks.desk import Desk


def write(desk: Desk, name: str, *cells: str) -> None:
    """Put a notebook with these code cells on the desk."""
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell) for cell in cells],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    nbformat.write(notebook, desk.work / name)
