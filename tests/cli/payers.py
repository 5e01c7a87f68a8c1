"""Every command that pays a model, on data of its own, with a model that a server stands in for."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from skill_eval_nb.improving import compare, write_drafts
from tests.checkout import ROOT
from tests.cli.calls import PROGRAM
from tests.corpus.build import graded, lay
from tests.improving.made import NEW, OLD, draft, ledgers, offline, planted, tried_on
from tests.triggers.made import make_skill

MODEL = "claude-haiku-4-5"
ASKED = ("--model", MODEL)
CEILING = ("--budget-usd", 5)
UNCONTAINED = ("--sandbox", "none", "--others", "none")
DEMO = ROOT / "data" / "release-notes"
FEW = ("--eval", "no-version-named", "--sandbox", "none")
"""One eval of the demo skill, and no sandbox: what the stand-in has done is known."""
RIGOUR = {"name": "rigour", "description": "d", "weight": 1.0}
RIGOUR |= {"scoring": {"1": "none", "3": "some", "5": "all"}}
Command = list[object]


def run(home: Path) -> Command:
    """Runs of the demo skill, in a workspace that is there."""
    (home / "ws").mkdir()
    models = ("--executor", "messages-api", "--executor-model", MODEL, "--judge-model", "stand-in")
    return ["run", DEMO, "--workspace", home / "ws", *models, *FEW, "--runs", 1, "--yes"]


def stored(home: Path, **more: Any) -> Path:
    """Stored runs of two evals."""
    return ledgers(home, evals=2, runs=1, iterations=("iteration-1",), **more)


def judge(home: Path) -> Command:
    return ["judge", stored(home), "--judge-model", MODEL, "--yes"]


def analyse(home: Path) -> Command:
    """Of what was compared already."""
    ws = stored(home)
    compare(ws, NEW, OLD, connection=offline("better"), repeat=0)
    return ["improve", "analyse", ws, *ASKED, "--yes"]


def criticised(home: Path) -> Path:
    """Stored runs of whose evals graders say two things."""
    files = {
        f"iteration-1/eval-{n}-ledger-{n}/with_skill/run-1/grading.json": graded(
            "p", eval_feedback={"suggestions": [{"reason": reason}]}
        )
        for n, reason in ((1, "Nobody looks at the currency."), (2, "Rows may come unsorted."))
    }
    return stored(home, files=files)


def aggregate(home: Path) -> Command:
    to = ("--merge-model", MODEL, "--yes", "--out", home / "aggregate.json")
    return ["improve", "aggregate", criticised(home), *to]


def try_out(home: Path) -> Command:
    """A drafted dimension."""
    ws = tried_on(home, planted(3, 0), evals=2, runs=1)
    file = write_drafts(home / "drafts.json", [draft("dimensions", RIGOUR, evals=["1", "2"])])
    return ["improve", "try", file, ws, "--judge-model", MODEL, *CEILING]


OLD_DESCRIPTION = "Builds a kite of paper."
WHO = ("Belda", "Dorka", "Finmi")
BUILD, WRITE = ([f"{who} {what}" for who in WHO] for what in ("builds a kite", "writes a poem"))


def kites(home: Path, yes: list[str] = BUILD, no: list[str] = WRITE) -> tuple[Path, Path]:
    """A skill, and queries for it."""
    queries = [{"query": query, "should_trigger": query in yes} for query in (*yes, *no)]
    lay(home / "kites-workspace" / "triggers", {})
    skill = make_skill(home / "kites", description=OLD_DESCRIPTION)
    return skill, lay(home, {"queries.json": queries}) / "queries.json"


def trigger(home: Path) -> Command:
    return ["trigger", *kites(home), *ASKED, "--runs", 1, "--yes", *UNCONTAINED]


def trigger_optimise(home: Path) -> Command:
    _, *rest = trigger(home)
    return ["trigger-optimise", *rest, "--rounds", 2, "--held-out", 0.5]


def trigger_draft(home: Path) -> Command:
    skill, _ = kites(home)
    return ["trigger-draft", skill, "--n", 4, "--others", "none", *ASKED, *CEILING]


PAYERS: dict[str, Callable[[Path], Command]] = {
    "run": run,
    "judge": judge,
    "judge_by_batch": lambda home: [*judge(home), "--batch"],
    "compare_sides": lambda home: ["compare", stored(home), NEW, OLD, *ASKED, "--yes"],
    "analyse": analyse,
    "aggregate": aggregate,
    "draft_changes": lambda home: ["improve", "draft", criticised(home), *ASKED, *CEILING],
    "try_out": try_out,
    "trigger": trigger,
    "trigger_optimise": trigger_optimise,
    "trigger_draft": trigger_draft,
    "init": lambda home: ["init", kites(home)[0], "--n", 3, *ASKED, *CEILING],
}


@contextlib.contextmanager
def begun(command: Command, server: str) -> Iterator[subprocess.Popen[str]]:
    """A command in a process of its own, as users start it; the server is the model."""
    with subprocess.Popen(
        [PROGRAM, *map(str, command)],
        env=os.environ | {"ANTHROPIC_BASE_URL": server, "ANTHROPIC_API_KEY": "none is needed"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def requests(log: Path) -> int:
    """How many requests have reached a server."""
    return len(log.read_text().splitlines()) if log.exists() else 0


def named(folder: Path, name: str) -> list[Path]:
    """The files of a name below a folder, while others come and go beside them."""
    return [Path(at, name) for at, _, names in os.walk(folder) if name in names]


def files(folder: Path) -> dict[Path, bytes]:
    """Every file below a folder, and what is in it."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
