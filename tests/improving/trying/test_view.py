"""How a try shows itself."""

from __future__ import annotations

import pytest

import skill_eval_nb as sen
from skill_eval_nb.improving import try_out
from tests.improving.trying.made import JUDGED, SOURCES, draft, planted, world

EVIL = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """A try whose every text has markup in it."""

    def text(one, side, run):
        return planted(3, 1)(one, side, run).replace("the ledger", EVIL)

    root = world(tmp_path_factory.mktemp("view"), text, evals=["1"])
    for path in root.rglob("grading.json"):
        path.write_text(path.read_text().replace(f"evidence on {JUDGED}", EVIL))
    made = draft(
        SOURCES | {"description": "Sources are named below the table"},
        evals=["1"],
        target="S1",
        why=EVIL,
    )
    return try_out(made, sen.load(root))


def test_text_from_files_is_escaped(shown):
    html = shown._repr_html_()
    assert EVIL not in html
    assert html.count("&lt;img src=x") >= 3


def test_the_page_has_sides_disagreements_and_the_suite(shown):
    html = shown._repr_html_()
    for caption in ("on each side", "Where they differ", "before and after"):
        assert f"{caption}</h4><table>" in html
    assert "sharpen structural expectation S1" in html


def test_text_is_aligned(shown):
    lines = repr(shown).splitlines()
    head = next(line for line in lines if line.lstrip().startswith("what"))
    rows = lines[lines.index(head) + 1 : lines.index(head) + 5]
    assert [row.split()[:3] for row in rows] == [
        [what, "all", side]
        for what in ("draft", "replaced")
        for side in ("with_skill", "without_skill")
    ]
    assert {row.rfind(row.split()[-1]) + len(row.split()[-1]) for row in rows} == {len(head)}


def test_many_disagreements_are_counted(tmp_path):
    ws = sen.load(world(tmp_path, planted(0, 0)))
    tried = try_out(draft(SOURCES | {"description": JUDGED}), ws)
    assert len(tried.disagreements) == 32
    assert "… and 24 more runs" in tried._repr_html_()
