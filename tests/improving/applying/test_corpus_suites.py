"""Suites as people left them: what is not meant stays as it is, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

from skill_eval_nb.documents import Faults, NotJSON, parse
from skill_eval_nb.documents.dialects import kind_of
from skill_eval_nb.improving.applying.habits import layout_of
from skill_eval_nb.improving.applying.opening import Opened, text_of
from skill_eval_nb.improving.applying.placing import place
from skill_eval_nb.improving.applying.rewriting import rewritten
from skill_eval_nb.improving.values import Draft
from skill_eval_nb.workspace import EvalKey
from tests.improving.applying.made_suites import draft

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


def opened(path: Path) -> Opened:
    """A suite without its workspace, which would be read whole."""
    data = path.read_bytes()
    text = text_of(path.name, data)
    keys = [EvalKey(str(at), str(at)) for at, _ in enumerate(text.document.evals)]
    return Opened(path, data, text, keys, None)


def changed(suite: Opened, *drafts: Draft) -> bytes:
    """The bytes of a suite after some drafts, all of which go in."""
    placed = place(drafts, suite)
    assert not placed.refused, (suite.path, placed.refused)
    root = suite.text.root
    return suite.text.encoded(rewritten(layout_of(suite.text.text, root), root, placed.edits))


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
