"""What an agent leaves: its outputs and how they come to their place, and its transcript."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import structs

from skill_eval_nb.models import Connection, Usage
from skill_eval_nb.running import Execution
from skill_eval_nb.running.files import (
    clear,
    collect,
    make_ready,
    put_in_place,
    remove,
    work_folders,
)
from skill_eval_nb.running.steps import as_markdown, timing_of
from skill_eval_nb.running.suite import find_inputs
from tests.corpus.build import lay
from tests.running.made_jobs import job_plan, make_skill, steps_of
from tests.stand_in import RiggedStandIn


@pytest.mark.parametrize("level", ["file", "folder", "above"])
def test_a_file_of_the_host_is_never_taken_for_an_input(tmp_path, level):
    """What else an agent may leave: tests/running/test_hostile.py."""
    skill = lay(tmp_path / "skill", {"files/deep/a.txt": "a"})
    host = lay(tmp_path / "host", {"deep/a.txt": "a"})  # the very same, so that it passes for it
    inputs, work = find_inputs(["files"], [skill]), tmp_path / "run" / "outputs"
    make_ready(tmp_path / "run", tmp_path / "scratch", inputs)
    place = {"file": "files/deep/a.txt", "folder": "files/deep", "above": "files"}[level]
    remove(work / place)
    (work / place).symlink_to(host / Path(place).relative_to("files"))
    found = collect(tmp_path / "run", inputs)
    assert (found.files, (tmp_path / "run" / "inputs").exists()) == ([], False)
    assert found.left_out == [f"{place}: a link that leads out of the folder"]
    remove(work)
    assert collect(tmp_path / "run", inputs).files == []
    assert (host / "deep" / "a.txt").read_text() == "a"


@pytest.mark.parametrize(("before", "kept"), [("errored", "new"), ("done", "old")])
@pytest.mark.parametrize("disk", [None, "/dev/shm"])
def test_an_errored_run_is_replaced_and_a_sound_one_is_not(tmp_path, before, kept, disk):
    """From the same disk, and from another."""
    if disk is not None and not Path(disk).is_dir():
        pytest.skip("left out: there is one disk only")
    with tempfile.TemporaryDirectory(dir=disk) as far:
        place, staging = tmp_path / "a" / "run-1", Path(far, "far", "k-1")
        for folder, status, text in ((place, before, "old"), (staging, "done", "new")):
            lay(folder, {"timing.json": {"status": status, "reason": "x"}, "text": text})
        put_in_place(staging, tmp_path, place)
        assert (place / "text").read_text() == kept
        assert list((tmp_path / ".staging").iterdir()) == list(staging.parent.iterdir()) == []


def make_deep(folder: Path) -> None:
    """A folder deeper than a path may be long."""
    folder.mkdir()
    with contextlib.chdir(folder):
        for _ in range(1100):
            Path("folder").mkdir()
            os.chdir("folder")


@pytest.mark.parametrize("make", [os.mkfifo, make_deep, lambda path: path.symlink_to("no")])
def test_whatever_lies_there_is_taken_away(tmp_path, make):
    make(tmp_path / "there")
    remove(tmp_path / "there")
    remove(tmp_path / "there")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="left out: only root can give a folder away")
def test_a_folder_that_another_user_has_made_is_not_used_nor_taken_away(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    staging, scratch = work_folders(tmp_path, "key", 1)
    staging.parent.mkdir()
    os.chown(staging.parent, 1234, 1234)
    with pytest.raises(PermissionError, match="another user's"):
        make_ready(staging, scratch, ())
    clear(tmp_path)
    assert staging.parent.is_dir()


def test_a_disk_that_is_full_is_told_from_a_run_that_failed(tmp_path, monkeypatch):
    """From another disk a run is copied, file by file."""
    staging = tmp_path / "made" / "k-1"
    lay(staging, {"timing.json": "{}", "outputs/a.txt": "a"})

    def fails(module, name, number, why):
        """For what is below this folder alone: other threads go on."""

        def failing(source, *more, **options):
            if Path(source).is_relative_to(tmp_path):
                raise OSError(number, why)
            return real(source, *more, **options)

        real = getattr(module, name)
        monkeypatch.setattr(module, name, failing)

    fails(shutil, "copy2", errno.ENOSPC, "No space left on device")
    fails(os, "rename", errno.EXDEV, "Invalid cross-device link")
    with pytest.raises(OSError, match="No space") as error:
        put_in_place(staging, tmp_path, tmp_path / "run-1")
    assert error.value.errno == errno.ENOSPC
    assert (staging / "outputs" / "a.txt").exists()


# ── which steps a run lacks ──────────────────────────────────────────────────────────────────────


def test_the_steps_follow_the_files(tmp_path):
    made, place = job_plan(tmp_path), tmp_path / "run"

    def lacks(judgings: int = 2, *, gate: bool = True) -> tuple[str, ...]:
        config = structs.replace(made.suite.config, structural_gate=gate)
        own = replace(made, judgings=judgings, suite=replace(made.suite, config=config))
        return steps_of(own.lacks(own.evals[0], place))

    lay(place, {"outputs/x.json": {}})  # without timing.json the run is not there
    every = ("execute", "check", "judge 1", "judge 2", "grade")
    assert lacks() == every
    for name, missing in {
        "timing.json": every[1:],
        "structural.json": every[2:],
        "judgings/2.json": ("judge 1", "grade"),
        "judgings/1.json": ("grade",),
        "grading.json": (),
    }.items():
        lay(place, {name: {}})
        assert lacks() == missing, name
    assert lacks(3) == ("judge 3", "grade")
    os.utime(place / "grading.json", ns=(10**18, 10**18))  # it is older than a judging
    assert lacks() == ("grade",)
    lay(place, {"structural.json": {"gate_passed": False}})
    (place / "grading.json").unlink()
    assert lacks() == ()
    assert lacks(gate=False) == ("grade",)


# ── who looks at which expectation ───────────────────────────────────────────────────────────────


def test_typed_expectations_go_to_the_checks_and_the_others_to_the_judge(tmp_path):
    typed = [
        {"description": f"{name} is created", "type": "file_exists"}
        for name in ("notes.md", "table.csv")
    ]
    typed.append({"description": "It says so", "type": "contains_text", "match": "a note"})
    spoken = [{"name": "good", "description": "The notes read well"}]
    spoken += [{"name": "apt", "description": "The notes are apt", "type": "custom"}]
    make_skill(tmp_path / "skill", [{"id": 1, "prompt": "Do", "assertions": [*typed, *spoken]}])
    model = Connection(stand_in=RiggedStandIn(log=str(tmp_path / "log")))
    plan = job_plan(tmp_path, connection=model, configurations=["with_skill"], sandbox="none")
    assert plan.start().wait(60).finished == 1
    checks, grading = (
        json.loads((plan.run_of(plan.cells[0]).place / name).read_bytes())["expectations"]
        for name in ("structural.json", "grading.json")
    )
    assert [one["passed"] for one in checks] == [True, False, True]
    assert [one["text"] for one in grading] == ["The notes read well", "The notes are apt"]
    (asked,) = (tmp_path / "log").read_text().splitlines()
    assert "The notes read well" in asked
    assert "table.csv is created" not in asked


# ── transcripts: whole for programs, readable for people ─────────────────────────────────────────


def said(id_, *content):
    return {"type": "assistant", "message": {"id": id_, "content": list(content)}}


def use(id_, name, **given):
    return {"type": "tool_use", "id": id_, "name": name, "input": given}


def result(id_, content):
    block = {"type": "tool_result", "tool_use_id": id_, "content": content}
    return {"type": "user", "message": {"content": [block]}}


def page(prompt, *events, reason=None, took=0.0, skill_used=None):
    status = "done" if reason is None else "errored"
    execution = Execution(status, reason, events, Usage(1, 2, 3, 4, 5), 0.25, skill_used)
    return as_markdown(prompt, execution, timing_of(execution, 0.0, took, "m-2", "messages-api"))


def test_it_opens_with_what_the_run_took():
    steps = {
        0: {"type": "system", "subtype": "init", "model": "m-1", "skills": ["plain"]},
        1.25: said("m1", use("t1", "Bash", command="ls")),
        2: result("t1", "a"),
        3: said("m2", use("t2", "Bash", command="ls"), use("t3", "Read", file_path="a.md")),
        10: {"type": "result", "subtype": "success", "duration_ms": 10_000},
    }
    events = [
        {**event, "timestamp": f"2026-01-02T03:04:{5 + seconds:06.3f}+00:00"}
        for seconds, event in steps.items()
    ]
    text = page("p", *events, took=12.34, skill_used=False)
    assert text.startswith(
        "# Transcript\n\n- Model: `m-2`\n- Executor: messages-api\n- Took: 12.3 s\n"
        "- Cost: 0.2500 USD\n- Tools: Bash 2, Read 1\n- Skill: on offer, not opened\n\n## Prompt"
    )
    for part in ("## Turn 1 (1.2 s)", "### Result of Bash (2.0 s)", '{"file_path": "a.md"}'):
        assert part in text


MARKS = (
    "` `` ``` ```` ~~~ ~~~~ < <b> </div> <!-- <img/src=x> </blockquote> ![ ](x) [a]: > # - 1. "
    "\\ $ $$ * _ a &lt; <?php <![CDATA[ <script> </details> <https://a.b> html"
).split()
BLANKS = ["\n", "\n", "\n\n", "\r", "\r\n", "    ", "  ", " ", "\t", "\x0b", "\u2028"]
PIECES = st.lists(st.sampled_from([*MARKS, *BLANKS]), max_size=30).map("".join)


def parsed(text):
    """What an independent reader of Markdown, which lets HTML through, makes of a page."""
    MarkdownIt = pytest.importorskip("markdown_it").MarkdownIt  # noqa: N806
    return MarkdownIt("commonmark", {"html": True}).parse(text)


@given(PIECES, PIECES)
@example("~~~html x\n<b>\n~~~~\n![ ](x)\n```\n<!--", "```\n# x\n```")
def test_what_was_said_and_what_a_tool_gave_stay_in_their_fences(content, gave):
    events = (said("m1", {"type": "text", "text": content}), result("t", gave))
    tokens = parsed(page(gave, *events, reason=content))
    kinds = [one.tag or one.type for one in tokens if one.level == 0 and one.nesting >= 0]
    fence = ["code"] if content.strip() else []
    assert kinds == ["h1", "ul", "h2", "code", "h2", *fence, "h3", "code", "h2", "code"]
    for token in tokens:
        assert token.type != "html_block", content
        assert not {child.type for child in token.children or ()} & {"image", "html_inline"}
