"""How a comparison shows itself."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from skill_eval_nb.improving.comparing import compare
from tests.improving.comparing.made import offline, workspace

NEW, OLD = "with_skill", "without_skill"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    named = {"eval_id": 1, "eval_name": "a <script>alert(1)</script> b"}
    metadata = {"iteration-2/eval-1-ledger-1/eval_metadata.json": named}
    return workspace(tmp_path_factory.mktemp("view"), evals=7, runs=1, files=metadata)


@pytest.fixture(scope="module")
def found(path):
    return compare(path, NEW, OLD, connection=offline("better"))


def test_as_text_it_tells_winner_rates_measures_and_cost(found) -> None:
    text = repr(found)
    assert text.startswith(f"{NEW} against {OLD}, compared blind by stand-in-judge: done\n")
    assert str(found.verdict) in text
    assert f"{NEW} wins 100% of 7 decided pairs (these evals), 95 % interval 59% to 100%" in text
    assert "of 7 decided evals (tasks like these)" in text
    assert "position consistency" in text
    assert "15 comparisons, 0 of them from before, 0 missing; $0.0000" in text
    assert "eval 3 (ledger-3): with_skill (1 to 0, 0 tied, 1 of 1 pairs settled)" in text
    assert "iteration-2 was taken" in text


def test_a_dry_run_tells_the_price(path) -> None:
    text = repr(compare(path, "iteration-1", "iteration-2", model="claude-haiku-4-5", dry_run=True))
    assert "7 pairs: 0 comparisons are there, 15 to be made, $" in text
    assert "at most" in text
    unpriced = compare(path, "iteration-1", "iteration-2", model="unpriced", dry_run=True)
    assert "15 to be made, a price is not known" in repr(unpriced)
    for shown in (text, unpriced._repr_html_()):  # nobody was asked, so there is no verdict
        assert "o pair was compared" not in shown
        assert "nothing compared" not in shown


def test_as_html_it_is_whole_and_escapes_what_files_say(found) -> None:
    page = found._repr_html_()
    assert "&lt;script&gt;alert(1)" in page
    assert "<script" not in page
    opened: list[str] = []

    class Balance(HTMLParser):
        def handle_starttag(self, tag, attrs) -> None:
            opened.append(tag)

        def handle_endtag(self, tag) -> None:
            assert opened.pop() == tag

    Balance().feed(page)
    assert opened == []


def test_reasons_are_told_once_with_their_number(path) -> None:
    for number in (2, 3):
        folder = path / f"iteration-2/eval-{number}-ledger-{number}/with_skill/run-1"
        for file in (folder / "outputs").iterdir():
            file.unlink()
        (folder / "outputs").rmdir()
    text = repr(compare(path, NEW, OLD, connection=offline("better")))
    assert "left out: 2 × it has no outputs" in text
    assert "left out: 2 × with_skill has no such run of the same eval" in text
