"""The real router: the skill is found exactly where the model chose it, and nobody is at home."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from skill_eval_nb.models import Connection
from skill_eval_nb.models.stand_in.agent import best_skill
from skill_eval_nb.running import Limits
from skill_eval_nb.running.executors.claude_code import ClaudeCode
from skill_eval_nb.running.executors.harness import session_id
from skill_eval_nb.triggers import Query
from skill_eval_nb.triggers.attempt import mark
from tests.running.executors.claude_code.scripted import Conversation, say, use
from tests.running.needs_harness import needs_harness
from tests.stand_in import RiggedStandIn
from tests.triggers.made import FLY, lines, make_skill, measured

OLD = 1_000_000_000
"""A time of last access long ago: also where access is noted but once a day, a look is noted."""
CANARY = "canary-of-the-planted-home"


@dataclass(frozen=True)
class Home:
    """A planted home."""

    folder: Path
    before: dict[Path, tuple[bytes, int]]

    def changed(self) -> list[str]:
        """What was read, written, made or taken away since it was planted.

        It is to be asked once: it reads everything itself.
        """
        now = _state(self.folder)
        return [
            str(path) for path in {**self.before, **now} if self.before.get(path) != now.get(path)
        ]


@contextmanager
def planted(folder: Path) -> Iterator[Home]:
    """A home with an installed skill `kites` of the same name, settings and memories."""
    files = {
        ".claude/skills/kites/SKILL.md": f"---\nname: kites\ndescription: {CANARY}\n---\nNo.\n",
        ".claude/commands/kites.md": f"{CANARY}\n",
        ".claude/settings.json": '{"model": "no-such-model"}\n',
        ".claude/CLAUDE.md": f"Never open a skill. {CANARY}\n",
        ".claude/.credentials.json": "{}\n",
        ".claude.json": "{}\n",
        ".config/claude/settings.json": "{}\n",
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    before = _state(folder)
    for path in [*folder.rglob("*"), folder]:
        os.utime(path, (OLD, path.stat().st_mtime))
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("HOME", str(folder))
        patched.setenv("CLAUDE_CONFIG_DIR", str(folder / ".claude"))
        yield Home(folder, {path: (data, OLD) for path, (data, _) in before.items()})


def _state(folder: Path) -> dict[Path, tuple[bytes, int]]:
    """By file: its contents and its time of last access, which is looked at first.

    Of folders only that they are there: whoever makes a place elsewhere may pass through them.
    """
    paths = [one for one in sorted(folder.rglob("*")) if one.is_file()]
    times = {path: int(path.stat().st_atime) for path in paths}
    return {path: (path.read_bytes(), times[path]) for path in paths}


pytestmark = pytest.mark.slow

OTHERS = {"boats": "Builds boats from wood and tar.", "songs": "Writes songs for a choir."}
KITES = "Builds kites from paper and string."
YES = [f"Build kites from paper, {what}" for what in ("one", "two", "red")]
YES += [f"A kite of string and paper for {who}" for who in "ab"]
NO = ("Build boats from wood", "Write songs for the choir", "Guess a number")
QUERIES = [Query(text, should_trigger=text in YES) for text in (*YES, *NO)]


@pytest.fixture(scope="module")
def measurement(tmp_path_factory):
    """What came of it, the stand-in's log by session, and the home that was planted meanwhile."""
    needs_harness()
    root = tmp_path_factory.mktemp("harness")
    make_skill(root / "kites", description=KITES)
    for name, description in OTHERS.items():
        make_skill(root / "others" / name, description=description)
    stand_in = RiggedStandIn(seed=1, opens=0.6, log=str(root / "log"))
    with planted(root / "home") as home:
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
    for line in lines(root / "log"):
        log.setdefault(line["session"], []).append(line)
    return found, log, home


def test_the_skill_is_found_exactly_where_the_stand_in_chose_it(measurement):
    found, log, home = measurement
    listed = "".join(f"- {name}: {text}\n" for name, text in {**OTHERS, "kites": KITES}.items())
    chosen = []
    for one in found.attempts:
        assert one.outcome in ("triggered", "not triggered"), one.reason
        key = mark([found.folder.name, one.key])
        answers = [json.dumps(line["answer"]) for line in log[session_id(key)]]
        opened = any('"name": "Skill", "input": {"skill": "kites"}' in text for text in answers)
        assert (one.outcome == "triggered") is opened, (one, answers)
        assert set(one.opened) <= {best_skill(one.query.query, listed)}
        chosen.append(opened)
    assert len(chosen) == len(QUERIES)
    assert 0 < sum(chosen) < 5, "some runs of queries that fit leave it closed"
    assert home.changed() == [], "the user's home is neither read nor written"


def test_each_run_is_told_of_the_skills_that_are_stated_and_no_other(measurement):
    _, log, _ = measurement
    assert len(log) == len(QUERIES)
    for session in log.values():
        body = json.dumps(session[0]["body"])
        listed = body.partition("available for use with the Skill tool:")[2].partition('"}')[0]
        assert sorted(re.findall(r"- ([a-z-]+): ", listed)) == ["boats", "kites", "songs"]


def test_what_an_agent_reads_of_a_home_is_not_the_user_s(tmp_path):
    steps = [use("Bash", command="cat ~/.claude/skills/kites/SKILL.md; ls -a ~"), say("Done.")]
    with planted(tmp_path / "home") as home, Conversation(*steps) as server:
        needs_harness()
        found = measured(
            tmp_path,
            FLY,
            runs=1,
            executor=ClaudeCode(),
            model="stand-in",
            folder=tmp_path / "out",
            connection=Connection(server.base_url),
        )
    [one] = found.attempts
    assert one.outcome == "triggered", one  # it has read the body of the one that was staged
    assert CANARY not in str(server.seen)
    assert "Builds kites." in str(server.seen)
    assert home.changed() == []
    (home.folder / "new").write_text("x")
    assert str(home.folder / "new") in home.changed(), "a change would show"
