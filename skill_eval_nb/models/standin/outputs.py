"""What the stand-in writes: texts by hand for the demo skill's evals, else a plain statement."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from .expected import as_score

OPENLY = "No model wrote this: it comes from the stand-in, which follows rules and a seed."
STATED = re.compile(r"stand-in quality:\s*(-?\d+(?:\.\d+)?)")
NAMED = re.compile(r"\b(?:to|as|into|called|named)\s+[`\"']?([\w-][\w.-]*\.(?:md|txt))\b")


@dataclass(frozen=True, slots=True)
class Draft:
    """Files to be written (relative path: text without a last line end), and what they are."""

    files: Mapping[str, str]
    what: str


def draft(task: str, read: str, quality: float) -> Draft:
    """What a run of this quality writes.

    Where the task or what was read holds the commits of one of the demo skill's evals, the
    text of the level that the quality rounds to. Else one file that states the quality:
    `answer.md`, or the Markdown or text file that the task says to write to.

    >>> draft("Write it to plan.md", "", 3.416).files["plan.md"].splitlines()[-1]
    'stand-in quality: 3.42'
    """
    known = f"{task}\n{read}"
    for written in _by_hand():
        if all(commit in known for commit in written["commits"]):
            level = as_score(quality)
            files = {name: text.strip("\n") for name, text in written[f"level-{level}"].items()}
            return Draft(files, f"the text of level {level} of 5, written by hand for this eval")
    named = NAMED.search(task)
    stated = f"stand-in quality: {quality:.2f}"
    text = f"# Answer\n\n{OPENLY}\n{len(read)} characters were read first.\n\n{stated}"
    return Draft({named[1] if named else "answer.md": text}, "it states the quality that was drawn")


def stated(text: str) -> float | None:
    """The quality that a text states, None where it states none."""
    found = STATED.search(text)
    return float(found[1]) if found else None


@cache
def _by_hand() -> tuple[dict, ...]:
    text = resources.files(__name__.rpartition(".")[0]).joinpath("outputs.toml").read_text("utf-8")
    return tuple(tomllib.loads(text)["eval"])
