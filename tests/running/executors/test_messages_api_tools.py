"""The tools: what they do, what they refuse, and that nothing is cut in silence."""

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skill_eval_nb.grading.sandbox import BoxLimits
from skill_eval_nb.models import Tally
from skill_eval_nb.running.executors import inside
from skill_eval_nb.running.executors.messages_api import MessagesApi
from skill_eval_nb.running.executors.toolbox import capped, fault, tools
from tests.bubblewrap import needed
from tests.running.executors.scripted_model import DONE, Scripted, a_skill, a_task, uses

SECRET = "canary-of-the-host-66"


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
        task = a_task(tmp_path, model, **changed)
        execution = asyncio.run((executor or MessagesApi()).execute(task, Tally()))
        assert execution.status == "done", execution.reason
        return model.results

    return used


def read(path, **more):
    return "Read", {"file_path": path, **more}


def edit(path, old, new, **more):
    return "Edit", {"file_path": path, "old_string": old, "new_string": new, **more}


@needed
@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
def test_files_are_written_read_and_edited(use, work, sandbox):
    results = use(
        ("Write", {"file_path": "a/b.txt", "content": "one\ntwö\n😀 three"}),
        read("a/b.txt"),
        edit("a/b.txt", "twö", "2"),
        ("Bash", {"command": "cat a/b.txt"}),
        sandbox=sandbox,
    )
    assert [result["is_error"] for result in results] == [False] * 4
    assert results[1]["text"] == "     1\tone\n     2\ttwö\n     3\t😀 three"
    assert results[3]["text"] == "one\n2\n😀 three"
    assert (work / "a" / "b.txt").read_text() == "one\n2\n😀 three"


@needed
def test_edits_that_are_refused_change_nothing(use, work):
    (work / "f").write_text("aa bb aa")
    results = use(
        edit("f", "aa", "c"),
        edit("f", "dd", "c"),
        edit("f", "", "c"),
        edit("f", "bb", "bb"),
        edit("none", "a", "b"),
    )
    assert all(result["is_error"] for result in results)
    assert "occurs 2 times" in results[0]["text"]
    assert (work / "f").read_text() == "aa bb aa"
    (result,) = use(edit("f", "aa", "c", replace_all=True))
    assert result == {"text": "Replaced 2 in f.", "is_error": False}
    assert (work / "f").read_text() == "c bb c"


@needed
def test_bad_arguments_and_unknown_tools_are_told(use, work):
    results = use(
        ("Bash", {"cmd": "touch ran"}),
        ("Bash", {"command": ["touch", "ran"]}),
        ("Read", {"file_path": "x", "offset": 0}),
        ("Browse", {"url": "http://example.org"}),
        ("Skill", {"skill": "any"}),
        ("Bash", {"command": "echo \ud800"}),
        ("Bash", {"command": "echo a\0b"}),
        ("Write", {"file_path": "a\0b", "content": ""}),
    )
    assert all(result["is_error"] for result in results)
    texts = [result["text"] for result in results]
    assert texts[0].startswith("The tool was not used: `command` is missing; there is no `cmd`")
    assert "of type array, not string" in texts[1]
    assert "`offset` is 0, below 1" in texts[2]
    assert texts[3] == "There is no tool 'Browse'. There are Bash, Read, Write, Edit, Skill."
    assert texts[4] == "There is no skill 'any': no skills are installed."
    assert "surrogate" in texts[5]
    assert not list(work.iterdir())


@given(st.text(), st.integers(min_value=100, max_value=300))
def test_capping_keeps_the_number_and_tells_what_it_left_out(text, most):
    text = text * 20
    shown = capped(text, most)
    assert len(shown) <= most
    if len(text) <= most:
        assert shown == text
    else:
        told = int(shown.partition("[… ")[2].partition(" of ")[0].replace(",", ""))
        head, _, rest = shown.partition("\n[… ")
        tail = rest.partition(" here …]\n")[2]
        if "[…" not in text:
            assert text.startswith(head)
            assert text.endswith(tail)
            assert len(head) + len(tail) + told == len(text)


VALUES = st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text())
SCHEMAS = {tool["name"]: tool["input_schema"] for tool in tools((), 60)}


