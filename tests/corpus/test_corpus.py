"""Real workspaces: what they hold, counted by hand, by plain walking, and by `load`.

The figures of `EXPECTED` are the truth as a person reads it in the files. `walk_runs` has to
reproduce them without the package, and `load` with it. Where the three disagree, look at the
files before you touch a figure.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest


class Figures(NamedTuple):
    """What a repository holds. Iterations are counted in each workspace for itself."""

    graded: int
    runs: int
    iterations: int
    configurations: str = ""


WITH_AND_WITHOUT = "with_skill without_skill"
ALL_FOUR = "new_skill old_skill with_skill without_skill"
DEFINITIONS_ONLY = Figures(0, 0, 0)

EXPECTED = {
    # Six gradings below a benchmark.json that says `runs: []`.
    "0xrafasec+ai-workflow": Figures(6, 6, 1, WITH_AND_WITHOUT),
    # One benchmark.json with nothing in it.
    "99darwin+obsidian-vault-scaffolder": Figures(0, 0, 0),
    # Eight benchmarks of a shape of their own: `per_case` has the verdicts, no configuration.
    "AfterRealm+roast-my-code": Figures(44, 44, 8, "unstated"),
    # One of 18 gradings has `passed: null` throughout: the response never came.
    "Arindam200+nebius-skills": Figures(17, 18, 1, WITH_AND_WITHOUT),
    # One grading.json in the iteration's folder: no eval, no configuration.
    "Blzw23+real-search-skill": Figures(1, 1, 1, "unstated"),
    # A benchmark.json with a run_summary and a list of cases, but no result of any run.
    "Integral-Productivity+holacracy-claude-plugin": Figures(0, 0, 0),
    # 43 gradings. The benchmarks repeat them, those of earlier iterations too, under names
    # like `with_skill (iter4)`: not one of their rows is a run of its own.
    "Kelet-ai+skills": Figures(43, 43, 10, WITH_AND_WITHOUT),
    # grading_with_skill.json beside grading_without_skill.json, four times.
    "LoonanChauvette+splashr": Figures(8, 8, 1, WITH_AND_WITHOUT),
    "Newsleopard+nlm-open-skills": DEFINITIONS_ONLY,
    # 14 workspaces, 62 iterations. Some benchmarks call the folder `old_skill` `without_skill`.
    "SeoJaeWan+try-claude-code": Figures(386, 386, 62, ALL_FOUR),
    # Verdicts under `evaluations`; the second benchmark.json repeats the first iteration.
    "ZhaoRuidong+code2design": Figures(4, 4, 2, WITH_AND_WITHOUT),
    "alainbrown+stack-agent": Figures(10, 10, 2, WITH_AND_WITHOUT),
    "alex-robert-fr+better-skill-creator": Figures(6, 6, 1, WITH_AND_WITHOUT),
    "andysolomon+arc-skill-eval": DEFINITIONS_ONLY,
    # One grading.json in an `evals` folder, 18 runs that only a benchmark.json tells of, and
    # two copies of a benchmark.json that sums up the runs of 6 evals on 2 sides as "3/3":
    # each eval and side is one row with that rate, and a problem says that it is of 3 runs.
    "anthropics+skills": Figures(43, 43, 4, "unstated " + WITH_AND_WITHOUT),
    # Two workspaces of one iteration each.
    "arianvp7+void-digital-studio": Figures(12, 12, 2, WITH_AND_WITHOUT),
    "az9713+steelman-redteam-skill": Figures(6, 6, 1, WITH_AND_WITHOUT),
    "coroboros+agent-skills": DEFINITIONS_ONLY,
    # Benchmark only.
    "fmschulz+stop-overengineering": Figures(10, 10, 1, WITH_AND_WITHOUT),
    "gdiab+x-research-skill": DEFINITIONS_ONLY,
    # Benchmark only.
    "ikkeseb+homelab-companion": Figures(8, 8, 1, WITH_AND_WITHOUT),
    # Benchmark only, pass rates in percent; iteration-5 and iteration-5b are two.
    "jaehoonE7877+rubrix": Figures(150, 150, 6, "baseline with_skill"),
    # 702 gradings. Six at configuration level repeat the run-1 below them; six lie in two
    # eval folders, byte for byte. One is not JSON (unescaped quotes) and readable all the same.
    "japurcell+skills": Figures(690, 690, 85, ALL_FOUR),
    "jellydn+my-ai-tools": DEFINITIONS_ONLY,
    # No iteration folder.
    "kyzdes+vps-ninja": Figures(6, 6, 1, WITH_AND_WITHOUT),
    # grading/<configuration>_<eval>_run<n>.json with `assertions_met` and `assertions_missed`.
    # The benchmark.json beside has only "3/3" for each eval.
    "m2015agg+supabase-skill": Figures(36, 36, 1, WITH_AND_WITHOUT),
    # Eleven rows of two benchmarks, both configurations in each row.
    "melanie531+sample-agent-skill-eval": Figures(22, 22, 2, WITH_AND_WITHOUT),
    # Four iterations, `tier2` and `tier3`; benchmark only, with eval_metadata.json beside.
    "rladies+grimoire": Figures(116, 116, 6, WITH_AND_WITHOUT),
    "sidecorner+research-beauty-idea-skills": Figures(6, 6, 1, WITH_AND_WITHOUT),
}
REPOSITORIES = list(EXPECTED)
each = pytest.mark.parametrize("name", REPOSITORIES)


@cache
def loaded(repository: Path) -> Any:
    """A repository, loaded once for all tests."""
    import skill_eval_nb as sen

    return sen.load(repository, backend="polars")


@cache
def raw(repository: Path) -> list[Run]:
    """The runs of a repository by plain walking."""
    return walk_runs(repository)


def below(repository: Path, path: str) -> str:
    """A path of a table as a path below the repository."""
    at = Path(path)
    return at.relative_to(repository).as_posix() if at.is_absolute() else at.as_posix()


def documented(path: str) -> bool:
    """Whether a run lies where runs are documented to lie, not in lifecycle-func-v1.json."""
    return "-func-" not in path


def run_rows(repository: Path) -> list[dict[str, Any]]:
    rows = loaded(repository).runs.to_dicts()
    rows = [row | {"path": below(repository, row["path"])} for row in rows]
    return [row for row in rows if documented(row["path"])]


def problem_paths(repository: Path) -> set[str]:
    return {below(repository, row["path"]) for row in loaded(repository).problems.to_dicts()}


def figures(rows: list[dict[str, Any]]) -> Figures:
    return Figures(
        sum(row["status"] == "graded" for row in rows),
        len(rows),
        len({(row["workspace"], row["iteration"]) for row in rows}),
        " ".join(sorted({row["configuration"] for row in rows})),
    )


def test_every_repository_of_the_corpus_has_its_figures(corpus: Path) -> None:
    """A repository that is added to the corpus must be looked at, and written down here."""
    assert sorted(EXPECTED) == sorted(entry.name for entry in corpus.iterdir() if entry.is_dir())


@each
def test_plain_walking_and_load_give_the_figures(corpus: Path, name: str) -> None:
    found = raw(corpus / name)
    counted = Figures(
        sum(run.graded for run in found),
        len(found),
        len({(run.workspace, run.iteration) for run in found}),
        " ".join(sorted({run.configuration for run in found})),
    )
    assert counted == EXPECTED[name] == figures(run_rows(corpus / name))


@each
def test_each_run_on_disk_has_the_verdicts_of_its_files(corpus: Path, name: str) -> None:
    """Configuration, iteration, run number, and the expectations that passed and failed.

    None is missing unless a problem names it.
    """
    repository = corpus / name
    rows = {(row["configuration"], row["path"]): row for row in run_rows(repository)}
    named = problem_paths(repository)
    for run in raw(repository):
        at = [(run.configuration, path) for path in run.paths if (run.configuration, path) in rows]
        if not at:
            assert named & set(run.paths), run.paths
        if not at or not run.on_disk:
            continue
        row = rows[at[0]]
        assert (row["iteration"], row["run_number"]) == (run.iteration, run.run_number), at
        assert run.eval_id in (None, row["eval_id"], row["eval_name"]), at
        assert row["total"] == len(run.verdicts), at
        if run.graded:
            assert (row["passed"], row["failed"]) == (run.passed, run.failed), at
            assert row["pass_rate"] == pytest.approx(run.passed / (run.passed + run.failed)), at
        else:
            assert row["pass_rate"] is None, at


@each
def test_runs_of_a_benchmark_have_its_verdicts(corpus: Path, name: str) -> None:
    """Key for key: the runs that only a benchmark.json tells of."""
    repository = corpus / name
    stated = sorted(
        (run.paths[0], run.iteration, *run.key[2:], run.passed, run.failed)
        for run in raw(repository)
        if not run.on_disk and run.verdicts
    )
    columns = ("path", "iteration", "eval_id", "configuration", "run_number", "passed", "failed")
    found = sorted(
        tuple(row[column] for column in columns)
        for row in run_rows(repository)
        if row["path"].endswith("benchmark.json") and row["passed"] is not None
    )
    assert [_no_tier(key) for key in found] == stated


def _no_tier(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """`tier2` may be read as an iteration or as a workspace: nothing in the files decides."""
    return (key[0], "none", *key[2:]) if key[1].startswith("tier") else key


# ── a second opinion: the runs, counted by plain walking over the raw files ──────────────────────
#
# Nothing here uses the package. It knows less than the loader has to know, and only what can be
# seen with one's own eyes in the files of the corpus, so that the two can be held against each
# other. What counts as a run:
#
# - a folder (or file) with a grading that holds at least one expectation, scored or not;
# - a row of a benchmark.json below which no gradings lie. Where gradings do lie below, the rows
#   of the corpus only repeat them (often under another name: `without_skill` for the folder
#   `old_skill`, `with_skill (iter4)` for `iteration-4/…/with_skill`), and add no run.
#
# The same run found twice (at configuration level and at run level below, or in two eval folders
# with the same eval_id and the same verdicts) is one run with the paths of both.

Verdict = bool | None
"""Passed, failed, or not scored."""

LISTS = ("expectations", "evaluations", "assertion_results", "assertion_details")
WORDS = {"pass": True, "fail": False, "true": True, "false": False, "null": None}
GRADING = re.compile(r"grading(?:[-_](?P<configuration>.+))?\.json")
IN_GRADING_FOLDER = re.compile(
    r"(?P<configuration>with(?:out)?_skill)_(?P<eval>.+)_run(?P<n>\d+)\.json"
)
RUN_FOLDER = re.compile(r"run[-_]?(\d+)")
EVAL_FOLDER = re.compile(r"eval[-_](\d+)")


@dataclass(frozen=True)
class Run:
    """A run as it lies on disk. `eval_id` is None where no file and no number gives one."""

    workspace: str
    iteration: str
    eval_folder: str
    eval_id: str | None
    configuration: str
    run_number: int
    verdicts: tuple[Verdict, ...]
    paths: tuple[str, ...]
    on_disk: bool = True
    summed_up: bool = False
    """Whether only a rate over several runs is told, and no verdict."""

    @property
    def passed(self) -> int:
        """Expectations that passed."""
        return self.verdicts.count(True)

    @property
    def failed(self) -> int:
        """Expectations that failed."""
        return self.verdicts.count(False)

    @property
    def graded(self) -> bool:
        """Whether anything was scored."""
        return self.passed + self.failed > 0 or self.summed_up

    @property
    def key(self) -> tuple[str, str, str, str, int]:
        """What makes it this run and no other."""
        named = self.eval_id or self.eval_folder
        return self.workspace, self.iteration, named, self.configuration, self.run_number


def walk_runs(repository: Path) -> list[Run]:
    """Every run of a repository, each once."""
    files = list(_json_files(repository))
    found: dict[tuple[Any, ...], Run] = {}
    for path in files:
        if run := _graded(repository, path):
            found[run.key] = _merged(found[run.key], run) if run.key in found else run
    places = [Path(path) for run in found.values() for path in run.paths]
    for path in files:
        if path.name == "benchmark.json" and not any(
            path.parent in place.parents for place in places
        ):
            for run in _stated(repository, path):
                assert run.key not in found, f"two rows with one key: {run}"
                found[run.key] = run
    return list(found.values())


def read_json(path: Path) -> Any:
    """The JSON of a file, raw control characters allowed; None where it is not JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"), strict=False)
    except json.JSONDecodeError:
        return None


