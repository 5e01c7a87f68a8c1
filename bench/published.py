"""`python -m bench.published`: figures of public studies and benchmarks for `data/published`.

Of the studies each run's figures alone, no text; of the benchmarks that lie in other people's
repositories only how many of their claims become what, and no name.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl

import skill_eval_nb as sen

OUT = Path(__file__).parents[1] / "data" / "published"
PILOT = "make-no-mistakes-pilot/results/raw"
SKILLSBENCH = "skillsbench-gemini-cli/runs.csv"
MARKETPLACE = "claude-plugins-judgments/docs/benchmarks/2026-07-marketplace-quality"
OPINION = ["metric", "against", "verdict", "lean", "opinion"]
CLAIM = ["workspace", "skill", "iteration", "executor_model", "harness"]
CLAIM += ["configuration", "baseline", "metric", "claimed"]
"""What tells a claim from another: in however many files it stands."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.published", description=__doc__)
    parser.add_argument("--studies", type=Path, help="folder with the studies' own files")
    parser.add_argument("--repositories", type=Path, nargs="*", help="folders of one folder each")
    given = parser.parse_args()
    if given.studies:
        _write("make-no-mistakes-pilot", sen.load(given.studies / PILOT).runs.select(*_RUN))
        runs = pl.read_csv(given.studies / SKILLSBENCH)
        _write("skillsbench-gemini-cli", runs.select(*_RUN[:4], "status", "reward"))
        _write("marketplace-judgments", pl.DataFrame(_judgments(given.studies / MARKETPLACE)))
    if given.repositories:
        folders = [one for folder in given.repositories for one in sorted(folder.iterdir())]
        _write("public-claims", count_claims(one for one in folders if one.is_dir()))


_RUN = ("eval_id", "executor_model", "configuration", "run_number", "pass_rate")


def _write(name: str, rows: pl.DataFrame) -> None:
    rows.write_csv(OUT / f"{name}.csv")
    print(f"{name}: {rows.height} rows")


def _judgments(folder: Path) -> Iterator[dict[str, str | int]]:
    """Each score of the blind pairs, with whose side it is as the report says."""
    report = (folder / "marketplace-quality-comparison.md").read_text(encoding="utf-8")
    staged = re.findall(r"^### (\S+)\n\n.*Official staged as side-([AB])", report, re.MULTILINE)
    for path in sorted((folder / "judgments").glob("*_j?.json")):
        raw = json.loads(path.read_bytes())
        official = dict(staged).get(raw.get("pair_id", ""))
        for dimension, said in sorted(raw["dimensions"].items()) if official else ():
            for side in "AB":
                yield {
                    "pair": raw["pair_id"],
                    "side": "baseline" if side == official else "ours",
                    "judge": raw["judge_id"],
                    "dimension": dimension,
                    "score": said[f"score_{side.lower()}"],
                }


def count_claims(folders: Iterable[Path]) -> pl.DataFrame:
    """OPINION with how many claims there are of it, in how many repositories.

    One that several files of a repository state is one.
    """
    found = []
    for folder in folders:
        try:
            ws = sen.load(folder)
        except sen.NothingToLoad:
            continue
        rows = sen.stats.second_opinion(ws).unique(CLAIM, keep="first", maintain_order=True)
        found.append(rows.with_columns(repository=pl.lit(folder.name)))
    baseline = pl.col("baseline")
    against = (
        pl.when(pl.col("claimed").is_null())
        .then(pl.lit("no other side"))
        .when(baseline.is_null())
        .then(pl.lit("not known"))
        .when(baseline.str.contains("old|prev|prior|before"))
        .then(pl.lit("an older version"))
        .otherwise(pl.lit("no skill"))
    )
    return (
        pl.concat(found)
        .with_columns(against=against, verdict=pl.col("verdict").fill_null("no runs"))
        .group_by(OPINION)
        .agg(claims=pl.len(), repositories=pl.col("repository").n_unique())
        .sort(OPINION, nulls_last=True)
    )


if __name__ == "__main__":
    main()
