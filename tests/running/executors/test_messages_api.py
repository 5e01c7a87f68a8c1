"""The tool loop of the Messages API: its runs, its tools, and how it offers a skill."""

import asyncio
import json
from datetime import datetime
from types import SimpleNamespace

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.grading.sandbox import available
from skill_eval_nb.grading.sandbox import process as availability
from skill_eval_nb.models import Tally, Usage
from skill_eval_nb.running.executors.messages_api import MessagesApi
from skill_eval_nb.running.executors.toolbox import fault, tools
from skill_eval_nb.running.protocol import Limits
from tests.bubblewrap import needed
from tests.grading.sandbox.made import marker, running
from tests.running.executors.made_tasks import skill
from tests.running.executors.scripted_model import (
    DONE,
    SECRETS,
    Scripted,
    a_skill,
    a_task,
    bash,
    says,
    uses,
)
from tests.stand_in import Fault, RiggedStandIn

pytestmark = needed


def worked(task, executor=None, meter=None):
    return asyncio.run((executor or MessagesApi()).execute(task, meter or Tally()))


def test_a_run_from_its_task_to_its_outputs(tmp_path):
    steps = (bash("echo good > answer.md; ls"), bash("exit 3"), bash("true"))
    model, meter = Scripted(*steps, says("It is in answer.md.")), Tally()
    task = a_task(tmp_path, model, limits=Limits(output_tokens=77), key="opaque")
    execution = worked(task, MessagesApi(effort="low", thinking=True), meter)
    assert (execution.status, execution.reason, execution.skill_used) == ("done", None, None)
    assert execution.final_text == "It is in answer.md."
    files = {path.name: path.read_text() for path in (tmp_path / "work").iterdir()}
    assert files == {"answer.md": "good\n"}
    assert model.results[0] == {"text": "answer.md", "is_error": False}
    assert [one["is_error"] for one in model.results] == [False, True, False]
    assert execution.usage == Usage(40, 20, calls=4) == meter.usage
    assert execution.cost_usd == 0.0

    events = execution.events
    kinds = ["system", *["assistant", "user"] * 3, "assistant", "result"]
    assert [event["type"] for event in events] == kinds
    assert (events[0]["subtype"], events[-1]["subtype"]) == ("init", "success")
    assert events[3]["message"]["content"][0]["input"] == {"command": "exit 3"}
    result = events[4]["message"]["content"][0]
    assert (result["type"], result["tool_use_id"]) == ("tool_result", "toolu_0")
    assert (events[-1]["num_turns"], events[-1]["is_error"]) == (4, False)
    times = [datetime.fromisoformat(event["timestamp"]) for event in events]
    assert times == sorted(times)
    assert all(time.tzinfo for time in times)
    assert json.loads(json.dumps(events)) == list(events)  # plain JSON
    assert "cache_control" not in json.dumps(events)

    for request in model.requests:
        assert (request["model"], request["max_tokens"]) == ("stand-in", 77)
        assert request["metadata"] == {"user_id": "opaque"}
        assert request["output_config"] == {"effort": "low"}
        assert request["thinking"] == {"type": "adaptive"}
        assert not {"temperature", "top_p", "top_k", "stream"} & set(request)
        assert json.dumps(request).count("cache_control") <= 4
    first, last = model.requests[0], model.requests[-1]
    assert first["messages"][0]["content"][0]["text"] == task.prompt
    assert (last["tools"], last["system"]) == (first["tools"], first["system"])
    # the prefix that is cached grows: a mark stands where the request before had its last
    marks = [
        [n for n, one in enumerate(request["messages"]) if "cache_control" in json.dumps(one)]
        for request in model.requests
    ]
    assert marks == [[0], [0, 2], [2, 4], [4, 6]]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (says("I will not do that.", "refusal"), "refused (stop_reason refusal): I will not do"),
        (says("", "refusal"), "refused (stop_reason refusal), and said nothing"),
        (says("It is", "max_tokens"), "Limits(output_tokens"),
        (says("", "model_context_window_exceeded"), "no longer fits the model's context"),
        (says("", "tool_use"), "named none"),
        (says("", "something_new"), "'something_new'"),
    ],
)
def test_what_cannot_be_graded_is_errored_with_the_reason(tmp_path, answer, said):
    execution = worked(a_task(tmp_path, Scripted(answer)))
    assert execution.status == "errored"
    assert said in str(execution.reason)
    assert execution.usage.calls == 1  # what it cost is known all the same
    assert execution.events[-1]["is_error"] is True
    assert execution.events[-1]["result"] == execution.reason


