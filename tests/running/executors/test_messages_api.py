"""The tool loop of the Messages API: its runs, its tools, and how it offers a skill."""

import json
from datetime import datetime
from types import SimpleNamespace

import pytest

from skill_eval_nb.grading import sandbox as availability
from skill_eval_nb.grading.sandbox import available
from skill_eval_nb.models import Connection, Usage
from skill_eval_nb.running.executors.messages_api import MessagesApi
from skill_eval_nb.running.protocol import Limits
from tests.bubblewrap import needed
from tests.corpus.build import lay
from tests.golden import hold, lines_of
from tests.grading.made import marker, running
from tests.running.agents import NAME, Conversation, execute, say, skill, task, use

pytestmark = needed
DONE = say("Done.")


def worked(root, *steps, executor=None, **given):
    """What came of a run whose model does these steps, and what the model was asked."""
    with Conversation(*steps) as server:
        one = task(root, Connection(server.base_url), **{"model": "stand-in", **given})
        return execute(executor or MessagesApi(), one), server.bodies


def results(bodies):
    """Of each tool that was used: whether that failed, and its text."""
    said = [one["content"] for one in bodies[-1]["messages"] if one["role"] == "user"]
    blocks = [block for content in said for block in content if block["type"] == "tool_result"]
    return [(block["is_error"], block["content"][0]["text"]) for block in blocks]


def bash(command):
    return use("Bash", command=command)


def test_a_run_from_its_task_to_its_outputs(tmp_path):
    steps = (bash("echo good > answer.md; ls"), bash("exit 3"), bash("true"))
    execution, bodies = worked(
        tmp_path,
        *(*steps, say("It is in answer.md.")),
        executor=MessagesApi(effort="low", thinking=True),
        limits=Limits(output_tokens=77),
        key="opaque",
    )
    assert (execution.status, execution.reason, execution.skill_used) == ("done", None, None)
    assert execution.events[-1]["result"] == "It is in answer.md."
    files = {path.name: path.read_text() for path in (tmp_path / "work").iterdir()}
    assert files == {"answer.md": "good\n"}
    assert execution.usage == Usage(400, 80, calls=4)
    events = json.loads(json.dumps(execution.events))
    assert events == list(execution.events)  # plain JSON
    times = [datetime.fromisoformat(event.pop("timestamp")) for event in events]
    assert times == sorted(times)
    assert all(time.tzinfo for time in times)
    events[-1].pop("duration_ms", None)
    hold("loop", [*lines_of(bodies, "requests"), *lines_of(events, "events")])
    # the prefix that is cached grows: a mark stands where the request before had its last
    marks = [
        [n for n, one in enumerate(request["messages"]) if "cache_control" in json.dumps(one)]
        for request in bodies
    ]
    assert marks == [[0], [0, 2], [2, 4], [4, 6]]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (say("I will not do that.", "refusal"), "stop_reason refusal. I will not do"),
        (say("It is", "max_tokens"), "Limits(output_tokens"),
        (say("", "tool_use"), "stop_reason tool_use."),
        (say("", "something_new"), "stop_reason something_new."),
    ],
)
def test_what_cannot_be_graded_is_errored_with_the_reason(tmp_path, answer, said):
    execution, _ = worked(tmp_path, answer)
    assert execution.status == "errored"
    assert said in str(execution.reason)
    assert execution.usage.calls == 1  # what it cost is known all the same
    assert execution.events[-1]["is_error"] is True
    assert execution.events[-1]["result"] == execution.reason


def test_the_limit_of_seconds_holds_for_commands(tmp_path):
    mark = marker()
    execution, _ = worked(tmp_path, bash(f"sleep {mark}"), DONE, limits=Limits(seconds=1.0))
    assert execution.status == "errored"
    assert "1 s" in str(execution.reason)
    assert not running(mark)


def test_without_a_sandbox_only_where_that_is_spelled_out(tmp_path, monkeypatch):
    available.cache_clear()
    monkeypatch.setattr(availability, "shutil", SimpleNamespace(which=lambda _: None))
    try:
        assert "bubblewrap" in str(MessagesApi().why_not("bubblewrap"))
        assert MessagesApi().why_not("none") is None
        execution, bodies = worked(tmp_path, bash("touch ran"), DONE)
        assert (execution.status, bodies) == ("errored", [])
        assert "bubblewrap" in str(execution.reason)
        assert worked(tmp_path, bash("touch ran"), DONE, sandbox="none")[0].status == "done"
        assert (tmp_path / "work" / "ran").exists()
    finally:
        available.cache_clear()


