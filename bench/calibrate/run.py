"""Every cell measured, by several processes at once, in an order that makes no difference."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

from tqdm import tqdm

from .claims import Claimed
from .factors import Models
from .gates import Gated
from .harder import Harder
from .labelled import Labelled
from .looks import Looked
from .measure import (
    measure,
    measure_claims,
    measure_gates,
    measure_harder,
    measure_labelled,
    measure_looks,
    measure_models,
    measure_pages,
    measure_small,
    measure_triggers,
)
from .pages import Page
from .scenarios import Cell
from .small import Small
from .triggers import Triggers

Some = Cell | Claimed | Gated | Harder | Labelled | Looked | Models | Page | Small | Triggers


def run(cells: Sequence[Some], size: int, seed: int, jobs: int) -> dict[Any, dict[str, Any]]:
    """What `measure` gives for each cell, in their order; the largest begin first.

    `size` is the number of data sets of a cell.
    """
    for threads in ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(threads, "1")  # a process for each core is enough
    work = partial(_measure, size=size, seed=seed)
    begin_with = sorted(cells, key=lambda cell: -cell.cost)
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        done = tqdm(pool.map(work, begin_with), total=len(cells), unit="cell", disable=None)
        measured = dict(zip(begin_with, done, strict=True))
    return {cell: measured[cell] for cell in cells}


MEASURES: dict[type, Any] = {
    Cell: measure,
    Claimed: measure_claims,
    Gated: measure_gates,
    Harder: measure_harder,
    Labelled: measure_labelled,
    Looked: measure_looks,
    Models: measure_models,
    Page: measure_pages,
    Small: measure_small,
    Triggers: measure_triggers,
}


def _measure(cell: Some, size: int, seed: int) -> dict[str, Any]:
    return MEASURES[type(cell)](cell, size, seed)
