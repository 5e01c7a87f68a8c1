"""Drafts into suites: what comes, what stays, what is refused, what is written and prepared."""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from skill_eval_nb.documents import Faults, NotJSON, parse
from skill_eval_nb.documents.dialects import kind_of
from skill_eval_nb.improving import apply, preview
from skill_eval_nb.improving.edits import edits_of
from skill_eval_nb.improving.suite import Suite, text_of
from skill_eval_nb.improving.values import Draft
from skill_eval_nb.running.refused import Refused
from skill_eval_nb.workspace import EvalKey
from skill_eval_nb.workspace.json_text import NotPlain, plain_value, written_like
from tests.checkout import ROOT
from tests.improving.made_suites import EVALS, draft, evals_in, suite

CHECK = {"type": "file_contains", "pattern": "*.md", "match": "## Done"}


@pytest.fixture
def path(tmp_path):
    """A suite of two evals, in a folder of its own."""
    return suite(tmp_path)


def after(path, *drafts):
    """The evals after some drafts, none of which is refused."""
    change = preview(drafts, path)
    assert not change.refused
    assert not change.problems
    return evals_in(change.after)


def why(path, *drafts):
    """Why the last of some drafts is refused; the others are not."""
    change = preview(drafts, path)
    assert list(change.refused) == [drafts[-1].key]
    assert list(change.applied) == [one.key for one in drafts[:-1]]
    return change.refused[drafts[-1].key]


class TestAdding:
    def test_a_check_comes_last_with_the_next_id(self, path):
        one = draft("structural_expectations", CHECK)
        change = preview(one, path)
        wanted = copy.deepcopy(EVALS)
        wanted[0]["structural_expectations"].append({"id": "S3", **CHECK})
        assert evals_in(change.after) == wanted
        assert change.ids == {one.key: ("S3",)}
        assert change.applied == (one.key,)

    def test_an_eval_has_the_lists_and_ids_of_the_others(self, path):
        new = {
            "prompt": "Write notes of two logs",
            "expectations": ["It has two notes"],
            "structural_expectations": [CHECK, {"type": "no_errors"}],
            "quality_rubric": {"dimensions": [{"name": "plain"}]},
        }
        found = after(path, draft("evals", new))[2]
        assert found == {
            **new,
            "id": 3,
            "files": [],
            "structural_expectations": [
                {"id": "S1", **CHECK},
                {"id": "S2", "type": "no_errors"},
            ],
            "quality_rubric": {"dimensions": [{"id": "Q1", "name": "plain"}]},
        }
        assert list(found)[:2] == ["id", "prompt"]

    def test_ids_that_went_are_not_given_again(self, path):
        gone = draft("structural_expectations", target="S2", kind="drop")
        found = after(path, gone, draft("structural_expectations", CHECK))
        assert [one["id"] for one in found[0]["structural_expectations"]] == ["S1", "S3"]


class TestReplacing:
    def test_a_check_keeps_its_id_and_what_we_do_not_know(self, path):
        new = {"type": "file_exists", "pattern": "*.md", "critical": False}
        one = draft("structural_expectations", new, target="S1", kind="demote")
        change = preview(one, path)
        first = evals_in(change.after)[0]["structural_expectations"][0]
        assert first == {"id": "S1", **new, "note": "n"}
        assert change.before.replace(b"true", b"false") == change.after
        assert change.ids[one.key] == ("S1",)

    def test_of_a_dimension_only_what_differs_changes(self, path):
        old = EVALS[0]["quality_rubric"]["dimensions"][0]
        new = {**old, "weight": 0.60, "scoring": {**old["scoring"], "3": "a word or two"}}
        del new["id"]
        one = draft("dimensions", new, target="plain", kind="sharpen")
        change = preview(one, path)
        assert change.after == change.before.replace(b"some jargon", b"a word or two")


