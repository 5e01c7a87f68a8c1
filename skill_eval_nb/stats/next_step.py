"""`next_step`: what would decide the comparisons that have no verdict, and what it would cost."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from skill_eval_nb.tables import Workspace
from skill_eval_nb.workspace.jobs import read_settings

from .comparison import SCOPES
from .deltas import answer_deltas, ask_deltas
from .designs import Design
from .looks import find_iterations
from .pairing import Versus
from .values import GROUP, ITERATION, SIDES, statistic, values_of
from .verdict import Answer


@statistic
def next_step(
    data: Any,
    metric: str = "pass_rate",
    baseline: str | None = None,
    *,
    versus: Versus | None = None,
    level: float = 0.95,
    cluster: str | Mapping[str, str] | None = None,
) -> Any:
    """The cheapest additions that would give a verdict if there is none, as two designs each.

    More runs decide *these evals*; more evals decide *tasks like these*. Runs are enough if two
    thirds of the difference would be found with 80 % power, with the run noise of public
    benchmarks and of these runs (see `stats.lean`). Evals are enough if the sign flip decides in
    80 % of simulated futures that keep the existing evals. Up to 12 runs per side and 24 evals
    are tried.

    Args:
        data: a `Workspace` or a table of runs (polars or pandas).
        metric: as for `deltas`; so are the other arguments.
        baseline: the configuration to compare against.
        versus: two configurations or two iterations, the baseline last.
        level: 1 - alpha.
        cluster: which evals belong together; then nothing can be proposed for tasks like these.

    Returns:
        In the kind of `data`, two rows a comparison and scope without a verdict:

        - the keys of `deltas`, `configuration`, `baseline`, `metric`, `scope`, `verdict`;
        - `what`: `runs` or `evals`, or `none` if no usual addition decides;
        - `difference`: `as seen`, or `half` of it; the design is for that;
        - `n_evals` in all and `n_runs` of each a side, `new_runs` on both sides together; null
          if none decides;
        - `price_usd` and `seconds` of these, one after the other, as runs here cost and took;
        - `next_step`: both designs in words.

        No row where not even that can be told; `deltas` has it in words.

    Raises:
        ValueError: as `deltas`.

    >>> import polars as pl
    >>> runs = pl.DataFrame({
    ...     "eval_id": ["1", "1", "2", "2"], "configuration": ["with_skill", "baseline"] * 2,
    ...     "pass_rate": [1.0, 0.6, 1.0, 0.4], "passed": [5, 3, 5, 2], "failed": [0, 2, 0, 3],
    ... })
    >>> next_step(runs).filter(scope="suite").select("difference", "n_runs", "new_runs").rows()
    [('as seen', 4, 12), ('half', 10, 36)]
    """
    import polars as pl

    values, how = values_of(data, metric), {"level": level, "cluster": cluster}
    each = (ask_deltas(data, baseline, versus, scope=scope, **how) for scope in SCOPES)
    found = pl.concat(answer_deltas(asked, values) for asked in each)
    keys = [*GROUP, *SIDES, "metric", "scope", "verdict"]
    steps = found.drop_nulls("designs").select(*keys, "next_step", "designs").explode("designs")
    designs = [field.name for field in fields(Design)]
    return steps.unnest("designs").select(*keys, *designs, "next_step")


NEW_EVAL = "NEW-EVAL"
"""What stands in a command for each eval that is still to be written."""


def say_how(ws: Workspace, answer: Answer, *, named: bool) -> list[tuple[str, str]]:
    """The next steps of an answer in sentences, each with the command that does it, else "".

    Of evals that another tool has run the command makes all runs again, and the sentence says so.

    Args:
        ws: the workspace that is answered for.
        answer: what is said of a comparison.
        named: whether the command calls folders by their names alone.
    """
    said, folders = [], find_iterations(ws)
    for step, row in answer.next_steps:
        runs, beyond = row["next_runs"], row["scope"] == "population"
        home = folders.get(tuple(row[name] for name in ITERATION))
        known = {name: row[name] for name in ("workspace", "skill")}
        evals = ws.polars("evals").filter(**known)["eval_id"].to_list() or ["any"]
        command, anew = "", ""
        if runs and home is not None:
            settings = read_settings(home)
            only = {"evals": [NEW_EVAL]} if beyond else {}
            settings = settings._replace(asked={**settings.asked, **only})
            command = settings.word_command(runs, evals, named=named)
        if runs and not (command or beyond):
            made = (row["skill"], "--runs", str(runs), "--executor", "claude-code")
            command = shlex.join(("skill-eval-nb", "run", *made, "--executor-model", "MODEL"))
            anew = " With this tool, which makes all runs anew:"
        plain = command.isprintable() and "`" not in command  # names come from files
        said.append((step + anew, command) if plain else (step, ""))
    return said
