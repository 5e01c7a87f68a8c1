"""One run, all of it: its figures, what was said of it, what it did and put out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from skill_eval_nb.documents.sides import likeness
from skill_eval_nb.stats import pairing
from skill_eval_nb.stats.values import no_such
from skill_eval_nb.tables import Workspace
from skill_eval_nb.text import count, dollars

from ..ui import Child, Node, Panel, action, h, style
from ..ui.parts import (
    KINDS,
    copy_button,
    join_parts,
    line,
    name,
    note,
    outcome,
    pill,
    reveal,
    say_first,
    strip,
    text_box,
    verdict,
)
from ..ui.source import Recent, RunKey, Source, key_of
from .documents import fold_content
from .files import output_files
from .outputs import difference_details, show_outputs, summary_of
from .transcript import show_transcript, transcript_summary


def run_row(ws: Workspace, key: RunKey) -> dict[str, Any]:
    """The run's row of `runs`.

    Raises:
        LookupError: where there is no such run.
    """
    found = rows_of_run(ws, "runs", key)
    if not found:
        raise LookupError(f"Run {run_in_words(key)} no longer exists.")
    return found[0]


def folder_of(ws: Workspace, row: dict[str, Any]) -> Path | None:
    """The folder of a run; None where it has none of its own, as one that a benchmark states."""
    if not ws.path:
        return None
    folder = Path(ws.path) / row["path"]
    return folder if folder.is_dir() else None


def run_in_words(key: RunKey) -> str:
    """The run in a sentence.

    >>> run_in_words(RunKey("w", "s", "iteration-1", "3", "with_skill", 2))
    'eval 3, with_skill, run 2 of iteration-1'
    """
    of = "" if key.iteration == "none" else f" of {key.iteration}"
    return f"eval {key.eval_id}, {key.configuration}, run {key.run_number}{of}"


def find_run(ws: Workspace, run: str | tuple[Any, ...]) -> RunKey:
    """The run with that path, or with these keys.

    Raises:
        ValueError: where no run, or more than one, is meant.
    """
    runs = ws.polars("runs")
    found = runs.filter(**({"path": run} if isinstance(run, str) else RunKey(*run)._asdict()))
    if found.height != 1:
        raise no_such("single run", str(run), set(runs["path"]))
    return key_of(found.row(0, named=True))


def code_of_run(ws: Workspace, key: RunKey) -> str:
    """The line of code that shows a run, where it was loaded from."""
    path = run_row(ws, key)["path"]
    is_alone = ws.polars("runs").filter(path=path).height == 1
    where = repr(ws.path) if ws.path else "ws"
    return f"sen.show({where}, {(path if is_alone else tuple(key))!r})"


SHOWING_CSS = Path(__file__).with_name("show.css")
"""The style of a run, for `panel.style`."""


class RunView(Panel):
    """One run with all that it has: see `sen.show`."""

    _css = style(SHOWING_CSS)
    label = "A run"

    def __init__(self, ws: Any, run: str | tuple[Any, ...]) -> None:
        self._source = Source(ws, self.show)
        self.key = find_run(self._source.ws, run)
        self._compares = False
        super().__init__()

    def view(self) -> Child:
        """All of it, and what differs between its outputs and the other side's."""
        ws = self._source.ws
        runs = ws.polars("runs").filter(**{name: getattr(self.key, name) for name in EVAL_OF_RUN})
        sides = sorted(set(runs["configuration"]), key=pairing.side_key)
        other = find_counterpart(ws, self.key, sides)
        both = None if other is None else compare_runs(ws, (self.key, other), self._compares)
        return [show_run(ws, self.key), both]

    @action
    def unfold(self, part: str, unfolded: bool) -> None:
        """Open what differs, or close it."""
        self._compares = unfolded and part == "difference"


EVAL_OF_RUN = ("workspace", "skill", "iteration", "eval_id")


def find_counterpart(ws: Workspace, key: RunKey, sides: Sequence[str]) -> RunKey | None:
    """The run that a run is compared with: of the last other side, of its number, else the first.

    Args:
        ws: the workspace.
        key: the run.
        sides: the configurations, the baseline last.
    """
    others = [name for name in sides if name != key.configuration]
    if not others:
        return None
    own = {name: getattr(key, name) for name in EVAL_OF_RUN}
    found = ws.polars("runs").filter(**own, configuration=others[-1])
    keys = [key_of(row) for row in found.sort("run_number").iter_rows(named=True)]
    same = (other for other in keys if other.run_number == key.run_number)
    return next(same, next(iter(keys), None))


