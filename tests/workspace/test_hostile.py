"""What a new user, a broken disk or a joker may put in the way: each gets a clear answer."""

from __future__ import annotations

import html
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import skill_eval_nb as sen
from skill_eval_nb.documents.dialects import NEUTRAL, read_as_shared
from skill_eval_nb.stats.checks import are_same_checks
from skill_eval_nb.tables.conversion import convert
from tests.checkout import ROOT
from tests.corpus.build import graded, keys, lay, row, said
from tests.documents.examples import ALL, EXAMPLES
from tests.documents.generated import ANY_JSON

RUN = "iteration-1/eval-0/with_skill/run-1"
GRADING = f"{RUN}/grading.json"
OTHER = "iteration-1/eval-0/without_skill/run-1"
SOUND = {f"{OTHER}/grading.json": graded("pf")}
SOUND_KEY = ("ws", "iteration-1", "0", "without_skill", 1, 0.5)


@pytest.fixture
def ws_folder(tmp_path: Path) -> Path:
    return tmp_path / "ws"


def load_with(folder: Path, files: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """A workspace, and its run at RUN, beside a sound one that nothing may disturb."""
    ws = sen.load(lay(folder, SOUND | files))
    assert SOUND_KEY in keys(ws)
    (run,) = [run for run in ws.runs.to_dicts() if run["configuration"] == "with_skill"]
    return ws, run


# ── the file system ──────────────────────────────────────────────────────────────────────────

LOADING = """
import json, os, resource, sys
import polars, skill_eval_nb as sen
path, locked = sys.argv[1:]
if locked:
    sen.load(path).tables()  # what is imported late is imported while everything may be read
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    assert not os.access(locked, os.R_OK)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    ws = sen.load(path)
    told = ws.runs["configuration"].to_list(), ws.problems.select("code", "path", "message").rows()
except sen.NothingToLoad as error:
    told = [], [("", "", str(error))]
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([*told, (after - before) / 1024]))
"""


def load_apart(folder: Path, locked: str | Path = "") -> Any:
    """Sides, problems and megabytes of a load in a process that is stopped where it hangs.

    With a path that is locked, as a user whom permissions bind: root may read everything.
    """
    done = subprocess.run(
        [sys.executable, "-c", LOADING, folder, locked],
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        timeout=60,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter; pytest's own is for its user alone."""
    folder = Path(tempfile.mkdtemp(prefix="ws-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_what_cannot_be_read_neither_hangs_nor_fills_the_memory(open_folder: Path) -> None:
    """What may not be read, 200 MB, and pipes: each is a problem; alone it is nothing to load."""
    locked = [f"iteration-1/eval-{n}/with_skill" for n in (1, 2)]
    locked[1] += "/grading.json"
    folder = lay(open_folder / "ws", SOUND | {f"{GRADING}": graded("p"), locked[1]: graded("p")})
    lay(folder, {f"{locked[0]}/grading.json": graded("p")})
    large = [f"{RUN}/{name}.json" for name in ("timing", "eval_metadata")]
    for name in large:
        os.truncate(lay(folder, {name: ""}) / name, 200 * 1024 * 1024)
    for pipe in (folder / f"{RUN}/structural.json", alone := open_folder / "benchmark.json"):
        os.mkfifo(pipe)
    for name in locked:
        (folder / name).chmod(0o000)
    sides, problems, megabytes = load_apart(folder, folder / locked[1])
    told = {path: (code, message) for code, path, message in problems}
    assert "without_skill" in sides
    assert [told[name][0] for name in locked] == ["no-permission"] * 2
    assert [told[name][0] for name in large] == ["too-large"] * 2
    assert "MB" in told[large[0]][1]
    assert "not a regular file" in told[f"{RUN}/structural.json"][1]
    assert megabytes < 150
    assert "benchmark.json" in str(load_apart(alone))
    (folder / locked[0]).chmod(0o755)


# ── what may be large ────────────────────────────────────────────────────────────────────────


def calls(work: Callable[[], Any]) -> int:
    """How many functions are called in some work."""
    count = 0

    def counted(_: Any, event: str, __: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def repaired(raw: Any) -> Callable[[], Any]:
    return partial(read_as_shared, "benchmark", raw)


LINEAR: dict[str, Callable[[int, Path], Callable[[], Any]]] = {
    "rows to repair": lambda n, _: repaired(
        {"runs": [{"eval_id": i, "score": i} for i in range(n)]}
    ),
    "evals of one id": lambda n, folder: (
        sen.load(lay(folder, {"evals.json": {"evals": [{"id": 0, "prompt": "p"}] * n}})).tables
    ),
    "evals of a comparison": lambda n, folder: partial(
        sen.charts.forest,
        sen.load(lay(folder, {"iteration-1/benchmark.json": {"runs": many_runs(n // 4)}})),
        together=True,
    ),
}


def many_runs(n: int) -> list[dict[str, Any]]:
    return [row(i, side, "pf") for i in range(n) for side in ("with_skill", "without_skill")]


@pytest.mark.parametrize("made", LINEAR)
def test_what_is_many_times_there_is_read_and_drawn_in_linear_time(
    tmp_path: Path, made: str
) -> None:
    """What is imported and made once comes before."""
    work = [LINEAR[made](n, tmp_path / str(n) / "ws") for n in (8, 150, 300)]
    _, once, twice = map(calls, work)
    assert once > 500
    assert twice < 2.5 * once


@pytest.mark.parametrize(
    "content",
    [
        json.dumps({f"score_{n}": n for n in range(10_000)})[:-1] + ', "score_5": 5}',
        json.dumps([[0.5] * 250_000]),
    ],
)
@pytest.mark.parametrize(
    "name", ["iteration-1/benchmark.json", f"{RUN}/grading.json", "evals.json"]
)
def test_what_is_too_large_to_repair_is_named_and_costs_no_repair(
    ws_folder: Path, name: str, content: str
) -> None:
    """To repair it takes more calls than it has values."""
    lay(ws_folder, {**SOUND, name: content})
    rows: list[Any] = []
    assert calls(lambda: rows.extend(sen.load(ws_folder).problems.to_dicts())) < 60_000
    assert [row["path"] for row in rows if row["code"] == "too-large"] == [name]


@pytest.mark.parametrize("place", [GRADING, f"{RUN}/judgings/1.json"])
def test_more_rubric_dimensions_than_anybody_writes_are_refused(
    ws_folder: Path, place: str
) -> None:
    """Each would be a metric in every comparison."""
    scores = {f"d{n}": {"score": 4} for n in range(501)}
    files = {GRADING: graded("pf"), place: graded("pf", rubric_scores=scores)}
    ws, run = load_with(ws_folder, files)
    (problem,) = ws.problems.filter(code="too-large").to_dicts()
    assert (problem["severity"], problem["where"]) == ("error", "$.rubric_scores")
    assert "501 rubric dimensions" in problem["message"]
    assert RUN in problem["path"]
    assert (run["pass_rate"], ws.rubric_scores.height) == (0.5, 0)


def test_checks_of_pages_are_not_held_against_each_other_by_their_words() -> None:
    """Twenty a side took a quarter of a minute, in every comparison."""
    draw = random.Random(1)
    words = ["".join(draw.choices("etaoinshrdlu", k=6)) for _ in range(300)]
    ones, others = ([(None, " ".join(draw.choices(words, k=350))) for _ in "x" * 20] for _ in "ab")
    assert calls(lambda: are_same_checks(ones, others)) < 1_000


KINDS = {kind: raw for _, kind, raw in ALL} | {
    "judging": {"judging": 1, "rubric_scores": {"tone": {"score": 4, "evidence": "line 1"}}}
}
PLACES = "{}.json iteration-1/{}-1.json iteration-2/{}.json iteration-1/eval-9/{}.json".split()


@pytest.mark.parametrize("place", PLACES)
def test_a_document_of_any_kind_at_any_place_has_rows_or_is_a_problem(
    tmp_path: Path, place: str
) -> None:
    """And what of it has no rows ends no conversion."""
    assert KINDS.keys() == NEUTRAL.keys()
    sound = sen.load(lay(tmp_path / "ws", SOUND)).tables()
    for kind, raw in KINDS.items():
        path = place.format(kind)
        folder = lay(tmp_path / kind / "ws", {**SOUND, path: raw})
        tables = (ws := sen.load(folder)).tables()
        is_used = any(len(tables[name]) > len(sound[name]) for name in {*tables} - {"problems"})
        assert is_used or kind == "eval_metadata" or any(path in text for text in said(ws)), kind
        convert(folder, tmp_path / kind / "out")


# ── names, and places ────────────────────────────────────────────────────────────────────────


NAMES = [
    "quo'te\"s",
    "new\nline",
    "<img src=x onerror=alert(1)>",
    "a" * 200,
]


@pytest.mark.parametrize("name", NAMES)
def test_names_are_kept_as_they_are_and_escaped_where_they_are_shown(
    tmp_path: Path, name: str
) -> None:
    """Of a workspace, an eval and a configuration."""
    sides = {f"iteration-1/{name}/with_skill": (name, "with_skill"), OTHER: ("0", "without_skill")}
    sides[f"iteration-1/eval-0/{name}"] = ("0", name)
    ws = sen.load(lay(tmp_path / name, {f"{at}/grading.json": graded("pf") for at in sides}))
    assert [key[1:] for key in keys(ws)] == sorted(
        ("iteration-1", *side, 1, 0.5) for side in sides.values()
    )
    shown = ws._repr_html_()
    assert "<img src=x" not in shown
    assert html.escape(name)[:20] in shown.replace("&#39;", "&#x27;").replace("&#34;", "&quot;")


def test_a_name_that_is_not_utf_8(ws_folder: Path) -> None:
    """The tables hold text that can be written out again."""
    folder = os.fsencode(lay(ws_folder, SOUND)) + b"/iteration-1/eval-\xff\xfe/with_skill"
    lay(Path(os.fsdecode(folder)), {"grading.json": graded("pf")})
    ws, run = load_with(ws_folder, {})
    assert run["pass_rate"] == 0.5
    for value in (*run.values(), *said(ws), ws._repr_html_()):
        str(value).encode("utf-8")


# ── what a file may hold ─────────────────────────────────────────────────────────────────────

TWO_OF_THREE = json.dumps(graded("ppf"))


UNREADABLE = {
    "an empty file": "",
    "half a file": TWO_OF_THREE[:60],
    "no UTF-8 at all": b"\xff\xfe\xfa\x00\x80",
    "null": "null",
    "an empty object": "{}",
    "deep nesting": "[" * 100_000,
    "deep results": '[{"results":' * 480 + "1" + "}]" * 480,
    "a number of a million digits": '{"expectations": ' + "9" * 1_000_000 + "}",
}
BESIDE = [f"{RUN}/{name}.json" for name in ("timing", "eval_metadata", "metrics")]
ABOVE = ["evals.json", "iteration-1/benchmark.json", "history.json"]


@pytest.mark.parametrize("content", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_cannot_be_read_is_a_problem_and_no_result(
    tmp_path: Path, content: str | bytes
) -> None:
    """For a grading; and beside and above one, which it does not spoil."""
    ws, run = load_with(tmp_path / "of it" / "ws", {GRADING: content})
    assert (run["status"] == "graded", run["pass_rate"]) == (False, None)
    assert [text for text in said(ws) if GRADING in text]
    broken = dict.fromkeys(BESIDE + ABOVE, content)
    ws, run = load_with(tmp_path / "beside" / "ws", {GRADING: graded("ppf"), **broken})
    assert (run["passed"], run["failed"], run["tokens"], ws.runs.height) == (2, 1, None, 2)
    if content != "{}":
        assert [name for name in broken if not any(name in text for text in said(ws))] == []


def enlarged(value: Any, huge: Any) -> Any:
    """A document with the same number wherever one stands."""
    if isinstance(value, dict):
        return {key: enlarged(item, huge) for key, item in value.items()}
    if isinstance(value, list):
        return [enlarged(item, huge) for item in value]
    return huge if type(value) in (int, float) else value


@pytest.mark.parametrize("huge", [2**64, 10**400, -(2**64)], ids="abc")
def test_more_than_any_table_can_hold_raises_nowhere(ws_folder: Path, huge: Any) -> None:
    """In any document of any dialect, wherever a number may stand."""
    files = {f"{dialect}/{RUN}/{kind}.json": enlarged(raw, huge) for dialect, kind, raw in ALL}
    judging = {"rubric_scores": {"clarity": {"score": huge, "weight": huge}}, "judging": huge}
    ws = sen.load(lay(ws_folder, {**files, f"{RUN}/judgings/1.json": judging}))
    assert len(ws.tables()["runs"]) > len(EXAMPLES)
    assert ws.rubric_scores["score"].drop_nulls().is_between(1, 5).all()


# ── anything at all ──────────────────────────────────────────────────────────────────────────


def keyed(words: str) -> st.SearchStrategy[Any]:
    return st.dictionaries(st.sampled_from(words.split()), ANY_JSON)


NEARLY = {
    GRADING: st.fixed_dictionaries(
        {"expectations": st.lists(keyed("text passed evidence"), max_size=4) | ANY_JSON},
        optional=dict.fromkeys(("summary", "rubric_scores", "claims"), ANY_JSON),
    ),
    f"{RUN}/timing.json": keyed("total_tokens duration_ms total_duration_seconds"),
    "iteration-1/benchmark.json": st.fixed_dictionaries(
        {"runs": st.lists(keyed("eval_id configuration run_number result pass_rate"), max_size=3)},
        optional=dict.fromkeys(("run_summary", "metadata", "notes"), ANY_JSON),
    ),
}
RATES = ("pass_rate", "structural_pass_rate", "rubric_normalized", "overall_efficiency")
AMOUNTS = ("tokens", "time_seconds", "tool_calls", "cost_usd")


@pytest.mark.parametrize("name", NEARLY)
@settings(suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_json_raises_or_gives_a_rate_outside_0_to_1(name: str, data: st.DataObject) -> None:
    content = data.draw(ANY_JSON | NEARLY[name])
    with tempfile.TemporaryDirectory() as folder:
        files = {GRADING: graded("pf"), name: json.dumps(content)}
        ws = sen.load(lay(Path(folder, "ws"), SOUND | files))
        tables = ws.tables()
    assert SOUND_KEY in keys(ws)
    for run in tables["runs"].to_dicts():
        assert all(run[rate] is None or 0 <= run[rate] <= 1 for rate in RATES)
        assert all(run[amount] is None or run[amount] >= 0 for amount in AMOUNTS)
        scored = run["pass_rate"] is not None or run["rubric_normalized"] is not None
        assert (run["status"] == "graded") == scored
    assert ws._repr_html_()
