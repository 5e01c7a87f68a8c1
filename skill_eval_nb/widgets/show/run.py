"""One run, all of it: its figures, what was said of it, what it did and put out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from skill_eval_nb.tables import Workspace
from skill_eval_nb.text import count, dollars

from ..ui import Child, Node, h
from ..ui.parts import (
    Act,
    between,
    dots,
    first,
    line,
    name,
    pill,
    plain,
    prose,
    remark,
    score_text,
    soft,
    strip,
    verdict,
    word,
)
from ..ui.source import Recent
from .files import OutputFile, output_files
from .outputs import outputs_of, summary_of
from .transcript import show_transcript, transcript_summary

if TYPE_CHECKING:
    import polars as pl


class RunKey(NamedTuple):
    """What tells a run from every other of what was loaded: values that JSON has, too."""

    workspace: str
    skill: str
    iteration: str
    eval_id: str
    configuration: str
    run_number: int


def key_of(row: dict[str, Any]) -> RunKey:
    """The key of a row of any table of runs."""
    return RunKey(*(row[name] for name in RunKey._fields))


def rows_of(frame: pl.DataFrame, key: RunKey) -> pl.DataFrame:
    """The rows of a run-level table that are of one run."""
    return frame.filter(**key._asdict())


def run_row(ws: Workspace, key: RunKey) -> dict[str, Any]:
    """The run's row of `runs`.

    Raises:
        LookupError: where there is no such run.
    """
    rows = rows_of(ws.polars("runs"), key)
    if rows.is_empty():
        raise LookupError(f"There is no run {named(key)} any more.")
    return rows.row(0, named=True)


def folder_of(ws: Workspace, row: dict[str, Any]) -> Path | None:
    """The folder of a run; None where it has none of its own, as one that a benchmark states."""
    if not ws.path:
        return None
    folder = Path(ws.path) / row["path"]
    return folder if folder.is_dir() else None


def named(key: RunKey) -> str:
    """The run in a sentence.

    >>> named(RunKey("w", "s", "iteration-1", "3", "with_skill", 2))
    'eval 3, with_skill, run 2 of iteration-1'
    """
    of = "" if key.iteration == "none" else f" of {key.iteration}"
    return f"eval {key.eval_id}, {key.configuration}, run {key.run_number}{of}"


Row = dict[str, Any]

_ROWS: WeakKeyDictionary[Workspace, Recent[list[Row]]] = WeakKeyDictionary()


def rows(ws: Workspace, table: str, key: RunKey) -> list[Row]:
    """The rows of a table that are of one run; those of the last runs are kept."""
    kept = _ROWS.setdefault(ws, Recent(400))
    found = kept.get((table, key))
    if found is None:
        found = kept.put((table, key), rows_of(ws.polars(table), key).to_dicts())
    return found


def rows_of_eval(ws: Workspace, table: str, key: RunKey) -> list[Row]:
    """The rows of a table of definitions that are of the run's eval."""
    frame = ws.polars(table)
    wanted = {"workspace": key.workspace, "skill": key.skill, "eval_id": key.eval_id}
    return frame.filter(**wanted).to_dicts()


LOOK = {"graded": "good", "gated": "odd", "errored": "bad", "ungraded": "odd", "executed": ""}
"""How the status of a run looks."""
SEVERITIES = {"error": "bad", "warning": "odd"}


def show_figures(ws: Workspace, key: RunKey) -> Node:
    """The figures that there are; a missing one is left out, and is no zero."""
    row = next(iter(rows(ws, "runs", key)), None)
    if row is None:
        return h("div", soft("This run is no longer there."))
    tiles = [
        h("div", h("dt", title), h("dd", value), cls="sen-figure") for title, value in figures(row)
    ]
    return h("div", h("dl", tiles, cls="sen-figures"), _problems(ws, row))


def figures(row: Row) -> Iterator[tuple[str, Child]]:
    """Each figure of a run with its name."""
    yield "Status", pill(line(row["status"]), LOOK.get(row["status"], ""))
    if row["pass_rate"] is not None:
        yield "Pass rate", [_bar(row["pass_rate"]), _counts(row)]
    if row["structural_pass_rate"] is not None:
        yield "Structural", f"{row['structural_pass_rate']:.0%}"
    if row["gate_passed"] is not None:
        gate = ("passed", "good") if row["gate_passed"] else ("failed", "bad")
        yield "Gate", pill(*gate)
    if row["rubric_weighted_mean"] is not None:
        yield "Rubric", dots(row["rubric_weighted_mean"])
    yield from _cost(row)
    if row["skill_used"] is not None:
        yield "Skill", "opened" if row["skill_used"] else "not opened"
    if row["executor_model"]:
        yield "Executor model", line(row["executor_model"])
    if row["judge_model"]:
        yield "Judge model", line(row["judge_model"])