def compare_runs(ws: Workspace, both: Sequence[RunKey], unfolded: bool) -> Node:
    """What differs between the outputs of two runs, made while it is open."""
    names = [f"{line(key.configuration)}, run {key.run_number}" for key in both]
    folders = [folder_of(ws, run_row(ws, key)) for key in both]
    return difference_details(names, folders, unfolded=unfolded)


Row = dict[str, Any]

_ROWS: WeakKeyDictionary[Workspace, Recent[list[Row]]] = WeakKeyDictionary()


def rows_of_run(ws: Workspace, table: str, key: RunKey) -> list[Row]:
    """The rows of a table that are of one run; the last answers are kept."""
    kept = _ROWS.setdefault(ws, Recent(400))
    keys = key._asdict()
    return kept.get_or_make((table, key), lambda: ws.polars(table).filter(**keys).to_dicts())


def rows_of_eval(ws: Workspace, table: str, key: RunKey) -> list[Row]:
    """The rows of a table of definitions that are of the run's eval."""
    frame = ws.polars(table)
    wanted = {"workspace": key.workspace, "skill": key.skill, "eval_id": key.eval_id}
    return frame.filter(**wanted).to_dicts()


_CODE = re.compile(r"`([^`\n]+)`")
LONG = 1_200
"""Characters of an evidence, or a remark, that are shown at once."""
LONGEST = 40_000
"""Characters of one text that are shown at all."""
HIGHEST = 5
"""Points of the scale of a score."""


def prose(text: str) -> list[Node]:
    """A text with what stands in backticks as code, as judges write.

    >>> prose("see `a.py`")
    ['see ', ['code', {}, ['a.py']]]
    """
    parts = _CODE.split(reveal(text))
    return [h("code", part) if at % 2 else part for at, part in enumerate(parts) if part]


def remark(text: object, *, cls: str = "sen-remark", what: str = "text") -> Node:
    """What somebody said of a run; a long one can be unfolded."""
    whole = str(text)
    if len(whole) <= LONG:
        return h("p", prose(whole), cls=cls, dir="auto")
    words = f"{say_first(LONG, len(whole), 'character')} of this {what}; open to read more"
    words += f", to {LONGEST:,}" * (len(whole) > LONGEST)
    return h(
        "div",
        h("p", prose(whole[:LONG]), "…", cls=cls, dir="auto"),
        h("details", h("summary", words, cls="sen-soft sen-small"), text_box(whole[LONG:LONGEST])),
    )


def dots(score: float | None) -> Node:
    """A score as dots, filled as far as it goes."""
    if score is None:
        return h("span", "not scored", cls="sen-soft")
    fills = [min(max(score - at, 0.0), 1.0) for at in range(HIGHEST)]
    cells = [h("i", style={"--sen-fill": f"{fill:.0%}"}) for fill in fills]
    return h(
        "span",
        h("span", cells, cls="sen-dots", aria_hidden="true"),
        h("b", score_text(score), cls="sen-score"),
        h("span", f" of {HIGHEST}", cls="sen-soft sen-small"),
        cls="sen-scored",
    )


def score_text(score: float) -> str:
    """A score or a mean of scores.

    >>> score_text(4.0), score_text(3.6666)
    ('4', '3.67')
    """
    return f"{score:.2f}".rstrip("0").rstrip(".")


LOOK = {"graded": "good", "gated": "odd", "errored": "bad", "ungraded": "odd", "executed": ""}
"""How the status of a run looks."""


def _rate_bar(rate: float) -> Node:
    style = {"--sen-fill": f"{min(max(rate, 0), 1):.1%}"}
    bar = h("span", cls="sen-rate", style=style, aria_hidden="true")
    return h("span", bar, h("b", f"{rate:.0%}"))


_FIGURES: Mapping[str, tuple[str, Callable[[Any], Child]]] = {
    "status": ("Status", lambda status: pill(line(status), LOOK.get(status, ""))),
    "pass_rate": ("Pass rate", _rate_bar),
    "structural_pass_rate": ("Structural", "{:.0%}".format),
    "gate_passed": ("Gate", lambda on: pill("passed", "good") if on else pill("failed", "bad")),
    "rubric_weighted_mean": ("Rubric", dots),
    "time_seconds": ("Time", "{:,.1f} s".format),
    "tokens": ("Tokens", "{:,}".format),
    "cost_usd": ("Cost", dollars),
    "tool_calls": ("Tool calls", "{:,}".format),
    "errors": ("Errors", lambda n: h("span", f"{n:,}", cls="sen-bad-ink") if n else None),
    "skill_used": ("Skill", lambda used: "opened" if used else "not opened"),
    "executor_model": ("Executor model", line),
    "judge_model": ("Judge model", line),
}
"""By column what a figure is called, and how it is shown."""