def verdicts(document: Any) -> tuple[Verdict, ...]:
    """The verdicts that a document holds, in order."""
    if not isinstance(document, dict):
        return ()
    if "assertions_met" in document:
        met, missed = document["assertions_met"], document["assertions_missed"]
        return (True,) * len(met) + (False,) * len(missed)
    for name in LISTS:
        if isinstance(elements := document.get(name), list) and elements:
            return tuple(_verdict(element) for element in elements)
    return ()


def _verdict(element: dict[str, Any]) -> Verdict:
    value = next(element[name] for name in ("passed", "result", "grade") if name in element)
    return WORDS[value.lower()] if isinstance(value, str) else value


def _verdicts_in_text(path: Path) -> tuple[Verdict, ...]:
    """The verdicts of a grading that is not quite JSON, found by their pattern."""
    found = re.findall(r'"passed"\s*:\s*(true|false|null)', path.read_text(encoding="utf-8"))
    return tuple(WORDS[word] for word in found)


def _json_files(repository: Path) -> Iterator[Path]:
    """Every JSON file, as a path below the repository, in a fixed order."""
    for folder, folders, names in os.walk(repository):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".json"):
                yield Path(folder, name).relative_to(repository)


def _graded(repository: Path, path: Path) -> Run | None:
    """The run that a file grades, if it is a grading."""
    flat = IN_GRADING_FOLDER.fullmatch(path.name) if path.parent.name == "grading" else None
    named = GRADING.fullmatch(path.name)
    if not flat and not named:
        return None
    found = verdicts(read_json(repository / path)) or _verdicts_in_text(repository / path)
    if not found:
        return None
    folders = list(path.parent.parts)
    if flat:
        where = (*_place(folders[:-1]), flat["eval"], flat["eval"])
        return Run(*where, flat["configuration"], int(flat["n"]), found, (path.as_posix(),))
    # Either the folder or the file may be given as where the run was read from.
    paths = (path.parent.as_posix(), path.as_posix())
    number = 1
    if match := RUN_FOLDER.fullmatch(folders[-1]):
        number = int(match[1])
        folders.pop()
    configuration = "unstated"
    if named and named["configuration"]:
        configuration = named["configuration"]
    elif folders[-1].endswith("_skill"):
        configuration = folders.pop()
    else:
        folders.append(folders[-1])  # no eval's folder: the grading lies in the iteration's
    eval_folder = folders.pop()
    eval_id = _eval_id(repository / path.parent, eval_folder)
    return Run(*_place(folders), eval_folder, eval_id, configuration, number, found, paths)


