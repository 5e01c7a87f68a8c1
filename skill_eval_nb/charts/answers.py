"""The titles: what each chart answers, in words that hold for its data, with n."""

from __future__ import annotations

from collections.abc import Sequence

from skill_eval_nb.stats.values import model_name
from skill_eval_nb.stats.verdict import TASKS, sentence, these, word_of
from skill_eval_nb.text import TIE, as_label, in_quotes, some, tied

from .metrics import Metric, format_signed, metric
from .theme import Row, Rows, n_of


def answer_rubric_dimensions(lanes: Rows) -> str:
    """Where the sides differ most; if there is one side, where its runs do.

    A lane is a configuration on a dimension: label, heading, mean, stddev, n and, if it is
    paired, estimate, baseline, n_evals, n_runs, n_runs_baseline.
    """
    top = max(
        lanes,
        key=lambda lane: (
            lane["estimate"] is not None,
            abs(lane["estimate"] or 0),
            lane["stddev"] or 0,
        ),
    )
    who, name = as_label(top["configuration"], 40), in_quotes(top["label"], 40)
    where = f" in {in_quotes(top['heading'], 40)}" if top["heading"] else ""
    if top["estimate"] is None:
        n = n_of(top["n"])
        if top["stddev"] is None:
            return f"{who} scores {top['mean']:.2f} on {name}{where} ({n})"
        return (
            f"Runs differ most on {name}{where}: {who} has a mean of {top['mean']:.2f} and a "
            f"standard deviation of {top['stddev']:.2f} ({n})"
        )
    other = as_label(top["baseline"], 40)
    n = f"{n_of(top['n_runs'], top['n_runs_baseline'])} of {tied(top['n_evals'], 'eval')}"
    if format_signed(top["estimate"]) == "0.00":
        return f"{who} and {other} score alike on every dimension ({n})"
    than = "above" if top["estimate"] > 0 else "below"
    return (
        f"The sides differ most on {name}{where}: {who} scores {abs(top['estimate']):.2f} points "
        f"{than} {other} ({n})"
    )


def deltas(comparisons: Rows, estimates: Sequence[float], meant: Metric) -> str:
    """On how many evals a side is above the baseline, and by how much on average.

    Comparisons are rows of `stats.deltas`, estimates those of their evals.
    """
    above = sum(estimate > 0 for estimate in estimates)
    below = sum(estimate < 0 for estimate in estimates)
    where, often = ("above", above) if above >= below else ("below", below)
    every = tied(len(estimates), "eval")
    n = n_of(*(sum(row[side] for row in comparisons) for side in ("n_runs", "n_runs_baseline")))
    if len(comparisons) > 1:
        several = f"{often:,} of {every} in {len(comparisons)} comparisons ({n})"
        return f"{meant.title}: {where} the baseline on {several}"
    only = comparisons[0]
    who, other = as_label(only["configuration"], 40), as_label(only["baseline"], 40)
    if not often:
        return f"{meant.title}: {who} and {other} are equal on {every} ({n})"
    mean = meant.difference(only["estimate"])
    return (
        f"{meant.title}: {who} is {where} {other} on {often:,} of {every}, {mean} on average ({n})"
    )


def answer_forest(own: Row, meant: Metric) -> str:
    """The verdict on these evals with its interval, and that on tasks like these.

    `own` is a row of `stats.deltas`, with the `wide_verdict` on tasks like these.
    """
    who, where = as_label(own["configuration"], 40), these(own["n_evals"])
    verdict = sentence(own["verdict"], own["metric"], who, where)
    n = n_of(own["n_runs"], own["n_runs_baseline"])
    wide = word_of(own["wide_verdict"], own["metric"])
    beyond = f"; on tasks like these: {wide}" if wide else ""
    much = f"{meant.difference(own['estimate'])}{say_interval(own, meant)} {meant.name}"
    leans = f"; {own['lean']} by borrowed noise" if own["lean"] else ""
    return f"{verdict}: {much}{leans}{beyond} ({n})"


def lean(row: Row, meant: Metric) -> str:
    """What a row leans to with its interval; "" if it has no lean."""
    if row.get("lean") is None:
        return ""
    low, high = (meant.difference(row[end]) for end in ("lean_low", "lean_high"))
    return f"{row['lean']} ({low} to {high} by borrowed noise)"


def say_interval(row: Row, meant: Metric) -> str:
    """The interval in brackets, if there is one."""
    if row["low"] is None:
        return ""
    return f" ({meant.difference(row['low'])} to {meant.difference(row['high'])})"


def forests(comparisons: Rows, what: str, about: str) -> str:
    """Of several comparisons, what they say of these evals; with too few runs, of tasks like these.

    `what` is that which is counted, `about` the beginning that names the metric, or "".
    """
    few = all(row["verdict"] == "too few runs" for row in comparisons)
    verdict, where = ("wide_verdict", TASKS) if few else ("verdict", "these evals")
    helps, hurts = (sum(row[verdict] == word for row in comparisons) for word in ("helps", "hurts"))
    n = n_of(*(max(row[side] for row in comparisons) for side in ("n_runs", "n_runs_baseline")))
    who = {as_label(row["configuration"], 40) for row in comparisons}
    subject = who.pop() if len(who) == 1 else "the skill"
    every = tied(len(comparisons), what)
    better, worse = (word_of(word, comparisons[0]["metric"]) for word in ("helps", "hurts"))
    text = f"{about}{subject} {better} in {helps} of {every}, {worse} in {hurts} ({n}, {where})"
    return text[0].upper() + text[1:] if subject == "the skill" else text


