"""`library`: many skills on one page, with the answer over all of them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_eval_nb import view
from skill_eval_nb.charts.deltas import DASHED, draw_forest, forest_row
from skill_eval_nb.charts.metrics import metric
from skill_eval_nb.charts.theme import finish
from skill_eval_nb.disk import leads_out
from skill_eval_nb.skill_md import CHARS_OF_TOKEN, SKILL_FILE, estimate_context, read_skill_md
from skill_eval_nb.stats.confounds import DECIDED, OFFLINE
from skill_eval_nb.stats.lean import NO_LEAN
from skill_eval_nb.stats.skills import OverSkills, average_skills, measure_skills, name_baseline
from skill_eval_nb.stats.values import HEADLINE, model_name
from skill_eval_nb.stats.verdict import Row
from skill_eval_nb.tables import Workspace, load
from skill_eval_nb.tables.columns import to_backend_of
from skill_eval_nb.text import MISSING, count, lower_first, p_value, some
from skill_eval_nb.workspace import write_atomic
from skill_eval_nb.workspace.jobs import find_kept_skill, kept_skills

from .measured import (
    Bullets,
    Paragraph,
    Part,
    Picture,
    Section,
    Table,
    difference,
    in_unit,
    line,
    section,
)
from .page import render_html, render_markdown

if TYPE_CHECKING:
    import polars as pl
    from altair.typing import ChartType

    from skill_eval_nb.tables.columns import Backend

PLACES = ("", "{skill}", "skills/{skill}", ".claude/skills/{skill}")
"""Where a skill lies below a folder above its workspace, or the workspace's own."""
CONTEXT = ("context_always", "context_opened", "context_files")
COLUMNS = (
    ("Tokens per run", "tokens", "tokens"),
    ("Baseline", "tokens_baseline", "tokens"),
    ("Cost per run", "cost_usd", "cost_usd"),
    ("Baseline", "cost_usd_baseline", "cost_usd"),
    ("Context: always", CONTEXT[0], "tokens"),
    ("when opened", CONTEXT[1], "tokens"),
    ("its files", CONTEXT[2], "tokens"),
)
"""What a skill costs: the head of a column, where it stands, and its unit."""
ESTIMATED = (
    f"Context use is estimated, at {CHARS_OF_TOKEN} characters per token: "
    "its name and description always, the rest of SKILL.md when it is opened, its other text files "
    "if all of them are read."
)
COUNTED = (
    "For each skill, the newest iteration that compares pass rates counts. Comparisons with no "
    "skill and with an earlier version are reported separately. The mean over skills "
    "weights all skills equally; its p comes from flipping the signs of skills. A skill's "
    "own verdict is about its own evals, or about tasks like these where each eval was run once "
    "and six differ. It is corrected for the number of skills (Holm and Sidak), leans for that of "
    "leans (Benjamini and Hochberg); intervals are not corrected. An eval is uninformative if "
    "every run on both sides passes everything, or nothing."
)
MOST = 80
"""Skills that one chart holds, and a table of text."""