def _merged(one: Run, other: Run) -> Run:
    """One run that lies in two places; both must say the same."""
    assert one.verdicts == other.verdicts, f"one key, two results: {one} and {other}"
    return replace(one, paths=one.paths + other.paths)


def _place(folders: list[str]) -> tuple[str, str]:
    """The workspace and the iteration of a path."""
    for at, name in enumerate(folders):
        if name.startswith("iteration-"):
            return "/".join(folders[:at]), name
    return "/".join(folders), "none"


def _eval_id(folder: Path, eval_folder: str) -> str | None:
    """The id in the nearest eval_metadata.json, else the number of the eval's folder."""
    for level in (folder, folder.parent, folder.parent.parent):
        path = level / "eval_metadata.json"
        if path.is_file() and "eval_id" in (metadata := read_json(path) or {}):
            return str(metadata["eval_id"])
    match = EVAL_FOLDER.match(eval_folder)
    return match[1] if match else None


def _stated(repository: Path, path: Path) -> Iterator[Run]:
    """The runs that only a benchmark.json tells of."""
    document = read_json(repository / path) or {}
    place = _place(list(path.parent.parts))
    for row in [*document.get("runs", []), *document.get("per_case", [])]:
        both = {side: row[side] for side in ("with_skill", "without_skill") if side in row}
        named = row.get("configuration") or row.get("condition") or "unstated"
        for configuration, side in (both or {named: row}).items():
            eval_id = str(next(row[key] for key in ("eval_id", "id", "case_id") if key in row))
            number = row.get("run_number") or row.get("run_index", 0) + 1
            found = verdicts(side) or _counted(side)
            key = (*place, eval_id, eval_id, configuration, number)
            yield Run(*key, found, (path.as_posix(),), on_disk=False)
    for row in document.get("evals", []):
        for configuration in ("with_skill", "without_skill"):
            rate = row.get(configuration, {}).get("pass_rate")
            if isinstance(rate, str):  # "3/3": a rate over runs, with no verdicts
                key = (*place, row["id"], row["id"], configuration, 1)
                yield Run(*key, (), (path.as_posix(),), on_disk=False, summed_up=True)


def _counted(row: dict[str, Any]) -> tuple[Verdict, ...]:
    """Verdicts from counts, where a row gives no expectations."""
    result = row.get("result", row)
    passed = result.get("passed", result.get("assertions_passed"))
    total = result.get("total", result.get("assertions_total"))
    return (True,) * passed + (False,) * (total - passed)
