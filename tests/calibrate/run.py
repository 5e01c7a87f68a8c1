"""Every cell measured, by several processes at once, in an order that makes no difference."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from tqdm import tqdm

from .measure import Measured, measure
from .scenarios import Cell

Results = dict[Cell, dict[str, Measured]]


def run(cells: Sequence[Cell], size: int, seed: int, jobs: int) -> Results:
    """What `measure` gives for each cell, in their order; the largest begin first.

    `size` is the number of data sets of a cell, from which `Scenario.data_sets` makes its own.
    """
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # a process for each core is enough
    work = partial(_measure, size=size, seed=seed)
    begin_with = sorted(cells, key=lambda cell: -cell.n * cell.runs)
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        done = tqdm(pool.map(work, begin_with), total=len(cells), unit="cell", disable=None)
        measured = dict(zip(begin_with, done, strict=True))
    return {cell: measured[cell] for cell in cells}


def _measure(cell: Cell, size: int, seed: int) -> dict[str, Measured]:
    return measure(cell, cell.scenario.data_sets(size), seed)