def answer_iterations(lines: Sequence[Rows], meant: Metric) -> str:
    """Where the with-skill side began and where it is now.

    A line is a workspace's means in the order of its iterations: iteration, configuration,
    mean, n; or a model's, if several ran it.
    """
    suites = {(line[0].get("workspace"), line[0].get("skill")) for line in lines}
    models = {model_name(line[0]) for line in lines}
    what = "workspace" if len(models) == 1 else "model" if len(suites) == 1 else "part"
    if len(lines) == 1:
        return _turn(lines[0], meant)
    long = [line for line in lines if len(line) > 1]
    n = n_of(sum(line[-1]["n"] for line in lines))
    if not long:
        return f"{tied(len(lines), what)} with a {meant.name} in one iteration each ({n})"
    rising = sum(line[-1]["mean"] > line[0]["mean"] for line in long)
    return (
        f"The {meant.name} rises in {rising} of {tied(len(long), what)} from the first "
        f"to the last iteration ({n} in the last)"
    )


def _turn(line: Rows, meant: Metric) -> str:
    first, last = line[0], line[-1]
    who = as_label(last["configuration"], 40)
    start, end = meant.figure(first["mean"]), meant.figure(last["mean"])
    if len(line) == 1:
        return f"{who} has a {meant.name} of {end} in its only iteration ({n_of(last['n'])})"
    n = n_of(first["n"], last["n"])
    before, now = in_quotes(first["iteration"], 40), in_quotes(last["iteration"], 40)
    if start == end:
        return f"{who}: the {meant.name} is {end} in {now} as it was in {before} ({n})"
    turn = "rises" if last["mean"] > first["mean"] else "falls"
    return f"{who}: the {meant.name} {turn} from {start} in {before} to {end} in {now} ({n})"


def answer_bargain(own: Row, other: Row | None, gain: Row | None, meant: Metric) -> str:
    """What the with-skill side gains, and for how many times the baseline's cost.

    `own` and `other` are means over the sides' runs: configuration, `value`, n and the known
    `costs` by metric. `gain` is the row of `stats.deltas`, where the sides are paired.
    """
    who, costs = as_label(own["configuration"], 40), own["costs"]
    if other is None or gain is None:
        paid = [metric(cost).text(price) for cost, price in costs.items()]
        at = f" at {some(paid, 99)} a run" if paid else ""
        return f"{who}: {meant.figure(own['value'])} {meant.name}{at} ({n_of(own['n'])})"
    times = [
        f"{_times(price / other['costs'][cost])}{TIE}×{TIE}the {metric(cost).name}"
        for cost, price in costs.items()
        if other["costs"].get(cost)
    ]
    much = f"{meant.difference(gain['estimate'])} {meant.name}"
    paid = f" for {some(times, 99)}" if times else ""
    n = n_of(gain["n_runs"], gain["n_runs_baseline"])
    return f"{who} against {as_label(other['configuration'], 40)}: {much}{paid} ({n})"


def _times(ratio: float) -> str:
    """How many times as much, to a digit that says something.

    >>> _times(1.53), _times(0.034)
    ('1.5', '0.034')
    """
    return f"{ratio:,.1f}" if ratio >= 0.1 else f"{ratio:.2g}"


def answer_bargains(gains: Sequence[Row | None], meant: Metric) -> str:
    """Of several workspaces, in how many the quality is above the baseline's."""
    paired = [gain for gain in gains if gain]
    if not paired:
        return f"{meant.title} of {tied(len(gains), 'workspace')}: none has a baseline"
    above = sum(gain["estimate"] > 0 for gain in paired)
    n = n_of(*(sum(gain[side] for gain in paired) for side in ("n_runs", "n_runs_baseline")))
    every = tied(len(paired), "comparison")
    return f"{meant.title} is above the baseline in {above} of {every} ({n})"


def expectations(pairs: Sequence[tuple[Row, Row]], sides: Sequence[str]) -> str:
    """How many expectations tell the sides apart.

    A pair is an expectation's two cells, each with `passes` and `scored`.
    """
    name, other = sides
    shares = [tuple(cell["passes"] / cell["scored"] for cell in pair) for pair in pairs]
    more, less = sum(own > base for own, base in shares), sum(own < base for own, base in shares)
    n = n_of(*(sum(pair[at]["scored"] for pair in pairs) for at in (0, 1)), noun="verdict")
    every = tied(len(pairs), "expectation")
    if not more and not less:
        return f"{name} and {other} pass equally often on {every} ({n})"
    return f"{more} of {every} pass more often in {name} than in {other}, {less} less often ({n})"


def verdicts(rows: Rows) -> str:
    """Where nothing can be compared: how many expectations always pass, and how many never.

    A row is an expectation with `passed` and `scored` over all its configurations.
    """
    scored = [row for row in rows if row["scored"]]
    if not scored:
        return f"None of {tied(len(rows), 'expectation')} has been scored"
    always = sum(row["passed"] == row["scored"] for row in scored)
    never = sum(row["passed"] == 0 for row in scored)
    n = n_of(sum(row["scored"] for row in scored), noun="verdict")
    return f"{always} of {tied(len(scored), 'expectation')} always pass, {never} never ({n})"
