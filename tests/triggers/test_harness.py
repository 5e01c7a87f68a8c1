"""The real router: the skill is found exactly where the model chose it, and nobody is at home."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from skill_eval_nb.models import Connection
from skill_eval_nb.models.stand_in.agent import best_skill
from skill_eval_nb.running import Limits
from skill_eval_nb.running.executors.harness import session_id
from skill_eval_nb.triggers import Query
from skill_eval_nb.triggers.attempt import short_hash
from tests.corpus.build import lay
from tests.running.agents import needs_harness
from tests.stand_in import RiggedStandIn, logged
from tests.triggers.made import make_skill, measured

OLD = 1_000_000_000
"""A time of last access long ago: also where access is noted but once a day, a look is noted."""
CANARY = "canary-of-the-planted-home"


@contextmanager
def planted(folder: Path) -> Iterator[Callable[[], list[str]]]:
    """A user's home with an installed skill `kites` of the same name, settings and memories.

    Gives what says which files were read, written, made or taken away since. It is to be asked
    once: it reads everything itself.
    """
    files = {
        ".claude/skills/kites/SKILL.md": f"---\nname: kites\ndescription: {CANARY}\n---\nNo.\n",
        ".claude/commands/kites.md": f"{CANARY}\n",
        ".claude/settings.json": '{"model": "no-such-model"}\n',
        ".claude/CLAUDE.md": f"Never open a skill. {CANARY}\n",
        **dict.fromkeys([".claude/.credentials.json", ".claude.json"], "{}\n"),
    }
    lay(folder, files)
    for path in [*folder.rglob("*"), folder]:
        os.utime(path, (OLD, path.stat().st_mtime))
    before = {str(folder / name): (text, OLD) for name, text in files.items()}

    def changed() -> list[str]:
        paths = [one for one in folder.rglob("*") if one.is_file()]
        times = {path: int(path.stat().st_atime) for path in paths}
        now = {str(path): (path.read_text(), time) for path, time in times.items()}
        return [path for path in before | now if before.get(path) != now.get(path)]

    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("HOME", str(folder))
        patched.setenv("CLAUDE_CONFIG_DIR", str(folder / ".claude"))
        yield changed


pytestmark = pytest.mark.slow

OTHERS = {"boats": "Builds boats from wood and tar.", "songs": "Writes songs for a choir."}
KITES = "Builds kites from paper and string."
YES = [f"Build kites from paper, {what}" for what in ("one", "two", "red")]
YES += [f"A kite of string and paper for {who}" for who in "ab"]
NO = ("Build boats from wood", "Write songs for the choir", "Guess a number")
QUERIES = [Query(text, should_trigger=text in YES) for text in (*YES, *NO)]


@pytest.fixture(scope="module")
def measurement(tmp_path_factory):
    """What came of it, the stand-in's log by session, and what of the planted home has changed."""
    needs_harness()
    root = tmp_path_factory.mktemp("harness")
    make_skill(root / "kites", description=KITES)
    for name, description in OTHERS.items():
        make_skill(root / "others" / name, description=description)
    stand_in = RiggedStandIn(seed=1, opens=0.6, log=str(root / "log"))
    with planted(root / "home") as changed:
        found = measured(
            root,
            *QUERIES,
            runs=1,
            executor="claude-code",
            others=[root / "others"],
            connection=Connection(stand_in=stand_in),
            limits=Limits(turns=1, seconds=120.0),
        )
    log = {}
    for line in logged(root / "log"):
        log.setdefault(line["session"], []).append(line)
    (root / "home" / "new").write_text("x")  # a change shows
    return found, log, [Path(path).name for path in changed()]


def test_the_skill_is_found_exactly_where_the_stand_in_chose_it(measurement):
    found, log, changed = measurement
    listed = "".join(f"- {name}: {text}\n" for name, text in {**OTHERS, "kites": KITES}.items())
    chosen = []
    for one in found.attempts:
        assert one.outcome in ("triggered", "not triggered"), one.reason
        key = short_hash([found.folder.name, one.key])
        answers = [json.dumps(line["answer"]) for line in log[session_id(key)]]
        opened = any('"name": "Skill", "input": {"skill": "kites"}' in text for text in answers)
        assert (one.outcome == "triggered") is opened, (one, answers)
        assert set(one.opened) <= {best_skill(one.query.query, listed)}
        chosen.append(opened)
    assert len(chosen) == len(QUERIES)
    assert 0 < sum(chosen) < 5, "some runs of queries that fit leave it closed"
    assert changed == ["new"], "the user's home is neither read nor written"


def test_each_run_is_told_of_the_skills_that_are_stated_and_no_other(measurement):
    _, log, _ = measurement
    assert len(log) == len(QUERIES)
    for session in log.values():
        body = json.dumps(session[0]["body"])
        assert CANARY not in body  # of the skill of the same name that the user has
        listed = body.partition("available for use with the Skill tool:")[2].partition('"}')[0]
        assert sorted(re.findall(r"- ([a-z-]+): ", listed)) == ["boats", "kites", "songs"]