def test_the_limit_of_seconds_holds_for_commands_and_for_the_model(tmp_path):
    mark = marker()
    models = (Scripted(bash(f"sleep {mark}"), DONE), RiggedStandIn(faults=(Fault("silence"),)))
    for number, model in enumerate(models):
        execution = worked(a_task(tmp_path / str(number), model, limits=Limits(seconds=1.0)))
        assert execution.status == "errored"
        assert "1 s" in str(execution.reason)
    assert not running(mark)


def test_without_a_sandbox_only_where_that_is_spelled_out(tmp_path, monkeypatch):
    available.cache_clear()
    monkeypatch.setattr(availability, "shutil", SimpleNamespace(which=lambda _: None))
    try:
        executor, model = MessagesApi(), Scripted(bash("touch ran"), DONE)
        assert "bubblewrap" in str(executor.why_not("bubblewrap"))
        assert executor.why_not("none") is None
        execution = worked(a_task(tmp_path, model))
        assert execution.status == "errored"
        assert "bubblewrap" in str(execution.reason)
        assert not model.requests
        assert worked(a_task(tmp_path, model, sandbox="none")).status == "done"
        assert (tmp_path / "work" / "ran").exists()
    finally:
        available.cache_clear()


def test_cancelled_it_leaves_no_process_behind(tmp_path):
    mark = marker()
    task = a_task(tmp_path, Scripted(bash(f"sleep {mark} & sleep {mark}")))

    async def cancelled() -> None:
        running_task = asyncio.create_task(MessagesApi().execute(task, Tally()))
        while not running(mark):  # noqa: ASYNC110 (another process is waited for)
            await asyncio.sleep(0.02)
        running_task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running_task
        assert not running(mark)

    asyncio.run(cancelled())


# ── skills ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("step", "opened"),
    [
        (uses(("Skill", {"skill": f"/{SECRETS['name']}"})), True),
        (uses(("Skill", {"skill": "another"})), False),
        (uses(("Skill", {"name": SECRETS["name"]})), False),
        (bash("cat /skills/*/SKILL.md"), True),
        (bash("cd /skills/*; cat -A SKILL.md | sed 's/[$]$//; s/^/> /'"), True),
        (uses(("Read", {"file_path": f"/skills/{SECRETS['name']}/SKILL.md"})), True),
        (bash("head -4 /skills/*/SKILL.md"), False),  # the front matter alone
        (bash("ls -R /skills; wc /skills/*/*"), False),
        (bash("cat /skills/*/references/more.md"), False),
        (bash("cat /skills/*/SKILL.md > copy"), False),
        (DONE, False),
    ],
)
def test_whether_it_was_opened_is_told_by_what_the_agent_was_shown(tmp_path, step, opened):
    execution = worked(a_task(tmp_path, Scripted(step, DONE), skill=a_skill(tmp_path)))
    assert (execution.status, execution.skill_used) == ("done", opened)


def test_a_skill_file_that_is_a_link_is_not_followed(tmp_path):
    skill = a_skill(tmp_path)
    (skill.folder / "SKILL.md").unlink()
    (skill.folder / "SKILL.md").symlink_to("/etc/passwd")
    execution = worked(a_task(tmp_path, Scripted(DONE), skill=skill, sandbox="none"))
    assert execution.status == "errored"


def test_all_skills_are_listed_by_name_and_each_can_be_opened(tmp_path):
    offered = a_skill(tmp_path)
    others = [
        skill(tmp_path / name, name, f"Does {name}", f"This is how the work of {name} is done.\n")
        for name in ("zither", "abacus")
    ]
    steps = uses(("Skill", {"skill": "abacus"})), bash("cat /skills/zither/SKILL.md")
    model = Scripted(*steps, DONE)
    execution = worked(a_task(tmp_path, model, skill=offered, others=tuple(others)))
    text = model.requests[0]["tools"][-1]["description"]
    listed = [line.split(":")[0] for line in text.split("Skills:\n")[1].splitlines()]
    assert listed == ["- abacus", f"- {offered.name}", "- zither"]
    for name, result in zip(("abacus", "zither"), model.results, strict=True):
        assert f"the work of {name}" in result["text"]
    assert execution.skill_used is False  # it was others that were opened
    assert execution.events[0]["skills"] == ["abacus", offered.name, "zither"]


@pytest.mark.parametrize(("enough", "requests"), [(True, 2), (False, 4)])
def test_a_run_ends_once_the_skill_was_opened_where_that_is_enough(tmp_path, enough, requests):
    skill = a_skill(tmp_path)
    steps = (bash("ls"), uses(("Skill", {"skill": skill.name})), bash("touch after"), DONE)
    model = Scripted(*steps)
    task = a_task(tmp_path, model, skill=skill, until_opened=enough)
    execution = worked(task)
    assert (execution.status, execution.skill_used) == ("done", True)
    assert len(model.requests) == requests
    assert (task.folder / "after").exists() is not enough