class TestRefused:
    def test_a_second_draft_of_the_same_item(self, path):
        first = draft("structural_expectations", target="S1", kind="drop")
        second = draft("structural_expectations", CHECK, target="S1", kind="sharpen")
        assert why(path, first, second) == f"{first.key} changes `S1` already"

    def test_what_is_not_there(self, path):
        one = draft("structural_expectations", target="S9", kind="drop")
        assert "eval 1: there is no item `S9`; there are S1, S2, It has one" in why(path, one)
        near = draft("expectations", target="It was polite", kind="drop")
        assert "did you mean `It is polite`?" in why(path, near)
        assert "no eval `9`" in why(path, draft("expectations", "New", evals=["9"]))
        assert "names no eval" in why(path, draft("expectations", "New", evals=[]))

    def test_what_is_there_already(self, path):
        assert "there already" in why(path, draft("expectations", "It is polite"))
        again = {"type": "file_contains", "pattern": "*.md", "match": "# "}
        assert "there already: S2" in why(path, draft("structural_expectations", again))
        assert "there already: Q2" in why(path, draft("dimensions", {"name": "short"}))
        one = draft("structural_expectations", CHECK)
        same = draft("structural_expectations", CHECK)
        assert "there already" in why(path, one, same)

    def test_a_draft_goes_in_whole_or_not_at_all(self, path):
        one = draft("structural_expectations", target="S1", evals=["1", "2"], kind="drop")
        change = preview(one, path)
        assert "eval 2: there is no item `S1`" in change.refused[one.key]
        assert change.after == change.before


class TestFaults:
    def test_a_change_with_new_errors_is_not_written(self, path):
        one = draft("structural_expectations", {"pattern": "*.md"})
        change = preview(one, path)
        assert [(fault.severity, fault.code) for fault in change.errors] == [("error", "missing")]
        with pytest.raises(Refused, match=r"new faults: .*`type` is missing"):
            change.write()
        assert path.read_bytes() == change.before

    def test_old_faults_are_no_new_ones(self, tmp_path):
        evals = [
            {"id": 1, "prompt": "Do", "structural_expectations": [{"id": "S1"}]},
            {"id": 1, "prompt": "Do it"},
        ]
        path = suite(tmp_path, evals)
        change = preview(draft("structural_expectations", CHECK), path)
        assert change.applied
        assert not change.problems

    @pytest.mark.parametrize(
        ("data", "told"),
        [
            (b"{", "not plain enough"),
            (b'{"evals": [{"id": 1, "prompt": "say "hi" twice"}]}', "not plain enough"),
            (b'{"eval_id": 1, "prompt": "Do", "assertions": []}', "a `eval_metadata` document"),
        ],
    )
    def test_a_file_that_cannot_be_changed_in_place_is_refused(self, tmp_path, data, told):
        path = tmp_path / "evals.json"
        path.write_bytes(data)
        with pytest.raises(Refused, match=told):
            preview([], path)


class TestDialects:
    @pytest.mark.parametrize(
        ("evals", "texts", "wanted"),
        [
            ({"assertions": ["One"]}, "assertions", "Two"),
            ({"expected_behaviors": ["One"]}, "expected_behaviors", "Two"),
            (
                {"assertions": [{"name": "one", "description": "One", "type": "custom"}]},
                "assertions",
                {"name": "two", "description": "Two"},
            ),
            (
                {"expectations": [{"id": "a1", "text": "One"}]},
                "expectations",
                {"id": "a2", "text": "Two"},
            ),
            (
                {"assertions": [{"text": "One", "check": "x"}]},
                "assertions",
                {"text": "Two"},
            ),
        ],
    )
    def test_a_new_expectation_is_like_those_beside_it(self, tmp_path, evals, texts, wanted):
        path = suite(tmp_path, [{"id": 1, "prompt": "Do", **evals}])
        found = after(path, draft("expectations", "Two"))
        assert found[0][texts] == [*evals[texts], wanted]

    def test_a_typed_assertion_becomes_another_check_in_its_own_names(self, tmp_path):
        typed = {"name": "csv", "description": "It sums", "type": "contains_text", "value": "a"}
        typed |= {"path": "*.txt", "why_kept": "it tells"}
        path = suite(tmp_path, [{"id": 1, "prompt": "Do", "assertions": [typed]}])
        new = {"type": "file_contains", "description": "It sums up", "match": "sum"}
        one = draft("structural_expectations", new, target="csv", kind="sharpen")
        assert after(path, one)[0]["assertions"] == [
            {
                "name": "csv",
                "description": "It sums up",
                "type": "file_contains",
                "value": "sum",
                "why_kept": "it tells",
            }
        ]

    @pytest.mark.parametrize("name", ["iterations", "test-cases", "skill-creator", "tdd"])
    def test_what_is_added_to_bundled_suites_brings_no_problem(self, tmp_path, name):
        folder = tmp_path / f"{name}-workspace"
        shutil.copytree(ROOT / "data" / folder.name, folder)
        suite_ = preview([], folder).suite
        drafts = [
            draft("expectations", "It is all new", evals=[suite_.keys[0].id]),
            draft("structural_expectations", CHECK, evals=[suite_.keys[1].id]),
            draft("evals", {"prompt": "Do it all", "expectations": ["It is done"]}),
        ]
        change = preview(drafts, folder)
        assert len(change.applied) == 3
        assert not change.problems