class Library(view.Shown):
    """Many skills: what each does, what all do on average, what to do next, and what they cost.

    Attributes:
        ws: the workspaces in it.
        table: one row per skill, see `library`.
        answers: over skills, one for each kind of baseline.
        page: what is shown.
    """

    def __init__(self, ws: Workspace) -> None:
        self.ws = ws
        self._frame = _add_context(measure_skills(ws), ws)
        self.table: Any = to_backend_of(ws, self._frame)
        self.answers: Sequence[OverSkills] = average_skills(self.rows)
        skills = count(len({row["skill"] for row in self.rows}), "skill")
        self.page: Section = section(f"Library of {skills}", _parts(self), _sections(self))

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of the table."""
        return self._frame.to_dicts()

    def name_rows(self, answer: OverSkills) -> list[tuple[int, str, dict[str, Any]]]:
        """The rows that an answer covers, each with its place in the table and its name.

        The name is the skill, and its workspace and model if several share the name.
        """
        rows = self.rows
        several = Counter(row["skill"] for row in rows)
        suites = Counter((row["workspace"], row["skill"]) for row in rows)
        found = []
        for at, row in enumerate(rows):
            n = suites[row["workspace"], row["skill"]]
            parts = [row["skill"]]
            parts += [row["workspace"]] if several[row["skill"]] > n else []
            parts += [model_name(row)] if n > 1 else []
            if name_baseline(row) == answer.against:
                found.append((at, " · ".join(line(part, 40) for part in parts), row))
        return found

    def write(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write library.md and library.html.

        Raises:
            OSError: a file cannot be written.
        """
        files = {"library.md": render_markdown(self.page), "library.html": render_html(self.page)}
        return [write_atomic(Path(folder, name), text) for name, text in files.items()]

    def _blocks(self) -> Iterator[view.Block]:
        yield view.Title(self.page.heading, self.ws.path)
        for inner in (self.page, *self.page.sections):
            yield from filter(None, map(show_part, inner.parts))

    def _data(self) -> dict[str, Any]:
        return {"answers": [each._asdict() for each in self.answers], "skills": self.rows}


def library(path: Any, *, backend: Backend = "polars") -> Library:
    """Many skills on one page: what each does, what they do on average, and what to do next.

    Skills are the units: a library of skills with few evals each can settle what none of them
    can alone. For each skill, the newest iteration that compares pass rates counts. The mean
    over skills (each counts once) is tested by the exact sign flip over skills. Skills compared
    with no skill and skills compared with an earlier version are kept apart. Each skill's
    verdict is corrected for the number of skills.

    Args:
        path: a folder above the workspaces, or anything that `load` takes; or a `Workspace`.
        backend: `"polars"` or `"pandas"`, the kind of the table.

    Returns:
        A `Library`, which shows itself; `.write(folder)` writes library.md and library.html. Its
        `.table` has a row a workspace × skill, and of each model and harness as for `stats.deltas`:
        what is decided first, then what leans, the largest difference before the others. It has

        - the columns of `stats.deltas`, about these evals, or about tasks like these where only
          that can be told (`scope`). `p_adjusted` follows Holm's step-down with Sidak's bound over
          all skills that could be decided, as their p are independent; `lean_p_adjusted` Benjamini
          and Hochberg. What does not stand up to these is no `helps`, `hurts` or lean, and its
          interval holds 0. Of several configurations it is the first one against the baseline;
        - `new_runs`, `price_usd` and `seconds` of the next step if the difference is what was seen;
          null if there is none, or runs do not say;
        - `n_silent`: paired evals that tell nothing, all runs of both sides passing everything
          (`n_all_passed`) or nothing;
        - `tokens`, `cost_usd` and `time_seconds` of a run, each with its `…_baseline`: means over
          the runs that say, null if none does;
        - `context_always`, `context_opened`, `context_files`: tokens that the skill takes of the
          context by its name and description, by the rest of its SKILL.md once it is opened, and by
          its other text files if all were read, estimated as a quarter of their characters: of the
          version that the iteration keeps, else of the skill of that name beside the workspace, or
          in `skills` or `.claude/skills` above it. Null if there is none.

        Skills of which no eval has a pass rate on both sides have no row; the page names them.

    Raises:
        FileNotFoundError, NothingToLoad: as `load`.

    >>> from skill_eval_nb.share import share
    >>> found = library(share() / "data")
    >>> found.table.select("skill", "verdict").row(0)
    ('testing', 'helps')
    """
    return Library(path if isinstance(path, Workspace) else load(path, backend))


def find_skill(home: Path, top: Path, name: str) -> Path | None:
    """The folder of the skill of a name: the nearest to a workspace, not above `top`."""
    for folder in (home, *home.parents):
        for place in PLACES:
            found = folder / place.format(skill=name)
            file = found / SKILL_FILE
            is_there = file.is_file() and not leads_out(file, found)
            if is_there and (found.name == name or read_skill_md(file).name == name):
                return found
        if folder == top:
            break
    return None


