"""What a conversion makes of damaged trees, of ids and places, and what it refuses and tells."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import skill_eval_nb as sen
from skill_eval_nb.disk import write_atomic
from skill_eval_nb.tables.conversion import convert
from tests.checkout import ROOT
from tests.corpus.build import graded, lay, row
from tests.tables.made import two_sides
from tests.tables.test_conversion import BUNDLED

# ── damaged trees, and what was cut off ────────────────────────────────────────────────────────


LONE = {
    "iteration-3/feedback.json": {"reviews": [{"run_id": "eval-1-with_skill", "feedback": "x"}]},
    "iteration-4/comparison-1.json": {"winner": "A", "reasoning": "r", "eval_id": 7},
    "iteration-5/analysis.json": {"comparison_summary": {"winner": "A"}},
    "iteration-6/eval-9-x/feedback.json": {"reviews": []},
}


def test_iterations_of_which_only_a_little_is_left(tmp_path):
    heights = []
    for name, more in (("whole", {}), ("damaged", LONE)):
        convert(lay(tmp_path / name, two_sides() | more), tmp_path / f"{name}-out")
        heights.append(sen.load(tmp_path / f"{name}-out").runs.height)
    assert heights[0] == heights[1] > 0


def test_rows_that_no_eval_can_be_told_of_get_no_name_that_is_none(tmp_path):
    rows = [
        {"configuration": side, "result": {"pass_rate": rate}}
        for side, rate in (("with_skill", 1.0), ("without_skill", 0.0))
    ]
    ws = lay(tmp_path / "ws", {"iteration-1/benchmark.json": {"runs": rows, "run_summary": {}}})
    written = convert(ws, tmp_path / "out").written
    assert not any("None" in path.read_text() for path in written)


def test_a_trigger_set_keeps_its_skill(tmp_path):
    sets = {
        f"triggers/{name}.json": {
            "skill_name": name,
            "queries": [{"query": f"{name} up", "should_trigger": True}],
        }
        for name in ("tidy", "neat")
    }
    convert(lay(tmp_path / "ws", two_sides() | sets), tmp_path / "out")
    asked = sen.load(tmp_path / "out").triggers.select("skill", "query").rows()
    assert {("tidy", "tidy up"), ("neat", "neat up")} <= set(asked)


def test_what_was_cut_off_begins_anew(tmp_path, monkeypatch):
    ws, out = ROOT / "data" / BUNDLED["codingbuddy"], tmp_path / "out"
    convert(ws, tmp_path / "whole")
    written = iter(range(5))

    def killed(*arguments, **more):
        if next(written, None) is None:
            raise KeyboardInterrupt
        return write_atomic(*arguments, **more)

    with monkeypatch.context() as patch:
        patch.setattr(sys.modules["skill_eval_nb.tables.conversion"], "write_atomic", killed)
        with pytest.raises(KeyboardInterrupt):
            convert(ws, out)
    assert 0 < len(tree(out)) < len(tree(tmp_path / "whole"))
    convert(ws, out)
    assert tree(out) == tree(tmp_path / "whole")
    with pytest.raises(FileExistsError):
        convert(ws, out)


# ── what is told ───────────────────────────────────────────────────────────────────────────────


RUN = "iteration-1/eval-0-login/with_skill/run-1"


# ── ids ────────────────────────────────────────────────────────────────────────────────────────


# ── places ─────────────────────────────────────────────────────────────────────────────────────


def test_comparisons_and_analyses_stay_with_their_eval_and_iteration(tmp_path):
    comparison = {"winner": "A", "reasoning": "x", "rubric": {"A": {}, "B": {}}}
    analysis = {"improvement_suggestions": [{"suggestion": "x"}]}
    eval_ = "iteration-1/eval-0-login"
    files = {
        f"{eval_}/with_skill/run-1/grading.json": graded("p"),
        f"{eval_}/comparison-1.json": comparison,
        f"{eval_}/analysis.json": analysis,
        "iteration-1/comparison-2.json": comparison,
        "comparison-3.json": comparison,
        "history.json": {"skill_name": "x", "iterations": [{"version": "v0"}]},
    }
    convert(lay(tmp_path / "ws", files), tmp_path / "out")
    assert set(files) <= set(tree(tmp_path / "out"))


def test_workspaces_of_one_name_stay_apart(tmp_path):
    for name in ("a", "b"):
        lay(tmp_path / name / "ws" / "iteration-1", {"eval-0/with_skill/grading.json": graded("p")})
    paths = [tmp_path / name / "ws" / "iteration-1" for name in ("a", "b")]
    convert(str(tmp_path / "?" / "ws" / "iteration-1"), tmp_path / "out")
    assert len(list((tmp_path / "out").rglob("grading.json"))) == len(paths)


def test_outputs_go_along_and_nothing_else_does(tmp_path):
    """No documents among them; a link within as a file, others never; a pipe is not waited for."""
    lay(tmp_path / "elsewhere", {"secret.txt": "secret", "deep/x.txt": "x"})
    kept = {
        "transcript.md": "said",
        "transcript.jsonl": "{}",
        "outputs/a.txt": "a",
        "outputs/deep/er/metrics.json": "{}",
        "outputs/data.json": b"\xff\x00",
    }
    left = {"grading.json": graded("p"), "outputs/metrics.json": {}, "outputs/grading.json": {}}
    outputs = lay(tmp_path / "ws" / RUN, kept | left) / "outputs"
    (outputs / "same").symlink_to("a.txt")
    (outputs / "file").symlink_to(tmp_path / "elsewhere" / "secret.txt")
    (outputs / "folder").symlink_to(tmp_path / "elsewhere")
    (outputs / "loop").symlink_to(outputs)
    (outputs / "gone").symlink_to("nothing")
    os.mkfifo(outputs / "pipe")
    converted = convert(tmp_path / "ws", tmp_path / "out")
    run = tmp_path / "out" / RUN
    documents = {"grading.json", "eval_metadata.json", "timing.json"}
    found = {
        str(path.relative_to(run)): path.read_bytes() for path in run.rglob("*") if path.is_file()
    }
    wanted = kept | {"outputs/same": "a"}
    assert {name: found[name] for name in set(found) - documents} == {
        name: text if isinstance(text, bytes) else text.encode() for name, text in wanted.items()
    }
    names = {Path(one.path).name for one in converted.losses if Path(one.path).parent == outputs}
    assert names >= {"file", "folder", "gone", "loop", "pipe"}
    assert not any(path.is_symlink() for path in (tmp_path / "out").rglob("*"))
    assert set(converted.written) == {
        path for path in (tmp_path / "out").rglob("*") if path.is_file()
    }


# ── refusals, safety ───────────────────────────────────────────────────────────────────────────


def tree(root: Path) -> dict[str, str]:
    """Every file below a folder by its path, with what it holds, links and all."""
    return {
        os.path.relpath(Path(folder, name), root): hashlib.sha256(
            Path(folder, name).read_bytes() if Path(folder, name).is_file() else b"?"
        ).hexdigest()
        for folder, _, names in os.walk(root)
        for name in names
    }


def test_a_folder_that_is_not_empty_is_refused_and_stays_as_it_was(tmp_path):
    lay(tmp_path / "ws", {f"{RUN}/grading.json": graded("p")})
    lay(tmp_path / "out", {"mine.txt": "x"})
    for target in (tmp_path / "out", tmp_path / "out" / "mine.txt"):
        with pytest.raises(FileExistsError, match="give a new folder"):
            convert(tmp_path / "ws", target)
    assert set(tree(tmp_path / "out")) == {"mine.txt"}


@pytest.mark.parametrize("inside", [".", "new", "iteration-1/new"])
def test_a_folder_inside_of_the_workspace_is_refused(tmp_path, inside):
    lay(tmp_path / "ws", {f"{RUN}/grading.json": graded("p")})
    before = tree(tmp_path)
    with pytest.raises(FileExistsError):
        convert(tmp_path / "ws", tmp_path / "ws" / inside)
    assert tree(tmp_path) == before
    assert not (tmp_path / "ws" / "new").exists()


NAMES = ["../../up", "..", ".", "/abs", "a/b", "c:\\d", "🎉 party", "eval-0", "x" * 300]
NAMES += ["", "\x00", "<b>"]
name = st.one_of(st.sampled_from(NAMES), st.text(max_size=12))


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(name, name, name), min_size=1, max_size=3))
def test_whatever_documents_call_things_nothing_is_written_outside(tmp_path_factory, said):
    """Names in documents lead nowhere: all files lie below `out`, the source stays as it is."""
    home = tmp_path_factory.mktemp("any")
    files: dict[str, Any] = {
        "evals/evals.json": {
            "skill_name": said[0][0],
            "evals": [{"id": id_, "prompt": "P", "name": title} for id_, title, _ in said],
        },
        "benchmark.json": {
            "metadata": {"skill_name": said[0][2], "iteration": said[0][1]},
            "runs": [row(id_, side or "x", "p", eval_name=title) for id_, title, side in said],
        },
        "feedback.json": {"reviews": [{"run_id": f"{said[0][0]}-with_skill", "feedback": "x"}]},
    }
    for n, (id_, title, side) in enumerate(said):
        eval_ = f"iteration-1/folder{n}"
        files[f"{eval_}/eval_metadata.json"] = {"eval_id": id_, "eval_name": title, "prompt": "P"}
        grading = graded("p", configuration=side, run_id=title, eval_id=id_)
        files[f"{eval_}/grading.json"] = grading
        files[f"{eval_}/outputs/a.txt"] = "a"
        files[f"{eval_}/comparison-{n}.json"] = {"winner": "A", "eval_id": id_, "rubric": {"A": {}}}
    lay(home / "box" / "ws", files)
    before = tree(home)
    converted = convert(home / "box" / "ws", home / "box" / "out")
    after = tree(home)
    new = set(after) - set(before)
    assert {path: after[path] for path in before} == before
    assert all(path.startswith("box/out/") for path in new)
    assert {os.path.relpath(path, home) for path in converted.written} == new


def test_evals_that_want_the_same_folder_get_two(tmp_path):
    """On some disks `Same` and `same` are one."""
    files: dict[str, Any] = {}
    for folder, name, marks in (("one", "Same", "p"), ("two", "same", "f")):
        about = {"eval_id": name, "eval_name": "x", "prompt": "P"}
        files[f"iteration-1/{folder}/eval_metadata.json"] = about
        files[f"iteration-1/{folder}/with_skill/grading.json"] = graded(marks)
    convert(lay(tmp_path / "ws", files), tmp_path / "out")
    folders = {path.name.casefold() for path in (tmp_path / "out/iteration-1").iterdir()}
    assert len(folders) == 2
    assert sorted(sen.load(tmp_path / "out").runs["pass_rate"]) == [0.0, 1.0]


def test_folders_with_odd_names(tmp_path):
    names = ["with space", "naïve 🎉", "<script>", "a'b\"c", "-rf", "%2e%2e"]
    files = {f"iteration-1/{name}/with_skill/run-1/grading.json": graded("p") for name in names}
    convert(lay(tmp_path / "ws", files), tmp_path / "out")
    ids = set(sen.load(tmp_path / "out").runs["eval_id"])
    assert ids == set(names)