def show_figures(ws: Workspace, key: RunKey) -> Node:
    """The figures that there are; a missing one is left out, and is no zero."""
    row, tiles = run_row(ws, key), []
    for column, (title, view) in _FIGURES.items():
        value = None if row[column] is None else view(row[column])
        if column == "pass_rate" and value and row["total"] is not None:
            counts = f" {row['passed'] or 0:,} of {row['total']:,}"
            value = [value, h("span", counts, cls="sen-soft sen-small")]
        if value:
            tiles.append(h("div", h("dt", title), h("dd", value), cls="sen-figure"))
    return h("div", h("dl", tiles, cls="sen-figures"), _run_problems(ws, row))


def _run_problems(ws: Workspace, row: Row) -> Child:
    """What could not be used of this run, and why it errored."""
    import polars as pl

    mine = pl.col("path").is_in([row["path"]]) | pl.col("path").str.starts_with(f"{row['path']}/")
    found = ws.polars("problems").filter(mine & (pl.col("severity") != "info"))
    facts = [
        h("li", pill(row["severity"], KINDS[row["severity"]]), " ", reveal(row["message"]))
        for row in found.head(20).iter_rows(named=True)
    ]
    return h("ul", facts, cls="sen-list sen-problems") if facts else None


MOST = 300
"""Expectations of a layer, dimensions or remarks that are shown at most."""
LAYERS = {"structural": "Structural", "judged": "Judged"}


def _list(items: Sequence[Node], noun: str) -> list[Child]:
    """The first of them, and how many there are."""
    more = note(f"{say_first(MOST, len(items), noun)}.") if len(items) > MOST else None
    return [h("ul", items[:MOST], cls="sen-list"), more]


def _head_of(*content: Child) -> Node:
    return h("div", content, cls="sen-row sen-middle sen-layer")


def show_checks(ws: Workspace, key: RunKey) -> Node:
    """Each expectation of a run with its outcome and the evidence, layer by layer."""
    found = rows_of_run(ws, "expectations", key)
    if not found:
        return h("div", note("No expectations were checked."), cls="sen-checks")
    parts = []
    for layer in dict.fromkeys([*LAYERS, *(str(check["layer"]) for check in found)]):
        mine = [check for check in found if str(check["layer"]) == layer]
        if mine:
            title = h("span", LAYERS.get(layer, line(layer)), cls="sen-strong")
            outcomes = strip([check["passed"] for check in mine])
            counts = h("span", checks_summary(mine), cls="sen-soft")
            head = _head_of(title, " ", outcomes, counts)
            parts.append(h("div", head, _list([_check_item(row) for row in mine], "expectation")))
    return h("div", parts, cls="sen-checks")


def checks_summary(found: Sequence[Row]) -> str:
    """How many of the expectations passed.

    >>> checks_summary([{"passed": True}, {"passed": False}, {"passed": None}])
    '1 of 2 passed, 1 not scored'
    """
    scored = [bool(check["passed"]) for check in found if check["passed"] is not None]
    left = len(found) - len(scored)
    facts = [f"{sum(scored):,} of {len(scored):,} passed"] if scored else []
    return ", ".join([*facts, *([f"{left:,} not scored"] if left else [])])


def _check_item(row: Row) -> Node:
    text = row["text"] or row["expectation_id"] or "(no text)"
    facts = join_parts(
        [
            row["text"] and row["expectation_id"] and line(row["expectation_id"]),
            row["type"] and h("code", line(row["type"])),
            row["confidence"] and f"confidence {line(row['confidence'])}",
        ]
    )
    gate = [" ", pill("critical", "bad" if row["passed"] is False else "")]
    title = h(
        "div",
        h("span", h("span", prose(str(text)), dir="auto"), gate if row["critical"] else None),
        " ",
        h("span", facts, cls="sen-soft sen-small") if facts else None,
        cls="sen-titled",
    )
    look = f"sen-item sen-{outcome(row['passed']).replace(' ', '-')}"
    return h("li", verdict(row["passed"]), h("div", title, _evidence(row["evidence"])), cls=look)


def _evidence(text: object) -> Child:
    """What an outcome or a score rests on."""
    if text is None or not str(text).strip():
        return None
    return remark(text, cls="sen-evidence", what="evidence")


