"""Results of other tools: each trap of their formats is a case, with what becomes of it.

The cases are those of `tests/kept/tools.txt`.
"""

from __future__ import annotations

import io
import json
import random
import re
import shutil
import struct
import textwrap
import zipfile
import zlib
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import skill_eval_nb as sen
from bench.fuzzing import damage
from skill_eval_nb.documents import tools
from skill_eval_nb.tables import TABLES, check
from tests.cases import Case, case, cases
from tests.corpus.build import graded, lay, said
from tests.golden import lines_of
from tests.workspace.test_shapes import lines_of_workspace

WITH, WITHOUT = "with_skill", "without_skill"
KEY, SECRET = "sk-ant-REDACTED", "planted-5f2c91ab-value"
"""What stands in the files where a secret may."""
SIDES = {
    "waza: files that an argument tells apart": {"x.json": WITHOUT, "*y.json": WITH},
    "waza: an argument for a file that is not there": {"z.json": WITH},
    "inspect: the side by our argument": "said",
    "inspect: the side by the arguments of its task, whatever ours says": "said",
    "inspect: the side by a tag, whatever our argument says": "said",
}
"""What `load` is told of the sides, by the title of the case."""
MORE = {
    "runs": "harness judge_model skill_used steps tokens_cached cost_usd",
    "rubric_scores": "judging weight",
    "expectations": "configuration evidence",
    "comparisons": "comparison winner side configuration",
}
"""What is kept besides what is kept of every shape."""


@pytest.mark.parametrize("case", cases("tools"))
def test_what_other_tools_write_is_read_as_what_it_is(tmp_path: Path, case: Case) -> None:
    folder = lay(tmp_path / "all", case.files)
    ws = sen.load(folder, configuration=SIDES.get(case.title))
    lines = [*lines_of_workspace(ws, MORE)]
    if ws.stated.height:
        audit = sen.stats.audit(ws).select("configuration", "agrees")
        lines += lines_of(audit.to_dict(as_series=False), "audit")
    case.hold(lines)
    assert ws.again().runs.equals(ws.runs)


# ── logs that are zips ───────────────────────────────────────────────────────────────────────


def members(log: dict[str, Any]) -> dict[str, bytes]:
    """The files of a log that is a zip."""
    header = {key: value for key, value in log.items() if key != "samples"}
    samples = {f"samples/{one['id']}_epoch_{one['epoch']}.json": one for one in log["samples"]}
    return {
        name: json.dumps(part).encode() for name, part in {"header.json": header, **samples}.items()
    }