# ── tools ──────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def work(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def use(tmp_path, work):
    """Let a model use tools in one run, and give their results."""

    def used(*calls, executor=None, **changed):
        model = Scripted(*[uses(call) for call in calls], DONE)
        execution = worked(a_task(tmp_path, model, **changed), executor)
        assert execution.status == "done", execution.reason
        return model.results

    return used


def command(text):
    return "Bash", {"command": text}


def read(path, **more):
    return "Read", {"file_path": path, **more}


def write(path, content):
    return "Write", {"file_path": path, "content": content}


def edit(path, old, new, **more):
    return "Edit", {"file_path": path, "old_string": old, "new_string": new, **more}


@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
def test_files_are_written_read_and_edited(use, work, sandbox):
    results = use(
        write("a/b.txt", "one\ntwö\n😀 three"),
        read("a/b.txt"),
        edit("a/b.txt", "twö", "2"),
        command("cat a/b.txt"),
        write("f", "aa bb aa"),
        edit("f", "aa", "c", replace_all=True),
        sandbox=sandbox,
    )
    assert not any(result["is_error"] for result in results)
    assert results[1]["text"] == "     1\tone\n     2\ttwö\n     3\t😀 three"
    assert results[3]["text"] == (work / "a" / "b.txt").read_text() == "one\n2\n😀 three"
    assert results[5]["text"] == "Replaced 2 in f."
    assert (work / "f").read_text() == "c bb c"


def test_what_is_refused_changes_nothing_and_is_told(use, work):
    (work / "f").write_text("aa bb aa")
    refused = {
        "occurs 2 times": edit("f", "aa", "c"),
        "does not occur": edit("f", "dd", "c"),
        "old_string": edit("f", "", "c"),
        "the same": edit("f", "bb", "bb"),
        "none": edit("none", "a", "b"),
        "not used: `command` is missing; there is no `cmd`": ("Bash", {"cmd": "touch ran"}),
        "of type array, not string": ("Bash", {"command": ["touch", "ran"]}),
        "`offset` is 0, below 1": read("x", offset=0),
        "There is no tool 'Browse'. There are Bash, Read, Write, Edit, Skill.": ("Browse", {}),
        "There is no skill 'any': no skills are installed.": ("Skill", {"skill": "any"}),
        "surrogate": command("echo \ud800"),
        "a character NUL": command("echo a\0b"),
        "null byte": write("a\0b", ""),
    }
    results = use(*refused.values())
    for words, result in zip(refused, results, strict=True):
        assert result["is_error"]
        assert words in result["text"]
    assert [path.name for path in work.iterdir()] == ["f"]
    assert (work / "f").read_text() == "aa bb aa"


VALUES = st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text())
SCHEMAS = {tool["name"]: tool["input_schema"] for tool in tools((), 60)}


@given(st.sampled_from(sorted(SCHEMAS)), st.data())
def test_faults_of_arguments_are_those_that_json_schema_finds(name, data):
    known = st.sampled_from([*SCHEMAS[name]["properties"], "other"])
    arguments = data.draw(st.dictionaries(known, VALUES) | VALUES)
    fine = jsonschema.Draft202012Validator(SCHEMAS[name]).is_valid(arguments)
    assert (fault(SCHEMAS[name], arguments) is None) == fine


# ── an agent that tries what it must not (more of it: tests/running/test_hostile.py) ───────────

SECRET = "canary-of-the-host-66"


def test_a_link_leads_nowhere_outside(use, work, tmp_path):
    """Neither one that the agent makes, nor one that the working folder brings along."""
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET)
    calls = [read(str(secret)), read("/etc/shadow"), read("../secret.txt")]
    links = {"file": (secret, ""), "folder": (tmp_path, "/secret.txt"), "it": ("/etc/shadow", "")}
    for name, (target, below) in links.items():
        (work / f"brought-{name}").symlink_to(target)
        calls += [read(f"brought-{name}{below}"), read(f"made-{name}{below}")]
        calls += [edit(f"made-{name}{below}", SECRET, "changed")]
        calls += [write(f"made-{name}{below}", "changed"), command(f"cat made-{name}{below}")]
    made = "; ".join(f"ln -s {target} made-{name}" for name, (target, _) in links.items())
    first, *results = use(command(made), *calls)
    assert not first["is_error"]
    assert all(result["is_error"] for result in results)
    assert not any(words in result["text"] for result in results for words in (SECRET, "root:"))
    assert secret.read_text() == SECRET
