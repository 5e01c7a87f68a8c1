"""Real workspaces: what they hold, counted by hand, by plain walking, and by `load`.

The figures of `EXPECTED` are the truth as a person reads it in the files. `walk.py` has to
reproduce them without the package, and `load` with it. Where the three disagree, look at the
files before you touch a figure.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.corpus import walk


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

DISAGREEMENTS = [
    # Where the folder and the benchmark.json above it give other verdicts for one run.
    ("kyzdes+vps-ninja", "benchmarks", "deploy-nextjs-app/without_skill"),
    ("kyzdes+vps-ninja", "benchmarks", "auto-deploy-troubleshoot/without_skill"),
    ("arianvp7+void-digital-studio", "workspace/iteration-1", "eval-0/without_skill"),
    (
        "SeoJaeWan+try-claude-code",
        "old-evals/ui-publish-workspace/iteration-4",
        "product-card/without_skill",
    ),
    (
        "SeoJaeWan+try-claude-code",
        "old-evals/frontend-dev-workspace/iteration-3",
        "api-hook-order/with_skill",
    ),
    (
        "Kelet-ai+skills",
        "evals/workspace/iteration-1",
        "fastapi-pydantic-ai-with-react-ui/without_skill",
    ),
]

KEYS = ("workspace", "iteration", "eval_id", "configuration", "run_number")

OTHER_NAMES = "melanie531+sample-agent-skill-eval"
"""Here the results of more runs lie in files like lifecycle-func-v1.json."""


@cache
def loaded(repository: Path) -> Any:
    """A repository, loaded once for all tests."""
    import skill_eval_nb as sen

    return sen.load(repository, backend="polars")


@cache
def raw(repository: Path) -> list[walk.Run]:
    """The runs of a repository by plain walking."""
    return walk.runs(repository)


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


@each
def test_expectations_add_up_to_the_raw_count(corpus: Path, name: str) -> None:
    repository = corpus / name
    on_disk = [run for run in raw(repository) if run.on_disk]
    on_file = Counter(verdict for run in on_disk for verdict in run.verdicts)
    only_stated = {
        tuple(row[key] for key in KEYS)
        for row in loaded(repository).runs.to_dicts()
        if row["path"].endswith("benchmark.json") or not documented(row["path"])
    }
    found = Counter(
        row["passed"]
        for row in loaded(repository).expectations.to_dicts()
        if row["layer"] == "judged" and tuple(row[key] for key in KEYS) not in only_stated
    )
    assert found == on_file


@each
def test_keys_name_one_run_and_what_is_missing_is_null_and_never_zero(
    corpus: Path, name: str
) -> None:
    """Real files have `total_tokens: 0` and `time_seconds: 0.0` for what was not measured."""
    rows = loaded(corpus / name).runs.to_dicts()
    keys = Counter(tuple(row[key] for key in KEYS) for row in rows)
    assert not [key for key, n in keys.items() if n > 1]
    for row in rows:
        assert not [key for key in (*KEYS, "skill", "eval_name") if row[key] in (None, "")]
        assert 0 not in (row["tokens"], row["time_seconds"]), row["path"]
        assert 0 <= (row["pass_rate"] or 0) <= 1, row["path"]
        assert (row["status"] == "graded") == (row["pass_rate"] is not None), row["path"]


@each
def test_every_file_that_is_not_strict_json_is_named(corpus: Path, name: str) -> None:
    repository = corpus / name
    broken = [path for path in json_files(repository) if not strict(repository / path)]
    assert not set(broken) - problem_paths(repository)


def json_files(repository: Path) -> Iterator[str]:
    for name in ("benchmark", "grading", "timing", "eval_metadata", "evals"):
        for path in repository.rglob(f"{name}.json"):
            yield path.relative_to(repository).as_posix()


def strict(path: Path) -> bool:
    try:
        json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError:
        return False
    return True


@pytest.mark.parametrize(("name", "above", "run"), DISAGREEMENTS)
def test_a_benchmark_that_disagrees_with_a_run_is_a_problem(
    corpus: Path, name: str, above: str, run: str
) -> None:
    """The row names both: the run and the benchmark.json."""
    repository = corpus / name
    rows = [
        row
        for row in loaded(repository).problems.to_dicts()
        if above in (said := f"{below(repository, row['path'])} {row['message']}")
        and run in said
        and "benchmark.json" in said
    ]
    assert rows


def test_results_in_files_of_other_names_are_not_passed_over_in_silence(corpus: Path) -> None:
    repository = corpus / OTHER_NAMES
    files = {below(repository, str(path)) for path in repository.rglob("*-func-*.json")}
    rows = loaded(repository).runs.to_dicts()
    assert len(files) == 6
    assert not files - problem_paths(repository) - {below(repository, row["path"]) for row in rows}


@pytest.mark.parametrize("name", [name for name, of in EXPECTED.items() if of is DEFINITIONS_ONLY])
def test_repositories_without_runs_have_evals_or_trigger_queries(corpus: Path, name: str) -> None:
    """Cases that say `should_trigger` are queries, also in a file called evals.json."""
    ws = loaded(corpus / name)
    assert ws.runs.height == 0
    assert ws.evals.height + ws.triggers.height > 0