def test_ids_are_those_of_the_tables(tmp_path):
    """The bundled codingbuddy suite counts from 1, its runs from 0."""
    folder = tmp_path / "codingbuddy-workspace"
    shutil.copytree(ROOT / "data" / folder.name, folder)
    change = preview(draft("structural_expectations", CHECK, evals=["0"]), folder)
    changed = [one["id"] for one in evals_in(change.after) if "structural_expectations" in one]
    assert changed == [1]


def test_apply_writes_what_preview_shows(path):
    one = draft("expectations", "It is dated")
    shown = preview(one, path)
    change = apply(one, path)
    assert path.read_bytes() == shown.after == change.after
    assert change.written is not None
    assert change.written.kept is not None
    assert change.written.kept.read_bytes() == shown.before


def test_the_old_file_is_kept_under_a_free_name(path):
    first = path.read_bytes()
    taken = path.with_name("evals.json.2.bak")
    taken.write_text("somebody's")
    written = [
        preview(draft("expectations", text), path).write().written for text in ("One", "Two")
    ]
    kept = [one.kept for one in written if one is not None]
    assert [one.name for one in kept if one] == ["evals.json.1.bak", "evals.json.3.bak"]
    assert kept[0] is not None
    assert kept[0].read_bytes() == first
    assert taken.read_text() == "somebody's"


def test_a_file_that_changed_since_is_not_written(path):
    change = preview(draft("expectations", "It is dated"), path)
    path.write_bytes(path.read_bytes() + b"\n")
    there = path.read_bytes()
    with pytest.raises(Refused, match="has changed since"):
        change.write()
    assert path.read_bytes() == there
    assert [one.name for one in path.parent.iterdir()] == ["evals.json"]


def test_a_link_stays_a_link(tmp_path):
    real = suite(tmp_path / "real")
    link = tmp_path / "evals.json"
    link.symlink_to(real)
    preview(draft("expectations", "It is dated"), link).write()
    assert link.is_symlink()
    assert b"It is dated" in real.read_bytes()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_the_encoding_stays(path, encoding):
    path.write_bytes(path.read_text().encode(encoding))
    preview(draft("expectations", "Süß"), path).write()
    assert "Süß" in path.read_bytes().decode(encoding)
    assert path.read_bytes().decode(encoding).startswith("{")


def test_the_diff_is_one_that_patch_understands(path):
    change = preview(draft("expectations", "It is dated"), path)
    lines = change.diff.splitlines()
    assert lines[0] == f"--- {path}"
    assert lines[1] == "+++ evals.json (new)"
    assert [one for one in lines[2:] if one[0] in "+-"] == [
        '-        "It is polite"',
        '+        "It is polite",',
        '+        "It is dated"',
    ]
    assert preview(draft("expectations", "It is dated"), path).diff == change.diff


class TestShown:
    def test_texts_are_escaped(self, path):
        html = preview(draft("expectations", "<script>alert(1)</script>"), path)._repr_html_()
        assert "<script>" not in html
        assert "<span class='sen-new'>+        &quot;&lt;script&gt;alert(1)" in html


def test_the_file_is_found_in_the_folder_of_a_skill_or_a_workspace(tmp_path):
    skill = suite(tmp_path / "skill" / "evals")
    cases = suite(tmp_path / "ws" / "eval", name="eval_metadata.json")
    odd = suite(tmp_path / "odd" / "deep", name="my-evals.json")
    for folder, path in (("skill", skill), ("ws", cases), ("odd", odd)):
        assert preview([], tmp_path / folder).path == path


NAMES = ("eval", "case", "scenario")


def suites(corpus: Path) -> list[Path]:
    """The eval suites in the corpus."""
    found = []
    for path in sorted(corpus.rglob("*.json")):
        if path.is_file() and any(name in path.name.lower() for name in NAMES):
            try:
                raw = parse(path.read_bytes(), Faults())
            except NotJSON:
                continue
            if kind_of(path.name, raw) == "evals":
                found.append(path)
    return found


def opened(path: Path) -> Suite:
    """A suite without its workspace, which would be read whole."""
    data = path.read_bytes()
    text = text_of(path.name, data)
    keys = [EvalKey(str(at), str(at)) for at, _ in enumerate(text.document.evals)]
    return Suite(path, data, text, keys, None)


def changed(suite: Suite, *drafts: Draft) -> bytes:
    """The bytes of a suite after some drafts, all of which go in."""
    edits = edits_of(drafts, suite)
    assert not edits.refused, (suite.path, edits.refused)
    return written_like(edits.value, suite.data)