def _cost(row: Row) -> Iterator[tuple[str, Child]]:
    if row["time_seconds"] is not None:
        yield "Time", seconds(row["time_seconds"])
    if row["tokens"] is not None:
        yield "Tokens", f"{row['tokens']:,}"
    if row["cost_usd"] is not None:
        yield "Cost", dollars(row["cost_usd"])
    if row["tool_calls"] is not None:
        yield "Tool calls", f"{row['tool_calls']:,}"
    if row["errors"]:
        yield "Errors", h("span", f"{row['errors']:,}", cls="sen-bad-ink")


def seconds(number: float) -> str:
    """A length of time, for people.

    >>> seconds(54.14), seconds(134), seconds(7200)
    ('54.1 s', '2 min 14 s', '2 h 0 min')
    """
    if number < 120 or not isfinite(number):
        return f"{number:,.1f} s"
    minutes, rest = divmod(round(number), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _bar(rate: float) -> Node:
    style = {"--sen-fill": f"{min(max(rate, 0), 1):.1%}"}
    return h(
        "span",
        h("span", cls="sen-rate", style=style, aria_hidden="true"),
        h("b", f"{rate:.0%}"),
    )


def _counts(row: Row) -> Child:
    if row["passed"] is None or row["total"] is None:
        return None
    return h("span", f" {row['passed']:,} of {row['total']:,}", cls="sen-soft sen-small")


def _problems(ws: Workspace, row: Row) -> Child:
    """What could not be used of this run, and why it errored."""
    import polars as pl

    mine = pl.col("path").is_in([row["path"]]) | pl.col("path").str.starts_with(f"{row['path']}/")
    found = ws.polars("problems").filter(mine & pl.col("severity").is_in(list(SEVERITIES)))
    facts = [
        h("li", pill(row["severity"], SEVERITIES[row["severity"]]), " ", plain(row["message"]))
        for row in found.head(20).iter_rows(named=True)
    ]
    return h("ul", facts, cls="sen-list sen-problems") if facts else None


CHECKS = 300
"""Expectations of a layer that are shown at most."""
LAYERS = {"structural": "Structural", "judged": "Judged"}


def show_checks(ws: Workspace, key: RunKey) -> Node:
    """Each expectation of a run with its outcome and the evidence, layer by layer."""
    found = rows(ws, "expectations", key)
    if not found:
        return h("div", soft("No expectations were checked."), cls="sen-checks")
    layers = dict.fromkeys([*LAYERS, *(str(check["layer"]) for check in found)])
    parts = [
        _layer(layer, mine)
        for layer in layers
        if (mine := [check for check in found if str(check["layer"]) == layer])
    ]
    return h("div", parts, cls="sen-checks")


def checks_summary(found: Sequence[Row]) -> str:
    """How many of the expectations passed.

    >>> checks_summary([{"passed": True}, {"passed": False}, {"passed": None}])
    '1 of 2 passed, 1 not scored'
    """
    scored = [check for check in found if check["passed"] is not None]
    passed = sum(bool(check["passed"]) for check in scored)
    facts = f"{passed:,} of {len(scored):,} passed" if scored else ""
    left = len(found) - len(scored)
    return ", ".join(filter(None, [facts, f"{left:,} not scored" if left else ""]))


def _layer(layer: str, found: Sequence[Row]) -> Node:
    head = h(
        "div",
        h("span", LAYERS.get(layer, line(layer)), cls="sen-strong"),
        " ",
        strip([check["passed"] for check in found]),
        h("span", checks_summary(found), cls="sen-soft"),
        cls="sen-row sen-middle sen-layer",
    )
    left = len(found) > CHECKS
    more = soft(f"{first(CHECKS, len(found), 'expectation')}.") if left else None
    return h("div", head, h("ul", [_check(row) for row in found[:CHECKS]], cls="sen-list"), more)


def _check(row: Row) -> Node:
    text = row["text"] or row["expectation_id"] or "(no text)"
    facts = between(
        [
            row["text"] and row["expectation_id"] and line(row["expectation_id"]),
            row["type"] and h("code", line(row["type"])),
            row["confidence"] and f"confidence {line(row['confidence'])}",
        ]
    )
    gate = None
    if row["critical"]:
        gate = pill("critical", "bad" if row["passed"] is False else "")
    title = h(
        "div",
        h("span", h("span", prose(str(text)), dir="auto"), gate and [" ", gate]),
        " ",
        h("span", facts, cls="sen-soft sen-small") if facts else None,
        cls="sen-titled",
    )
    return h(
        "li",
        verdict(row["passed"]),
        h("div", title, evidence(row["evidence"])),
        cls=f"sen-item sen-{word(row['passed']).replace(' ', '-')}",
    )


def evidence(text: object) -> Child:
    """What an outcome or a score rests on."""
    if text is None or not str(text).strip():
        return None
    return remark(text, cls="sen-evidence", what="evidence")


DIMENSIONS = 60
"""Dimensions that are shown at most."""


def show_rubric(ws: Workspace, key: RunKey) -> Node:
    """Each dimension with the score of each judging and its evidence, and the weighted mean."""
    found = rows(ws, "rubric_scores", key)
    if not found:
        return h("div", soft("No rubric was scored."), cls="sen-rubric")
    defined = {row["dimension"]: row for row in rows_of_eval(ws, "dimensions", key)}
    names = list(dict.fromkeys(str(score["dimension"]) for score in found))
    parts = [
        _dimension(each, [row for row in found if row["dimension"] == each], defined.get(each))
        for each in names[:DIMENSIONS]
    ]
    left = len(names) > DIMENSIONS
    more = soft(f"{first(DIMENSIONS, len(names), 'dimension')}.") if left else None
    return h("div", _mean(ws, key, found), h("ul", parts, cls="sen-list"), more, cls="sen-rubric")


def _mean(ws: Workspace, key: RunKey, found: Sequence[Row]) -> Node:
    run = next(iter(rows(ws, "runs", key)), {})
    judgings = {(score["judging"], score["judge_model"]) for score in found}
    judges = dict.fromkeys(line(judge) for _, judge in sorted(judgings, key=str) if judge)
    facts = between([count(len(judgings), "judging"), ", ".join(judges)])
    mean = run.get("rubric_weighted_mean")
    weighted = [h("span", "Weighted mean", cls="sen-strong"), " ", dots(mean), " "]
    return h(
        "div",
        weighted if mean is not None else None,
        h("span", facts, cls="sen-soft"),
        cls="sen-row sen-middle sen-layer",
    )


def _dimension(dimension: str, found: Sequence[Row], defined: Mapping[str, Any] | None) -> Node:
    scores = [score["score"] for score in found if score["score"] is not None]
    weight = next((score["weight"] for score in found if score["weight"] is not None), None)
    each = f"{', '.join(map(score_text, scores))} in {count(len(found), 'judging')}"
    title = h(
        "div",
        name(dimension, cls="sen-name sen-strong"),
        " ",
        None if weight in (None, 1) else h("span", f"× {score_text(weight)}", title="weight"),
        cls="sen-dimension",
    )
    body = _evidence(found)
    return h(
        "li",
        title,
        h(
            "div",
            dots(sum(scores) / len(scores) if scores else None),
            " ",
            h("span", each, cls="sen-soft sen-small") if len(found) > 1 else None,
            cls="sen-row sen-middle",
        ),
        h("div", body, _meaning(defined), cls="sen-basis"),
        cls="sen-item sen-of-rubric",
    )


def _evidence(found: Sequence[Row]) -> Child:
    if len(found) == 1:
        return evidence(found[0]["evidence"])
    judged = [score for score in found if score["evidence"]]
    same = {score["evidence"] for score in judged}
    if len(same) == 1 and len(judged) == len(found):
        return evidence(judged[0]["evidence"])
    return h("ul", [_judging(score) for score in judged], cls="sen-judgings") if judged else None


def _judging(row: Row) -> Node:
    score = "no score" if row["score"] is None else score_text(row["score"])
    return h("li", h("b", score, cls="sen-score"), h("div", evidence(row["evidence"])))


def _meaning(defined: Mapping[str, Any] | None) -> Node | None:
    """What a dimension asks, and what its scores stand for, to be unfolded."""
    if defined is None or not (defined["description"] or defined["anchors"]):
        return None
    summary = h("summary", "What the scores mean", cls="sen-soft sen-small")
    return h("details", summary, meaning_of(defined["description"], defined["anchors"]))


def meaning_of(description: str | None, stated: object) -> list[Node]:
    """What a dimension asks, and what its scores stand for as it is stated."""
    anchors = anchors_of(stated)
    pairs = [
        h("div", h("dt", line(score)), h("dd", prose(words), dir="auto"))
        for score, words in sorted(anchors.items())
    ]
    return [
        *([h("p", prose(str(description)), dir="auto")] if description else []),
        *([h("dl", pairs, cls="sen-anchors")] if pairs else []),
        *([h("p", prose(str(stated)))] if stated and not anchors else []),
    ]


def anchors_of(text: object) -> dict[str, str]:
    """What the scores of a dimension stand for; empty where that is no object of JSON."""
    try:
        anchors = json.loads(str(text or "{}"))
    except (ValueError, RecursionError):
        return {}
    return {str(k): str(v) for k, v in anchors.items()} if isinstance(anchors, dict) else {}


TITLES = {
    "critique": "The judge's critique",
    "transcript": "Transcript",
    "outputs": "Outputs",
}
"""Of the sections that can be folded."""
SECTIONS = ("figures", "checks", "rubric", "critique", "transcript", "outputs")
_SHADES: WeakKeyDictionary[Workspace, dict[str, str]] = WeakKeyDictionary()
NAMES = 4
"""Files whose names stand in the line that unfolds them."""


def show_run(
    ws: Workspace,
    key: RunKey,
    *,
    sections: Sequence[str] = SECTIONS,
    title: Child = None,
) -> Node:
    """One run, headed by what it is; the long parts are to be unfolded.

    Args:
        ws: the workspace.
        key: the run.
        sections: of SECTIONS, those that are shown, in this order.
        title: stands instead of what names the configuration, for who must not know it.

    Raises:
        ValueError: for a section that there is not.
    """
    if unknown := [name for name in sections if name not in SECTIONS]:
        raise ValueError(f"There is no section {unknown[0]!r}; there are {', '.join(SECTIONS)}.")
    row = next(iter(rows(ws, "runs", key)), None)
    if row is None:
        return h("div", soft(f"There is no run {line(named(key))} any more."), cls="sen-run")
    folder = folder_of(ws, row)
    parts = [section(name, ws, key, folder) for name in sections]
    return h("section", _head(ws, key, row, title), parts, cls="sen-run", key=f"run {key}")


def _head(ws: Workspace, key: RunKey, row: Row, title: Child) -> Node:
    if title is None:
        side = h("span", name(key.configuration), cls=f"sen-side sen-side-{_side(ws, key)}")
        of = None if key.iteration == "none" else name(key.iteration)
        title = [side, " ", h("span", between([f"run {key.run_number}", of]), cls="sen-soft")]
    head = h(
        "div",
        h("h4", name(row["eval_name"] or key.eval_id)),
        " ",
        title,
        cls="sen-row sen-middle sen-run-head",
    )
    return h("div", head, prompt_view(ws, key))


def _side(ws: Workspace, key: RunKey) -> str:
    """Which of the pair of colours is the configuration's."""
    from skill_eval_nb.charts.theme import BASELINE, WITH_SKILL, baselines, colours

    shades = _SHADES.get(ws)
    if shades is None:
        runs = ws.polars("runs").select("workspace", "skill", "iteration", "configuration").unique()
        names = set(runs["configuration"])
        shades = _SHADES[ws] = colours(names, baselines(runs), names)
    return {WITH_SKILL: "with", BASELINE: "base"}.get(shades.get(key.configuration, ""), "other")


def prompt_view(ws: Workspace, key: RunKey, *, unfolded: bool = False) -> Node | None:
    """What the executor was asked, and what success looks like."""
    row = next(iter(rows_of_eval(ws, "evals", key)), None)
    if row is None or not row["prompt"]:
        return None
    wanted = row["expected_output"]
    return h(
        "details",
        h("summary", "Prompt", cls="sen-soft"),
        _long(str(row["prompt"])),
        [soft("Expected output"), _long(str(wanted))] if wanted else None,
        open=unfolded,
    )


def _long(text: str) -> Child:
    most = 20_000
    left = soft(f"{first(most, len(text), 'character')}.") if len(text) > most else None
    return [h("p", plain(text[:most]), cls="sen-remark", dir="auto"), left]


def section(
    part: str,
    ws: Workspace,
    key: RunKey,
    folder: Path | None,
    *,
    unfolded: bool = False,
    toggle: Act | None = None,
) -> Child:
    """A part of what is shown of a run.

    Args:
        part: one of SECTIONS.
        ws: the workspace.
        key: the run.
        folder: its folder; None where it has none of its own.
        unfolded: whether what can be folded is open.
        toggle: the action that opens it; without one all of it is there already.
    """
    if part == "figures":
        return show_figures(ws, key)
    if part == "checks":
        return [h("h5", "Checks"), show_checks(ws, key)]
    if part == "rubric":
        if not rows(ws, "rubric_scores", key):
            return None
        return [h("h5", "Rubric"), show_rubric(ws, key)]
    if part == "critique":
        content = show_critique(ws, key)
        summary: Child = critique_summary(ws, key)
    elif folder is None:
        what = "transcript is" if part == "transcript" else "outputs are"
        return soft(f"No {what} stored: this run has no folder of its own.")
    elif part == "transcript":
        summary = transcript_summary(folder)
        if summary is None:
            return soft("There is no transcript.")
        content = show_transcript(folder) if unfolded or toggle is None else h("div")
    else:
        files = output_files(folder)
        content, summary = outputs_of(folder, files, key=str(key)), _named(files)
    if content is None:
        return None
    head = h(
        "summary",
        h("span", TITLES[part], cls="sen-strong"),
        " ",
        h("span", summary, cls="sen-soft"),
    )
    on = {"toggle": toggle} if toggle is not None else None
    return h("details", head, content, open=unfolded, on=on, cls="sen-part", key=f"{part} {key}")


def _named(files: Sequence[OutputFile]) -> Child:
    if not files:
        return "none"
    names = between([name(file.name) for file in files[:NAMES]], ", ")
    more = f" and {len(files) - NAMES:,} more" if len(files) > NAMES else None
    return [*names, more, f" ({summary_of(files)})"]


REMARKS = 200
"""Remarks of one sort that are shown at most."""
SORTS = ("claims", "notes", "suggestions")
_VERIFIED = {True: "verified", False: "not verified", None: "not looked into"}


def show_critique(ws: Workspace, key: RunKey) -> Node | None:
    """The claims of a run and whether they hold, notes, and suggestions for the evals.

    None where there are none.
    """
    claims, notes, suggestions = (rows(ws, sort, key) for sort in SORTS)
    if not (claims or notes or suggestions):
        return None
    return h(
        "div",
        _part("Claims", [_claim(claim) for claim in claims]),
        _part("Notes", [_of_kind(note, remark(note["text"], what="note")) for note in notes]),
        _part("Suggestions for the evals", [_suggestion(suggestion) for suggestion in suggestions]),
        cls="sen-critique",
    )


def critique_summary(ws: Workspace, key: RunKey) -> str:
    """How many claims, notes and suggestions there are."""
    facts = [(sort, len(rows(ws, sort, key))) for sort in SORTS]
    return ", ".join(count(number, sort.removesuffix("s")) for sort, number in facts if number)


def _part(title: str, items: Sequence[Node]) -> Child:
    if not items:
        return None
    more = soft(f"{first(REMARKS, len(items), 'remark')}.") if len(items) > REMARKS else None
    head = h("p", h("span", title, cls="sen-strong"), cls="sen-layer")
    return [head, h("ul", items[:REMARKS], cls="sen-list"), more]


def _claim(row: Row) -> Node:
    label = _VERIFIED[row["verified"]]
    facts = between([label, row["type"] and line(row["type"])])
    claim = h("p", prose(str(row["claim"])), dir="auto")
    about = [claim, soft(facts), evidence(row["evidence"])]
    return h("li", verdict(row["verified"], label=label), h("div", about), cls="sen-item")


def _suggestion(row: Row) -> Node:
    of = row["expectation"]
    about = h("p", "On: ", h("span", prose(str(of)), dir="auto"), cls="sen-soft") if of else None
    return _of_kind(row, about, remark(row["reason"], what="suggestion") if row["reason"] else None)


def _of_kind(row: Row, *content: Child) -> Node:
    kind = line(row["kind"]).replace("_", " ")[:40]
    return h("li", pill(kind), h("div", content), cls="sen-item sen-kind")