def show_rubric(ws: Workspace, key: RunKey) -> Node:
    """Each dimension with the score of each judging and its evidence, and the weighted mean."""
    found = rows_of_run(ws, "rubric_scores", key)
    if not found:
        return h("div", note("No rubric was scored."), cls="sen-rubric")
    defined = {row["dimension"]: row for row in rows_of_eval(ws, "dimensions", key)}
    names = dict.fromkeys(str(score["dimension"]) for score in found)
    parts = [
        _dimension_item(each, [row for row in found if row["dimension"] == each], defined.get(each))
        for each in names
    ]
    return h("div", _rubric_mean(ws, key, found), _list(parts, "dimension"), cls="sen-rubric")


def _rubric_mean(ws: Workspace, key: RunKey, found: Sequence[Row]) -> Node:
    judgings = {(score["judging"], score["judge_model"]) for score in found}
    judges = dict.fromkeys(line(judge) for _, judge in sorted(judgings, key=str) if judge)
    facts = join_parts([count(len(judgings), "judging"), ", ".join(judges)])
    mean = run_row(ws, key)["rubric_weighted_mean"]
    weighted = [h("span", "Weighted mean", cls="sen-strong"), " ", dots(mean), " "]
    return _head_of(weighted if mean is not None else None, h("span", facts, cls="sen-soft"))


def _dimension_item(dimension: str, found: Sequence[Row], defined: Row | None) -> Node:
    scores = [score["score"] for score in found if score["score"] is not None]
    weight = next((score["weight"] for score in found if score["weight"] is not None), None)
    times = None if weight in (None, 1) else h("span", f"× {score_text(weight)}", title="weight")
    each = f"{', '.join(map(score_text, scores))} in {count(len(found), 'judging')}"
    title = h("div", name(dimension, cls="sen-name sen-strong"), " ", times, cls="sen-dimension")
    mean = dots(sum(scores) / len(scores) if scores else None)
    several = h("span", each, cls="sen-soft sen-small") if len(found) > 1 else None
    words = meaning_of(defined["description"], defined["anchors"]) if defined else []
    meaning = fold_content("What the scores mean", words) if words else None
    return h(
        "li",
        title,
        h("div", mean, " ", several, cls="sen-row sen-middle"),
        h("div", _score_basis(found), meaning, cls="sen-basis"),
        cls="sen-item sen-of-rubric",
    )


def _score_basis(found: Sequence[Row]) -> Child:
    """The evidence of each judging; once where it is that of all."""
    if len({score["evidence"] for score in found}) == 1:
        return _evidence(found[0]["evidence"])
    judged = [score for score in found if score["evidence"]]
    scores = ["no score" if row["score"] is None else score_text(row["score"]) for row in judged]
    items = [
        h("li", h("b", score, cls="sen-score"), h("div", _evidence(row["evidence"])))
        for score, row in zip(scores, judged, strict=True)
    ]
    return h("ul", items, cls="sen-judgings")


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


SECTIONS = ("figures", "checks", "rubric", "critique", "transcript", "outputs")
NAMES = 4
"""Files whose names stand in the line that unfolds them."""


def show_run(ws: Workspace, key: RunKey, colour: str | None = None) -> Node:
    """One run, headed by what it is; the long parts are to be unfolded.

    Args:
        ws: the workspace.
        key: the run.
        colour: that of its side: `with`, `base` or `other`; by its name if not given.
    """
    row = next(iter(rows_of_run(ws, "runs", key)), None)
    if row is None:
        return h("div", note(f"Run {line(run_in_words(key))} no longer exists."), cls="sen-run")
    colour = colour or ("with" if likeness(key.configuration) is None else "base")
    side = h("span", name(key.configuration), cls=f"sen-side sen-side-{colour}")
    of = join_parts(
        [f"run {key.run_number}", None if key.iteration == "none" else name(key.iteration)]
    )
    title = [h("h4", name(row["eval_name"] or key.eval_id)), " ", side, " "]
    code = copy_button(code_of_run(ws, key), "the line of code that shows this run", "Copy code")
    about = h("span", of, cls="sen-soft")
    head = h("div", title, about, code, cls="sen-row sen-middle sen-run-head")
    folder = folder_of(ws, row)
    parts = [section(part, ws, key, folder) for part in SECTIONS]
    whole = h("div", head, prompt_view(ws, key))
    return h("section", whole, parts, cls="sen-run", key=f"run {key}")


def prompt_view(ws: Workspace, key: RunKey, *, unfolded: bool = False) -> Node | None:
    """What the executor was asked, and what success looks like."""
    row = next(iter(rows_of_eval(ws, "evals", key)), None)
    if row is None or not row["prompt"]:
        return None
    wanted = row["expected_output"]
    expected = [note("Expected output"), _long_text(str(wanted))] if wanted else None
    head = h("summary", "Prompt", cls="sen-soft")
    copy = copy_button(str(row["prompt"]), "the prompt")
    return h("details", head, _long_text(str(row["prompt"])), copy, expected, open=unfolded)