def zipped(log: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, data in members(log).items():
            file.writestr(name, data)
    return out.getvalue()


def zstandard(log: dict[str, Any]) -> bytes:
    """The same zip packed as newer logs are, which not every Python unpacks: written by hand."""
    body, directory = b"", b""
    for name, data in members(log).items():
        packed = pa.compress(data, codec="zstd", asbytes=True)
        label, sizes = name.encode(), (zlib.crc32(data), len(packed), len(data))
        head = struct.pack("<HHHHHIIIHH", 20, 0, 93, 0, 33, *sizes, len(label), 0)
        central = struct.pack("<HHH", 0, 0, 0) + struct.pack("<II", 0, len(body))
        directory += b"PK\x01\x02" + struct.pack("<H", 20) + head + central + label
        body += b"PK\x03\x04" + head + label + packed
    n = len(log["samples"]) + 1
    counts = struct.pack("<HHHHIIH", 0, 0, n, n, len(directory), len(body), 0)
    return body + directory + b"PK\x05\x06" + counts


LOGS = case("tools", "inspect: C, P and I are 1, ½ and 0; an epoch is a run")


@pytest.mark.parametrize("pack", [zipped, zstandard])
def test_a_log_that_is_a_zip_is_read_as_the_same_in_json(tmp_path: Path, pack: Any) -> None:
    packed = {path.replace(".json", ".eval"): pack(LOGS.json(path)) for path in LOGS.files}
    told = [
        "\n".join(lines_of_workspace(sen.load(lay(tmp_path / f"{at}" / "all", files)), MORE))
        for at, files in enumerate((LOGS.files, packed))
    ]
    assert re.sub(r"\.eval\b", ".json", told[1]) == told[0]


def test_what_is_whole_of_a_torn_log_is_read(tmp_path: Path) -> None:
    log = LOGS.json("logs/a.json")
    files = {
        "a.eval": zipped(log).replace(b'"epoch": 2', b'"epoch": 4', 1),  # its sum is wrong
        "b.eval": zstandard(log).replace(b"\x28\xb5\x2f\xfd", b"torn"),
        "results.eval": b"PK\x03\x04 no zip",
    }
    ws = sen.load(lay(tmp_path, files))
    assert ws.runs["pass_rate"].to_list() == [1.0, 0.0]
    torn = "samples/s1_epoch_2.json cannot be read: Bad CRC-32 for file 'samples/s1_epoch_2.json'"
    unpacked = "header.json: ZSTD decompression failed: Unknown frame descriptor"
    assert said(ws, "error") == [
        f"a.eval {torn}; the run is left out",
        f"b.eval this file cannot be read: {unpacked}",
        "results.eval this file cannot be read: File is not a zip file",
    ]


# ── all of them ──────────────────────────────────────────────────────────────────────────────


def every(folder: Path) -> Path:
    """Files of each tool, with a key or a secret wherever one may stand, and one that is a zip."""
    files = case("tools", "every tool, with a key or a secret wherever one may stand")
    log = files.json("i/logs/a.json")
    log["eval"]["eval_id"] = "zipped"
    return lay(folder, files.files | {"i/logs/b.eval": zipped(log)})


def test_all_beside_each_other(tmp_path: Path) -> None:
    """All tools and our own below one folder: each in its workspace, and the same as alone."""
    folder = every(tmp_path)
    ws = sen.load(folder)
    alone = [sen.load(one).runs for one in sorted(folder.iterdir())]
    assert ws.runs["workspace"].n_unique() == 9
    assert sorted(map(str, ws.runs["pass_rate"])) == sorted(
        str(rate) for frame in alone for rate in frame["pass_rate"]
    )
    assert [one.code for one in check(folder)].count("tool") == 8
    alone_too = {"aggregate-result.json", "results.jsonl", "output.json", "with_skill.json"}
    for path in folder.rglob("*"):
        assert path.name not in alone_too or sen.load(path).runs.height


def test_no_secret_comes_through(tmp_path: Path) -> None:
    """No key or secret of a file is in a table, on a page, in a message or in what is written."""
    ws = sen.load(every(tmp_path / "in"))
    cells = [{"task": f"a {KEY}", "arm": "x", "passed": f"api_key={SECRET}", "model": KEY}]
    both = (ws, sen.from_table(cells))
    told = "".join(one.polars(name).write_json() for one in both for name in TABLES)
    sen.report.write_report(ws, tmp_path / "out")
    told += "".join(path.read_text() for path in (tmp_path / "out").rglob("*") if path.is_file())
    told += "".join(str(problem) for problem in check(tmp_path / "in"))
    told += repr(ws) + ws._repr_html_()
    assert [secret for secret in (SECRET, KEY[:20]) if secret in told] == []
    assert "[hidden]" in told  # where one stood in a text that is shown


def test_damage_ends_in_no_exception(tmp_path: Path) -> None:
    """Whatever is broken of these files, what is left is read, and the rest is a problem."""
    whole = every(tmp_path / "whole")
    lay(whole, {"i/logs/b.eval": zstandard(LOGS.json("logs/a.json"))})
    lay(whole, {"b/task/with_skill/trial-1/reward.txt": "0.5"})
    for seed in range(8):
        chance = random.Random(seed)
        folder = tmp_path / str(seed)
        shutil.copytree(whole, folder)
        done = [damage(folder, chance) for _ in range(6)]
        ws = sen.load(folder)
        assert all(ws.polars(name) is not None for name in TABLES), done
        check(folder)
        for rate in ("pass_rate", "overall_efficiency"):
            assert ws.runs[rate].drop_nulls().is_between(0, 1).all(), done


@pytest.mark.parametrize("deep", [150, 700, 20_000])
def test_what_nobody_knows_may_be_deep(tmp_path: Path, deep: int) -> None:
    """However deep a part lies that is not read, the file is, or a problem says why not."""
    title = "plugin eval: a grader may want that the skill is not used"
    [whole] = case("tools", title).files.values()
    nested = f'{whole[:-1]}, "unknown": {"[" * deep}1{"]" * deep}}}'
    ws = sen.load(lay(tmp_path, {"aggregate-result.json": nested, "a/g.json": graded("p")}))
    assert ws.runs.height == 1 or "not-json" in set(ws.problems["code"])


def test_registered_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader of the documentation, registered: asked for what nothing else knows, it reads.

    Its faults end no load.
    """
    *_, example = (tools.Tool.__doc__ or "").split("may be no more than::")
    code = {"our_harness/skill_eval.py": textwrap.dedent(example), "our_harness/__init__.py": ""}
    monkeypatch.syspath_prepend(str(lay(tmp_path / "installed", code)))
    entry = EntryPoint("our-harness", "our_harness.skill_eval", tools.GROUP)
    monkeypatch.setattr(tools, "entry_points", lambda group: [entry] * (group == tools.GROUP))
    monkeypatch.setattr(tools, "_others", tools._others.__wrapped__)  # what is found is kept
    trials = [
        {"task": "a", "skill_on": on, "checks": [{"name": "x", "ok": on}]} for on in (True, False)
    ]
    raw = {"our_harness": 1, "skill": "pdf", "trials": trials}
    ws = sen.load(lay(tmp_path / "ws", {"results.json": raw}))
    found = ws.runs.select("configuration", "pass_rate", "skill").rows()
    assert sorted(found) == [(WITH, 1.0, "pdf"), (WITHOUT, 0.0, "pdf")]
    reader = entry.load()
    monkeypatch.setattr(reader, "read", lambda *_: 1 / 0)
    assert "reader-failed" in set(sen.load(tmp_path / "ws").problems["code"])
    lay(tmp_path / "ws", {"mine/grading.json": graded("p")})
    monkeypatch.setattr(reader, "recognise", lambda _: 1 / 0)
    with pytest.warns(
        UserWarning, match="'our-harness' .* failed on a file with ZeroDivisionError"
    ):
        assert sen.load(tmp_path / "ws").runs.height == 1


def test_real_files(others: Path) -> None:
    """What the tools themselves have written: every file is known, and no run is left ungraded."""
    for name, runs in (("claude-plugin-eval", 21), ("harbor", 7), ("reward-txt", 18), ("waza", 55)):
        ws = sen.load(others / name)
        assert ws.runs.height == runs, name
        assert set(ws.runs["status"]) == {"graded"}, name
        assert "error" not in set(ws.problems["severity"]), name
    audit = sen.stats.audit(sen.load(others / "claude-plugin-eval"))
    assert audit["agrees"].to_list() == [True] * 3
    assert sen.load(others / "inspect_ai").runs.height == 5
