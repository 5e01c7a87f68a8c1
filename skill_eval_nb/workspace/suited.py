"""Suites with the workspaces and the evals that they define, wherever they lie."""

from __future__ import annotations

from dataclasses import replace

from .catalogue import Catalogue
from .files import Files
from .gathering import Gathered
from .identity import EvalKey

Suites = dict[str, tuple[str, list[EvalKey]]]
"""The workspace and the evals of each suite, by its file."""


def suite_keys(files: Files, who: Catalogue) -> Suites:
    """The workspace of each suite, and the key of each of its evals, in their order."""
    definitions = iter(who.definitions)
    return {
        suite.path: (suite.workspace, [next(definitions)[1] for _ in suite.document.evals])
        for suite in files.suites
    }


def at_home(one: Gathered, suites: Suites) -> Gathered:
    """A suite as a document of the workspace that it defines the evals of."""
    if one.path not in suites:
        return one
    return replace(one, place=replace(one.place, workspace=suites[one.path][0]))
