"""Drafts into suites: what comes, what stays, what is refused, and what the next runs go by."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import skill_eval_nb as sen
from skill_eval_nb.documents import Faults, NotJSON, parse
from skill_eval_nb.documents.dialects import kind_of
from skill_eval_nb.improving import apply, preview
from skill_eval_nb.improving.edits import OpenSuite, edits_of, text_of
from skill_eval_nb.running.protocol import Refused
from skill_eval_nb.workspace import EvalKey
from skill_eval_nb.workspace.writing import written_like
from tests.checkout import ROOT
from tests.improving.made import CHECKS, draft, suite

CHECK = {"type": "file_contains", "pattern": "*.md", "match": "## Done"}
DATED = draft("expectations", "It is dated")


@pytest.fixture
def path(tmp_path):
    """A suite of two evals, in a folder of its own."""
    return suite(tmp_path)


def after(path, *drafts):
    """The evals after some drafts, none of which is refused."""
    change = preview(drafts, path)
    assert not change.refused
    assert not change.problems
    return json.loads(change.after)["evals"]


def test_an_eval_has_the_lists_and_ids_of_the_others(path):
    new = {
        "prompt": "Write notes of two logs",
        "expectations": ["It has two notes"],
        CHECKS: [CHECK, {"type": "no_errors"}],
        "quality_rubric": {"dimensions": [{"name": "plain"}]},
    }
    found = after(path, draft("evals", new))[2]
    assert list(found)[:2] == ["id", "prompt"]
    assert found == {
        **new,
        "id": 3,
        "files": [],
        CHECKS: [{"id": "S1", **CHECK}, {"id": "S2", "type": "no_errors"}],
        "quality_rubric": {"dimensions": [{"id": "Q1", "name": "plain"}]},
    }


@pytest.mark.parametrize(
    ("refused", "why"),
    [
        (draft(CHECKS, CHECK, target="S1"), "already changes `S1`"),
        (draft(CHECKS, CHECK, key="d-2"), "already exists"),
        (draft(CHECKS, target="S9"), "eval 1: there is no item `S9`; there are S2, S3, It"),
        (draft("expectations", target="It was polite"), "did you mean `It is polite`?"),
        (draft("expectations", "New", evals=["9"]), "no eval `9`"),
        (draft("expectations", "New", evals=[]), "names no eval"),
        (draft("dimensions", {"name": "short"}), "already exists: Q2"),
        # A draft goes in whole or not at all.
        (draft(CHECKS, target="S2", evals=["1", "2"]), "eval 2: there is no item `S2`"),
    ],
)
def test_a_draft_that_does_not_fit_is_refused_and_leaves_no_trace(path, refused, why):
    before = [draft(CHECKS, target="S1"), draft(CHECKS, CHECK)]
    change = preview([*before, refused], path)
    assert list(change.applied) == [one.key for one in before]
    assert list(change.refused) == [refused.key]
    assert why in change.refused[refused.key]
    assert change.after == preview(before, path).after


def test_a_change_with_new_errors_is_not_written_and_old_faults_are_no_new_ones(path, tmp_path):
    change = preview(draft(CHECKS, {"pattern": "*.md"}), path)
    assert [(fault.severity, fault.code) for fault in change.errors] == [("error", "missing")]
    with pytest.raises(Refused, match=r"new faults: .*`type` is missing"):
        change.write()
    assert path.read_bytes() == change.before
    evals = [{"id": 1, "prompt": "Do", CHECKS: [{"id": "S1"}]}, {"id": 1, "prompt": "Do it"}]
    assert len(after(suite(tmp_path / "old", evals), draft(CHECKS, CHECK))) == 2


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"{", "cannot be changed in place"),
        (b'{"evals": []} // so', "not strict JSON"),
        (b'{"evals": NaN}', "NaN read as null"),
        (b'{"evals": [], "evals": []}', "given twice .the last counts.: evals"),
        (b"[" * 100_000, "too deeply"),
        (b'{"evals": [{"id": 1, "prompt": "say "hi" twice"}]}', "cannot be changed in place"),
        (b'{"eval_id": 1, "prompt": "Do", "assertions": []}', "a `eval_metadata` document"),
    ],
)
def test_a_file_that_cannot_be_changed_in_place_is_refused(tmp_path, data, why):
    (tmp_path / "evals.json").write_bytes(data)
    with pytest.raises(Refused, match=why):
        preview([], tmp_path / "evals.json")


NAMED = {"name": "one", "description": "One", "type": "custom"}
TWO = draft("expectations", "Two")
TYPED = {"name": "csv", "description": "It sums", "type": "contains_text", "value": "a"}
TYPED |= {"path": "*.txt", "mine": "it tells"}
SUMS = {"type": "file_contains", "description": "It sums up", "match": "sum"}
SUMMED = {"name": "csv", "description": "It sums up", "type": "file_contains", "value": "sum"}


@pytest.mark.parametrize(
    ("field", "there", "new", "found"),
    [
        ("expected_behaviors", "One", TWO, ["One", "Two"]),
        ("assertions", NAMED, TWO, [NAMED, {"name": "two", "description": "Two"}]),
        ("expectations", {"id": "a1"}, TWO, [{"id": "a1"}, {"id": "a2", "text": "Two"}]),
        ("assertions", {"text": "One", "check": "x"}, TWO, [..., {"text": "Two"}]),
        # A typed assertion becomes another check in its own names.
        ("assertions", TYPED, draft(CHECKS, SUMS, target="csv"), [SUMMED | {"mine": "it tells"}]),
    ],
)
def test_what_is_new_is_like_those_beside_it(tmp_path, field, there, new, found):
    path = suite(tmp_path, [{"id": 1, "prompt": "Do", field: [there]}])
    assert after(path, new)[0][field] == [there if one is ... else one for one in found]


@pytest.mark.parametrize(
    ("evals", "part", "field"),
    [
        (
            [{"id": 1, "prompt": "Do", "expectations": ["One", None]}],
            "expectations",
            "",
        ),
        ([{"id": 1, "prompt": "Do", "quality_rubric": "none"}], "dimensions", "quality_rubric"),
        ([1, {"id": 1, "prompt": "Do"}], "expectations", "evals"),
    ],
)
def test_nothing_that_cannot_be_read_is_lost(tmp_path, evals, part, field):
    new = {"name": "new"} if part == "dimensions" else "New"
    (why,) = preview(draft(part, new), suite(tmp_path, evals)).refused.values()
    assert why == f"`{field or part}` cannot be read whole: correct it first"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_link_stays_a_link_and_the_encoding_stays(tmp_path, encoding):
    real, link = suite(tmp_path / "real"), tmp_path / "evals.json"
    real.write_bytes(real.read_text().encode(encoding))
    link.symlink_to(real)
    preview(draft("expectations", "Süß"), link).write()
    assert link.is_symlink()
    text = real.read_bytes().decode(encoding)
    assert text.startswith("{")
    assert "Süß" in text


def test_the_diff_is_one_that_patch_understands_and_html_escapes_it(path):
    lines = preview(DATED, path).diff.splitlines()
    assert lines[:2] == [f"--- {path}", "+++ evals.json (new)"]
    assert [one for one in lines[2:] if one[0] in "+-"] == [
        '-        "It is polite"',
        '+        "It is polite",',
        '+        "It is dated"',
    ]
    # Shown in a page it is escaped.
    html = preview(draft("expectations", "<script>alert(1)</script>"), path)._repr_html_()
    assert "<script>" not in html
    assert "<span class='sen-new'>+        &quot;&lt;script&gt;alert(1)" in html


def test_the_file_is_found_in_the_folder_of_a_skill_or_a_workspace(tmp_path):
    for folder, name in (("skill/evals", "evals"), ("ws/eval", "eval_metadata"), ("odd/x", "my")):
        path = suite(tmp_path / folder, name=f"{name}.json")
        assert preview([], path.parent.parent).path == path


# ── in place ──────────────────────────────────────────────────────────────────────────────────


def suites(corpus: Path) -> Iterator[Path]:
    """The eval suites in the corpus."""
    for path in sorted(corpus.rglob("*.json")):
        if path.is_file() and re.search("eval|case|scenario", path.name.lower()):
            with suppress(NotJSON):
                if kind_of(path.name, parse(path.read_bytes(), Faults())) == "evals":
                    yield path


def is_one_piece_more(less: bytes, more: bytes) -> bool:
    """Whether the longer one is the shorter one with one piece put in."""
    pairs = enumerate(zip(less, more, strict=False))
    same = next((at for at, (a, b) in pairs if a != b), len(less))
    return len(more) > len(less) and more.endswith(less[same:])


def test_suites_of_the_corpus_change_in_one_place_only(corpus):
    additions = (
        draft("expectations", "It is all new", evals=["0"]),
        draft(CHECKS, {"type": "no_errors"}, evals=["0"]),
        draft("dimensions", {"name": "all-new", "scoring": {"1": "bad"}}, evals=["0"]),
        draft("evals", {"prompt": "Do what nobody asked for"}),
    )
    number, elsewhere = -1, []
    for number, path in enumerate(suites(corpus)):
        data = path.read_bytes()
        text = text_of(path.name, data)
        keys = [EvalKey(str(at), str(at)) for at, _ in enumerate(text.document.evals)]
        # Without its workspace, which would be read whole.
        made = [
            edits_of(drafts, OpenSuite(path, data, text, keys))
            for drafts in ((), additions[number % 4 :][:1], (draft("evals", target="0"),))
        ]
        assert not any(one.refused for one in made), path
        same, more, less = (written_like(one.value, data) for one in made)
        assert same == data
        assert json.loads(more) == made[1].value
        assert len(text_of(path.name, less).document.evals) == len(keys) - 1
        if not (is_one_piece_more(data, more) and is_one_piece_more(less, data)):
            elsewhere.append(path)
    assert number > 100
    # Few are laid out by hand, as no writer of JSON would do it.
    assert len(elsewhere) < number / 20, elsewhere


# ── what the next runs go by ──────────────────────────────────────────────────────────────────────


HEAD = {"type": "file_contains", "pattern": "*.md", "match": "# "}
BARE = {"executor": "offline", "sandbox": "none", "runs": 1, "judgings": 1}


def test_the_next_runs_go_by_the_changed_suite_in_an_iteration_of_their_own(tmp_path):
    skill = shutil.copytree(ROOT / "data" / "release-notes", tmp_path / "release-notes")
    sen.plan_runs(skill, evals_only=[2], **BARE).start().wait()
    home = skill.with_name("release-notes-workspace")
    kept = home / "evals" / "evals.json"
    before = kept.read_bytes()
    one = draft(CHECKS, HEAD, evals=[sen.load(home).polars("evals")["eval_id"][1]])
    # The skill's suite is changed, not the copy that tells what was run.
    assert preview(one, skill).path == skill / "evals" / "evals.json"
    change = apply(one, home)
    assert change.path == skill / "evals" / "evals.json"
    assert kept.read_bytes() == before
    plan = sen.plan_runs(skill, evals_only=[2], **BARE)
    assert (plan.iteration, plan.why_iteration) == (2, "new: in iteration-1 evals differed")
    end = plan.start().wait()
    assert (end.status, end.problems) == ("done", ())
    assert kept.read_bytes() == change.after
    checks = sen.load(home).polars("expectations").filter(iteration="iteration-2")
    new = json.loads(change.after)["evals"][1][CHECKS][-1]["id"]
    assert new in checks["expectation_id"].to_list()