def _add_context(found: pl.DataFrame, ws: Workspace) -> pl.DataFrame:
    """The rows with what each skill takes of the context: as it was run, else as it is now."""
    import polars as pl

    top, context = Path(ws.path).absolute(), []
    keys = found.select("workspace", "skill", "iteration", "configuration").rows()
    skills = Counter(workspace for workspace, _ in {key[:2] for key in keys})
    for workspace, skill, *of in keys:
        context.append((None,) * 3)
        if not ws.path or Path(skill).name != skill:  # such a name would lead elsewhere
            continue
        home = top / workspace if (top / workspace).is_dir() else top  # which is it itself
        kept = (
            find_kept_skill(kept_skills(home, of[:1], of[1:]), *of)
            if skills[workspace] == 1
            else None
        )
        folder = kept.folder if kept else find_skill(home, top.parent, skill)
        with suppress(OSError):
            context[-1] = estimate_context(folder) if folder else context[-1]
    return found.hstack(pl.DataFrame(context, dict.fromkeys(CONTEXT, pl.Int64), orient="row"))


def _parts(library: Library) -> Iterator[Part]:
    """The answer over all skills, what only several skills can show, and each skill."""
    rows = library.rows
    if any(row["stand_in"] for row in rows):
        yield Paragraph(OFFLINE)
    for answer in library.answers:
        yield Paragraph(answer.because, answer.claim)
    if not rows:
        yield Paragraph("No skill here has an eval with a pass rate on two sides.")
    yield Bullets(tuple(_say_in_common(library)))
    for answer in library.answers:
        own = [(name, row) for _, name, row in library.name_rows(answer)]
        yield Picture(
            f"The delta of each skill against {answer.against}, with its interval. "
            "The table has the figures.",
            partial(_draw_deltas, own, answer),
        )
        yield Table(
            f"Against {answer.against}, what is known first; intervals in brackets assume "
            "the noise of public benchmarks",
            ("Skill", "Evals × runs", "Uninformative", "Delta", "Interval", "p", "What is known"),
            tuple((name, *_cells(row)) for name, row in own),
        )


def say_known(row: Row) -> str:
    """What is known of a skill by itself: its verdict, else what it leans to."""
    if row["verdict"] in DECIDED or row["lean"] in (None, NO_LEAN):
        return row["verdict"] or "no verdict"
    return row["lean"]


def say_step(row: Row) -> str:
    """What would decide a skill if the difference is what was seen, or why nothing usual would."""
    step = row["next_step"] or ""
    return f"{step.partition(')')[0]})" if row["new_runs"] else step


def _cells(row: Row) -> tuple[str, ...]:
    n, both = row["n_evals"], (row["n_runs"], row["n_runs_baseline"])
    alike = both[0] == both[1] and both[0] % n == 0
    known = say_known(row)
    leans = known == row["lean"]
    low, high = (row[f"{'lean_' if leans else ''}{end}"] for end in ("low", "high"))
    from_, to = difference(low, HEADLINE).removesuffix(" pp"), difference(high, HEADLINE)
    interval = MISSING if low is None else f"{from_} to {to}"
    return (
        f"{n:,} × {both[0] // n:,}" if alike else f"{n:,}: {both[0]:,} and {both[1]:,}",
        f"{row['n_silent']:,}",
        difference(row["estimate"], HEADLINE),
        f"({interval})" if leans else interval,
        p_value(row["p_adjusted"]),
        known,
    )


