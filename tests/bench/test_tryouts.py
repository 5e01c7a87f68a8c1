"""What is measured does what it says."""

from __future__ import annotations

from skill_eval_nb.improving import Tried
from tests.bench.tryouts import bare, measure, plain, ways, workspace


def test_each_way_looks_at_all_runs(tmp_path):
    folder = workspace(40, tmp_path)
    reading, bare_calls, *tries = ways(folder).values()
    files = [path for path in folder.rglob("outputs/*") if path.is_file()]
    assert len(files) == 40 * 4
    assert reading() == bare_calls() == sum(path.stat().st_size for path in files)
    for way in tries:
        tried = way()
        assert isinstance(tried, Tried)
        assert tried.by_run["passed"].count() == 40


def test_each_way_is_measured(tmp_path):
    best = measure(workspace(20, tmp_path), 1)
    assert len(best) == 5
    assert all(0 < seconds < 600 for seconds in best.values())


def test_the_plain_way_reads_what_there_is(tmp_path):
    (tmp_path / "a.md").write_text("four")
    assert plain([str(tmp_path)]) == bare([str(tmp_path)]) == 4