@given(st.sampled_from(sorted(SCHEMAS)), st.data())
def test_faults_of_arguments_are_those_that_json_schema_finds(name, data):
    import jsonschema

    known = st.sampled_from([*SCHEMAS[name]["properties"], "other"])
    arguments = data.draw(st.dictionaries(known, VALUES) | VALUES)
    fine = jsonschema.Draft202012Validator(SCHEMAS[name]).is_valid(arguments)
    assert (fault(SCHEMAS[name], arguments) is None) == fine


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(content=st.text(), old=st.text(min_size=1), new=st.text())
def test_an_edit_is_what_replacing_text_is(tmp_path_factory, content, old, new):
    path = tmp_path_factory.mktemp("edit") / "f"
    inside.write(str(path), content)
    try:
        inside.edit(str(path), old, new, replace_all=True)
    except inside.ToolRefused:
        assert old not in content or old == new
    else:
        assert path.read_bytes().decode() == content.replace(old, new)


# ── an agent that tries what it must not ─────────────────────────────────────────────────────


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret.txt"
    path.write_text(SECRET)
    return path


@needed
@pytest.mark.parametrize("leads_to", ["file", "folder", "shadow"])
def test_a_link_leads_nowhere_outside(use, work, tmp_path, secret, leads_to):
    """Neither one that the agent makes, nor one that the working folder brings along."""
    target = {"file": secret, "folder": tmp_path, "shadow": "/etc/shadow"}[leads_to]
    path = "link/secret.txt" if leads_to == "folder" else "link"
    (work / "brought").symlink_to(target)
    results = use(
        ("Bash", {"command": f"ln -s {target} link; ls -la"}),
        read(path),
        read(path.replace("link", "brought")),
        read(str(secret)),
        read("/etc/shadow"),
        read("../secret.txt"),
        edit(path, SECRET, "changed"),
        ("Write", {"file_path": path, "content": "changed"}),
        ("Bash", {"command": f"cat {path}"}),
    )
    shown = "\n".join(result["text"] for result in results[1:])
    assert SECRET not in shown
    assert "root:" not in shown
    assert all(result["is_error"] for result in results[1:])
    assert secret.read_text() == SECRET


@needed
def test_a_skill_is_not_changed(use, tmp_path):
    skill = a_skill(tmp_path)
    before = (skill.folder / "SKILL.md").read_bytes()
    path = f"/skills/{skill.name}/SKILL.md"
    results = use(
        ("Write", {"file_path": path, "content": "changed"}),
        edit(path, "How", "Why"),
        ("Bash", {"command": f"rm -rf /skills/*; echo x >> {path}"}),
        skill=skill,
    )
    assert all(result["is_error"] for result in results)
    assert (skill.folder / "SKILL.md").read_bytes() == before


@needed
def test_no_key_is_found(use, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    (result,) = use(("Bash", {"command": "env; cat /proc/*/environ | tr '\\0' '\\n'"}))
    assert "PATH=" in result["text"]
    assert SECRET not in result["text"]
    assert "ANTHROPIC" not in result["text"]


@needed
def test_limits_of_commands_are_told_to_the_agent_and_the_run_goes_on(use):
    soon = MessagesApi(command=BoxLimits(seconds=1.0))
    late = MessagesApi(command=BoxLimits(processes=20, disk_bytes=8 << 20, file_bytes=4 << 20))
    [slept] = use(("Bash", {"command": "sleep 60"}), executor=soon)
    forked, filled, grown = use(
        ("Bash", {"command": "python3 -c 'import os\nwhile True: os.fork()'"}),
        ("Bash", {"command": "cat /dev/zero > big"}),
        ("Bash", {"command": "for n in 1 2 3 4; do head -c 4M /dev/zero > f$n; done; sleep 60"}),
        executor=late,
    )
    assert "it took longer than 1 s" in slept["text"]
    assert "more than 20 processes" in forked["text"]
    assert "a file would have passed 4 MiB" in filled["text"]
    assert "its folder grew by more than" in grown["text"]
    assert all(result["is_error"] for result in (slept, forked, filled, grown))


@needed
def test_the_disk_is_bounded_for_the_run_as_a_whole(use):
    limits = BoxLimits(seconds=20, disk_bytes=8 << 20)
    fill = [("Bash", {"command": f"head -c 3M /dev/zero > f{n}; sleep 0.4"}) for n in range(4)]
    after = ("Bash", {"command": "rm f*; head -c 3M /dev/zero > again"})
    results = use(*fill, after, executor=MessagesApi(command=limits))
    assert [result["is_error"] for result in results] == [False, False, True, True, False]


@needed
def test_a_fifo_in_place_of_a_file_does_not_hold_the_run(use):
    limits = BoxLimits(seconds=2)
    results = use(
        ("Bash", {"command": "mkfifo p"}),
        ("Write", {"file_path": "p", "content": "x"}),
        executor=MessagesApi(command=limits),
    )
    assert results[1]["is_error"]
    assert "longer than 2 s" in results[1]["text"]