def _say_in_common(library: Library) -> Iterator[str]:
    """What the skills have in common."""
    rows = library.rows
    evals, silent, passed = (
        sum(row[name] for row in rows) for name in ("n_evals", "n_silent", "n_all_passed")
    )
    if silent:
        yield (
            f"Uninformative: {silent:,} of {count(evals, 'eval')}, where "
            f"every run on both sides passes everything ({passed:,}) or nothing "
            f"({silent - passed:,})."
        )
    known = {row["skill"]: row for row in rows if row["context_always"] is not None}
    if known:
        always, most = (
            sum(row[name] for row in known.values())
            for name in ("context_always", "context_opened")
        )
        yield (
            f"Names and descriptions of {count(len(known), 'skill')} take about {always:,} tokens "
            f"of every context; {most:,} more if all are opened."
        )
    suites = Counter((row["workspace"], row["skill"]) for row in rows)
    if several := [skill for (_, skill), n in suites.items() if n > 1]:
        yield f"Run by several models, each with its own row: {some(several, 6)}."
    there = {name for table in ("runs", "evals") for name in library.ws.polars(table)["skill"]}
    if left := sorted(there - {row["skill"] for row in rows} - {None}):
        yield f"Not compared, as no eval has a pass rate on two sides: {some(left, 6)}."


def _draw_deltas(named: Sequence[tuple[str, Row]], answer: OverSkills) -> ChartType:
    meant = metric(HEADLINE)
    own = [
        forest_row(dict(row), name, "", meant) | {"verdict": say_known(row)}
        for name, row in named[:MOST]
    ]
    word = (answer.verdict or "").replace("evals", "skills")
    sides = {n: sum(row[n] for _, row in named) for n in ("n_runs", "n_runs_baseline")}
    of = {"metric": HEADLINE, "worth": None, "reason": answer.because, **sides}
    mean = forest_row(answer._asdict() | of, "mean over skills", "", meant)
    mean |= {"all": True, "verdict": word}
    left = len(named) - len(own)
    notes = [f"{count(left, 'skill')} more in the table."] if left else []
    notes += [DASHED] if any(row["lean_low"] is not None for row in own) else []
    return finish(draw_forest([mean, *own], meant), answer.claim, notes)


def _sections(library: Library) -> Iterator[Section]:
    every = sorted(own for answer in library.answers for own in library.name_rows(answer))
    named = [(name, row) for _, name, row in every]
    yield section("What to do next", _steps(named))
    known = any(row[name] is not None for _, row in named for name in CONTEXT)
    columns = [each for each in COLUMNS if any(row[each[1]] is not None for _, row in named)]
    if columns:
        rows = tuple(
            (name, *(in_unit(row[key], of) for _, key, of in columns))
            for name, row in named
            if any(row[key] is not None for _, key, _ in columns)
        )
        heads = ("Skill", *(head for head, _, _ in columns))
        table = Table("Means over the runs with it", heads, rows)
        yield section("What it costs", [table, *([Paragraph(ESTIMATED)] if known else [])])
    yield section("How this is counted", [Paragraph(COUNTED)])


def _steps(named: Sequence[tuple[str, Row]]) -> Iterator[Part]:
    """The additions that would decide, the cheapest first; or why there is none."""
    decide = [(name, row) for name, row in named if row["new_runs"]]
    if decide:
        decide.sort(key=lambda each: each[1]["new_runs"])
        rows = tuple((name, say_step(row)) for name, row in decide)
        title = "What would settle the verdict on a skill, if the difference seen is real"
        yield Table(title, ("Skill", "Next step"), rows, labels=2)
    others: dict[str, list[str]] = {}
    for name, row in named:
        if row["next_step"] and not row["new_runs"]:
            others.setdefault(row["next_step"], []).append(name)
    yield Bullets(tuple(f"{some(own, 8)}: {lower_first(why)}" for why, own in others.items()))


def show_part(part: Part) -> view.Block | None:
    """A part of the page as a value shows it; charts are not."""
    match part:
        case Paragraph(text, verdict):
            return view.Text(text, verdict, soft=not verdict)
        case Bullets(items):
            return view.Items(items, "Notes")
        case Table():
            figures, more = part.header[part.labels :], len(part.rows) - MOST
            return view.Table(part.header, part.rows[:MOST], part.caption, figures, more)
    return None