def differs_in_one_place(less: bytes, more: bytes) -> bool:
    """Whether the longer one is the shorter one with one piece put in."""
    pairs = enumerate(zip(less, more, strict=False))
    same = next((at for at, (a, b) in pairs if a != b), len(less))
    return len(more) > len(less) and more.endswith(less[same:])


def test_suites_of_the_corpus_change_in_one_place_only(corpus):
    there = suites(corpus)
    assert len(there) > 100
    for number, path in enumerate(there):
        suite = opened(path)
        assert changed(suite) == suite.data
        additions = (
            draft("expectations", "It is all new", evals=["0"]),
            draft("structural_expectations", {"type": "no_errors"}, evals=["0"]),
            draft("dimensions", {"name": "all-new", "scoring": {"1": "bad"}}, evals=["0"]),
            draft("evals", {"prompt": "Do what nobody asked for"}),
        )
        one = additions[number % 4]
        after = changed(suite, one)
        assert differs_in_one_place(suite.data, after), (path, one.part)
        assert json.loads(after)
        after = changed(suite, draft("evals", target="0", kind="drop"))
        assert differs_in_one_place(after, suite.data), path
        assert len(text_of(path.name, after).document.evals) == len(suite.evals) - 1


# ── json text ──────────────────────────────────────────────────────────────────────────────────

BLANKS = ("", "", " ", "  ", "\n", "\n    ", "\r\n\t", " \n\n ")
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)
randoms = st.randoms(use_true_random=False)


def laid_out(value: Any, random: Random) -> str:
    """A value as text, its blanks and escapes drawn."""

    def blank() -> str:
        return random.choice(BLANKS)

    def written(one: Any) -> str:
        if isinstance(one, dict):
            items = [
                f"{blank()}{written(key)}{blank()}:{blank()}{written(item)}{blank()}"
                for key, item in one.items()
            ]
            return "{" + (",".join(items) or blank()) + "}"
        if isinstance(one, list):
            items = [f"{blank()}{written(item)}{blank()}" for item in one]
            return "[" + (",".join(items) or blank()) + "]"
        return json.dumps(one, ensure_ascii=random.random() < 0.5)

    return blank() + written(value) + blank()


def drawn(value: Any, random: Random, new: Any) -> Any:
    """The value after some changes."""
    if isinstance(value, list):
        items = [drawn(item, random, new) for item in value]
        kept = [one for one in items if random.random() < 0.8]
        return [*kept, *[new] * random.randint(0, 2)]
    if isinstance(value, dict):
        kept = {key: drawn(one, random, new) for key, one in value.items() if random.random() < 0.8}
        return kept | ({"a new one": new} if random.random() < 0.3 else {})
    return value if random.random() < 0.8 else new


def rewritten(text: str, value: Any) -> str:
    return written_like(value, text.encode()).decode()


@given(values, values, randoms)
def test_a_text_says_what_the_same_edit_makes_of_the_data(value, new, random: Random):
    text = laid_out(value, random)
    assert rewritten(text, value) == text
    edited = drawn(value, random, new)
    assert json.loads(rewritten(text, edited)) == edited


@given(st.lists(values, min_size=1, max_size=4), values, randoms)
def test_what_comes_or_goes_is_in_one_piece_and_all_else_is_there(items, new, random: Random):
    value = {"before": [1.0, 2e1], "it": items, "behind": "é"}
    text = laid_out(value, random)
    more = rewritten(text, {**value, "it": [*items, new]})
    assert is_one_piece_more(text, more)
    assume(len(items) > 1)
    at = random.randrange(len(items))
    left = [one for place, one in enumerate(items) if place != at]
    less = rewritten(text, {**value, "it": left})
    for part in (text.partition('"it"')[0], text.rpartition('"behind"')[2]):
        assert part in less


def is_one_piece_more(less: str, more: str) -> bool:
    pairs = enumerate(zip(less, more, strict=False))
    same = next((at for at, (a, b) in pairs if a != b), len(less))
    return more.endswith(less[same:]) and len(more) > len(less)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": [1,]}', "no strict JSON"),
        ('{"a": 1} // so', "no strict JSON"),
        ('{"a": NaN}', "NaN is no JSON"),
        ('{"a": {"b": 1, "b": 2}}', "`b` stands twice"),
        ("[" * 100_000, "too deeply"),
    ],
)
def test_what_is_not_plain_is_refused(text, why):
    with pytest.raises(NotPlain, match=why):
        plain_value(text)