# ── skills ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("step", "opened"),
    [
        (use("Skill", skill=f"/{NAME}"), True),
        (use("Skill", skill="another"), False),
        (use("Skill", name=NAME), False),
        (bash("cat /skills/*/SKILL.md"), True),
        (bash("cd /skills/*; cat -A SKILL.md | sed 's/[$]$//; s/^/> /'"), True),
        (use("Read", file_path=f"/skills/{NAME}/SKILL.md"), True),
        (bash("head -4 /skills/*/SKILL.md"), False),  # the front matter alone
        (bash("ls -R /skills; wc /skills/*/*"), False),
        (bash("cat /skills/*/more.md; cat /skills/*/SKILL.md > copy"), False),
    ],
)
def test_whether_it_was_opened_is_told_by_what_the_agent_was_shown(tmp_path, step, opened):
    offered = skill(tmp_path, **{"more.md": "More."})
    execution, _ = worked(tmp_path, step, DONE, skill=offered)
    assert (execution.status, execution.skill_used) == ("done", opened)


def test_a_skill_file_that_is_a_link_is_not_followed(tmp_path):
    offered = skill(tmp_path)
    (offered.folder / "SKILL.md").unlink()
    (offered.folder / "SKILL.md").symlink_to("/etc/passwd")
    assert worked(tmp_path, DONE, skill=offered, sandbox="none")[0].status == "errored"


# ── tools ────────────────────────────────────────────────────────────────────────────────────────


def used(root, *calls, **changed):
    """What came of each use of a tool in one run."""
    execution, bodies = worked(root, *calls, DONE, **changed)
    assert execution.status == "done", execution.reason
    return results(bodies)


def read(path, **more):
    return use("Read", file_path=path, **more)


def write(path, content):
    return use("Write", file_path=path, content=content)


def edit(path, old, new, **more):
    return use("Edit", file_path=path, old_string=old, new_string=new, **more)


@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
def test_files_are_written_read_and_edited(tmp_path, sandbox):
    work = tmp_path / "work"
    calls = [write("a/b.txt", "one\ntwö\n😀 three"), read("a/b.txt"), edit("a/b.txt", "twö", "2")]
    calls += [bash("cat a/b.txt"), write("f", "aa bb aa")]
    calls += [edit("f", "aa", "c", replace_all=True)]
    done = used(tmp_path, *calls, sandbox=sandbox)
    assert not any(failed for failed, _ in done)
    assert done[1][1] == "     1\tone\n     2\ttwö\n     3\t😀 three"
    assert done[3][1] == (work / "a" / "b.txt").read_text() == "one\n2\n😀 three"
    assert done[5][1] == "Replaced 2 in f."
    assert (work / "f").read_text() == "c bb c"


def test_what_is_refused_changes_nothing_and_is_told(tmp_path):
    work = lay(tmp_path / "work", {"f": "aa bb aa"})
    refused = {
        "occurs 2 times": edit("f", "aa", "c"),
        "does not occur": edit("f", "dd", "c"),
        "old_string": edit("f", "", "c"),
        "the same": edit("f", "bb", "bb"),
        "none": edit("none", "a", "b"),
        "not used: Object contains unknown field `cmd`": use("Bash", cmd="touch ran"),
        "not used: Object missing required field `command`": use("Bash"),
        "Expected `str`, got `array` - at `$.command`": use("Bash", command=["touch", "ran"]),
        "Expected `int` >= 1 - at `$.offset`": read("x", offset=0),
        "There is no tool 'Browse'. There are Bash, Read, Write, Edit, Skill.": use("Browse"),
        "There is no skill 'any'. Skills: none.": use("Skill", skill="any"),
        "surrogate": bash("echo \ud800"),
        "a character NUL": bash("echo a\0b"),
        "null byte": write("a\0b", ""),
    }
    for words, (failed, text) in zip(refused, used(tmp_path, *refused.values()), strict=True):
        assert failed
        assert words in text
    assert [path.name for path in work.iterdir()] == ["f"]
    assert (work / "f").read_text() == "aa bb aa"


# ── an agent that tries what it must not (more of it: tests/running/test_hostile.py) ─────────────


def test_a_link_leads_nowhere_outside(tmp_path):
    """Neither one that the agent makes, nor one that the working folder brings along."""
    work = lay(tmp_path / "work", {})
    secret = lay(tmp_path, {"secret.txt": "canary-of-the-host"}) / "secret.txt"
    calls = [read(str(secret)), read("/etc/shadow"), read("../secret.txt")]
    links = {"file": (secret, ""), "folder": (tmp_path, "/secret.txt"), "it": ("/etc/shadow", "")}
    for name, (target, below) in links.items():
        (work / f"brought-{name}").symlink_to(target)
        made = f"made-{name}{below}"
        calls += [read(f"brought-{name}{below}"), read(made), write(made, "changed")]
        calls += [edit(made, "canary", "changed"), bash(f"cat {made}")]
    make = "; ".join(f"ln -s {target} made-{name}" for name, (target, _) in links.items())
    (failed, _), *rest = used(tmp_path, bash(make), *calls)
    assert not failed
    assert all(failed for failed, _ in rest)
    assert not any(words in text for _, text in rest for words in ("canary", "root:"))
    assert secret.read_text() == "canary-of-the-host"
