"""`python -m bench.sessions`: false claims between two iterations whose sessions differ.

What a skill does is the same in both; a session shifts both sides. The first figure is that of
`versus` alone, the second of `versus` less the baseline's own change. Runs are normal noise around
a rate of their eval, cut to 0 and 1, which few of them reach: at a ceiling a gain is smaller
indeed. Nothing of this is shared with what is measured.
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np
import polars as pl

import skill_eval_nb as sen
from skill_eval_nb.stats.comparison import SCOPES, Scope

NEW, OLD = "iteration-2", "iteration-1"
OWN, BASE = "with_skill", "without_skill"
SIZES = ((3, 3), (5, 3), (8, 3), (12, 3), (8, 10))


def worlds(n: int, evals: int, k: int, shift: float, noisier: float = 1.0) -> pl.DataFrame:
    """The table `runs` of so many workspaces; `noisier` is the second session's noise."""
    noise = np.random.default_rng([evals, k, round(100 * shift)])
    rate, gain = noise.uniform(0.2, 0.5, (n, evals)), noise.normal(0.1, 0.1, (n, evals))
    rows = [
        (str(world), str(at), iteration, side, own)
        for world, at, iteration, side in product(range(n), range(evals), (OLD, NEW), (OWN, BASE))
        for own in noise.normal(
            rate[world, at] + (side == OWN) * gain[world, at] + (iteration == NEW) * shift,
            0.15 * (noisier if iteration == NEW else 1.0),
            k,
        )
    ]
    names = ["workspace", "eval_id", "iteration", "configuration", "pass_rate"]
    return pl.DataFrame(rows, names, orient="row").with_columns(
        pl.col("pass_rate").clip(0, 1).round(2),
        pl.int_range(pl.len()).over(names[:-1]).alias("run_number") + 1,
    )


def claims(runs: pl.DataFrame, scope: Scope, baseline: str | None) -> float:
    """The share of worlds in which the skill is said to have changed."""
    found = sen.stats.deltas(runs, baseline=baseline, versus=(NEW, OLD), scope=scope)
    own = found.filter(configuration=OWN)
    return float(own["verdict"].is_in(["helps", "hurts"]).mean())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=1000)
    n = parser.parse_args().worlds
    print("| shift | evals × runs | noise | these evals | less | tasks like these | less |")
    print("|--:|--:|--:|--:|--:|--:|--:|")
    for shift, (evals, k), noisier in product((0.0, 0.05, 0.15), SIZES, (1.0, 2.0)):
        runs = worlds(n, evals, k, shift, noisier)
        shares = [claims(runs, scope, of) for scope in SCOPES for of in (None, BASE)]
        cells = " | ".join(f"{100 * share:.1f} %" for share in shares)
        print(f"| {100 * shift:.0f} pp | {evals} × {k} | × {noisier:g} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