def _long_text(text: str) -> Child:
    most = 20_000
    left = note(f"{say_first(most, len(text), 'character')}.") if len(text) > most else None
    return [h("p", reveal(text[:most]), cls="sen-remark", dir="auto"), left]


def section(
    part: str,
    ws: Workspace,
    key: RunKey,
    folder: Path | None,
    *,
    unfolded: Collection[str] | None = None,
    token: str = "",
) -> Child:
    """A part of what is shown of a run.

    Args:
        part: one of SECTIONS.
        ws: the workspace.
        key: the run.
        folder: its folder; None where it has none of its own.
        unfolded: the parts that the action `unfold` has opened; None where all of them are there,
            to be opened without it.
        token: the run, where nothing may tell which it is.
    """
    if part == "figures":
        return show_figures(ws, key)
    if part == "checks":
        return [h("h5", "Checks"), show_checks(ws, key)]
    if part == "rubric":
        scored = rows_of_run(ws, "rubric_scores", key)
        return [h("h5", "Rubric"), show_rubric(ws, key)] if scored else None
    if part == "critique":
        title, summary = "The judge's critique", critique_summary(ws, key)
        content = show_critique(ws, key)
    elif folder is None:
        what = "transcript is" if part == "transcript" else "outputs are"
        return note(f"No {what} stored: this run has no folder of its own.")
    elif part == "transcript":
        title, summary = "Transcript", transcript_summary(folder)
        if summary is None:
            return note("No transcript.")
        content = show_transcript(folder) if unfolded is None or part in unfolded else h("div")
    else:
        files = output_files(folder)
        names = join_parts([name(file.name) for file in files[:NAMES]], ", ")
        more = f" and {len(files) - NAMES:,} more" if len(files) > NAMES else None
        title, summary = "Outputs", [*names, more, f" ({summary_of(files)})"] if files else "none"
        content = show_outputs(files, key=str(key))
    if content is None:
        return None
    words = [h("span", title, cls="sen-strong"), " ", h("span", summary, cls="sen-soft")]
    look: dict[str, Any] = {"cls": "sen-part", "key": f"{part} {token or key}"}
    if unfolded is not None:
        look |= {"open": part in unfolded, "on": {"toggle": ("unfold", part)}}
    return h("details", h("summary", words), content, **look)


SORTS = ("claims", "notes", "suggestions")
_VERIFIED = {True: "verified", False: "not verified", None: "not checked"}


def show_critique(ws: Workspace, key: RunKey) -> Node | None:
    """The claims of a run and whether they hold, notes, and suggestions for the evals.

    None where there are none.
    """
    claims, notes, suggestions = (rows_of_run(ws, sort, key) for sort in SORTS)
    parts = {
        "Claims": [_claim_item(claim) for claim in claims],
        "Notes": [_of_kind(note, remark(note["text"], what="note")) for note in notes],
        "Suggestions for the evals": [_suggestion_item(suggestion) for suggestion in suggestions],
    }
    if not any(parts.values()):
        return None
    shown = [
        [h("p", h("span", title, cls="sen-strong"), cls="sen-layer"), _list(items, "remark")]
        for title, items in parts.items()
        if items
    ]
    return h("div", shown, cls="sen-critique")


def critique_summary(ws: Workspace, key: RunKey) -> str:
    """How many claims, notes and suggestions there are."""
    facts = [(sort, len(rows_of_run(ws, sort, key))) for sort in SORTS]
    return ", ".join(count(number, sort.removesuffix("s")) for sort, number in facts if number)


def _claim_item(row: Row) -> Node:
    label = _VERIFIED[row["verified"]]
    facts = join_parts([label, row["type"] and line(row["type"])])
    claim = h("p", prose(str(row["claim"])), dir="auto")
    about = [claim, note(facts), _evidence(row["evidence"])]
    return h("li", verdict(row["verified"], label=label), h("div", about), cls="sen-item")


def _suggestion_item(row: Row) -> Node:
    of = row["expectation"]
    about = h("p", "On: ", h("span", prose(str(of)), dir="auto"), cls="sen-soft") if of else None
    return _of_kind(row, about, remark(row["reason"], what="suggestion") if row["reason"] else None)


def _of_kind(row: Row, *content: Child) -> Node:
    kind = line(row["kind"]).replace("_", " ")[:40]
    return h("li", pill(kind), h("div", content), cls="sen-item sen-kind")
