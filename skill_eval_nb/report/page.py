"""A report as Markdown, and as one HTML file that opens anywhere."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from typing import TYPE_CHECKING, TypeGuard

from skill_eval_nb import charts
from skill_eval_nb.stats.lean import NO_LEAN
from skill_eval_nb.stats.values import HEADLINE, Model, check_workspace
from skill_eval_nb.text import count

from .left_out import (
    OPINION,
    STATED,
    audit_parts,
    list_audit,
    list_left_out,
    list_noted,
    opinion_parts,
    problem_parts,
)
from .measured import (
    MISSING,
    NO_ITERATION,
    Bullets,
    IterationFigures,
    Paragraph,
    Part,
    Picture,
    Row,
    Section,
    Table,
    delta_cell,
    in_unit,
    line,
    list_slices,
    measure,
    section,
    with_n,
)
from .verdicts import (
    certainty,
    check_parts,
    cost,
    evals,
    failing_checks,
    full_name,
    heading_of,
    judge,
    opening_parts,
    rubric,
    variance,
    verdicts,
)

if TYPE_CHECKING:
    from altair.typing import ChartType

    from skill_eval_nb.tables import Workspace


SECTIONS: dict[str, Callable[[IterationFigures], Iterator[Part]]] = {
    "Notable": list_noted,
    "What fails": failing_checks,
    "How sure is that?": certainty,
    "Evals": evals,
    "Rubric dimensions": rubric,
    "Where the variance comes from": variance,
    "Can the judge be trusted?": judge,
    "Checks": check_parts,
    "What was left out, and why": list_left_out,
    STATED: list_audit,
    OPINION: lambda measured: opinion_parts(measured.ws),
    "What it cost": cost,
}
"""What follows the opening table, in order. A section with nothing in it is not shown."""


@dataclass(frozen=True, slots=True)
class Reported:
    """An iteration: its figures, and its section of the report."""

    measured: IterationFigures
    section: Section


def measure_iterations(
    ws: Workspace, progress: Callable[[str], object] | None = None
) -> list[Reported]:
    """Every iteration of a workspace, in natural order; `progress` is called before each."""
    check_workspace(ws, "report")
    places = list_slices(ws)
    every = []
    for number, place in enumerate(places, 1):
        if progress is not None:
            progress(f"working out the figures: {number:,} of {count(len(places), 'benchmark')}")
        measured = measure(ws, place)
        every.append(Reported(measured, _section_of(measured)))
    return every


def whole_report(ws: Workspace, every: Sequence[Reported]) -> Section:
    """The report of some iterations of a workspace."""
    if not every:
        return section(
            "Nothing to report",
            [Paragraph("No run, no benchmark.json and no eval was found."), *problem_parts(ws)],
        )
    audits = tuple(_audits(ws, every))
    if len(every) == 1:
        return replace(every[0].section, sections=(*every[0].section.sections, *audits))
    skills = {report.measured.place.skill for report in every}
    of = line(skills.pop()) if len(skills) == 1 else count(len(skills), "skill")
    parts = (replace(report.section, heading=full_name(report.measured)) for report in every)
    return section(f"Benchmarks of {of}", _overview_parts(ws, every), (*parts, *audits))


def _audits(ws: Workspace, every: Sequence[Reported]) -> Iterator[Section]:
    """What is stated of iterations that are reported model by model: it is of all models."""
    places = (iteration.measured.place for iteration in every)
    for place in dict.fromkeys(place.of_all_models for place in places if place.model):
        names = dict.fromkeys((place.workspace, place.skill, place.iteration))
        of = ", ".join(line(name) for name in names if name not in ("", NO_ITERATION))
        own = place.select(ws)
        for heading, found in ((STATED, audit_parts(own)), (OPINION, opinion_parts(own))):
            if parts := tuple(found):
                yield Section(f"{heading}: {of}, all models", parts)


def _section_of(measured: IterationFigures) -> Section:
    """The opening parts, then the sections that have something to say."""
    sections = (section(heading, parts(measured)) for heading, parts in SECTIONS.items())
    return section(
        heading_of(measured), opening_parts(measured), (part for part in sections if part.parts)
    )


def _overview_parts(ws: Workspace, every: Sequence[Reported]) -> Iterator[Part]:
    """What each skill does, by its last iteration that compares anything, and all side by side."""
    for measured in latest_figures(every):
        verdict = next(filter(_is_verdict, verdicts(measured)))
        yield replace(verdict, verdict=f"{full_name(measured)}: {verdict.verdict}")
    yield Picture(
        "The pass rate and the rubric of each configuration, iteration by iteration.",
        partial(charts.iterations, ws),
    )
    yield Table(
        "Pass rate: means over runs (n = runs); delta paired by eval (n = evals)",
        ("Benchmark", "Compared", "Baseline", "Delta", "These evals"),
        tuple((full_name(report.measured), *_overview_row(report.measured)) for report in every),
    )


def latest_figures(every: Sequence[Reported]) -> list[IterationFigures]:
    """Of each skill and model the last iteration that compares anything, else any."""
    last: dict[tuple[str, str, Model], IterationFigures] = {}
    for measured in (report.measured for report in every):
        place = measured.place
        compares = any(row["n_evals"] for row in measured.deltas.values() if "n_evals" in row)
        key = place.workspace, place.skill, place.model
        if any(map(_is_verdict, verdicts(measured))) and (compares or key not in last):
            last[key] = measured
    return list(last.values())


def _is_verdict(part: Part) -> TypeGuard[Paragraph]:
    return isinstance(part, Paragraph) and bool(part.verdict)


def _overview_row(measured: IterationFigures) -> tuple[str, ...]:
    """An iteration: the compared configuration, its baseline, the delta."""
    compared = next(iter(measured.compared or measured.configurations), None)
    baseline = measured.baseline if measured.baseline != compared else None
    return (
        _side_cell(measured, compared),
        _side_cell(measured, baseline),
        delta_cell(measured, compared or "", HEADLINE),
        _verdict_cell(measured.deltas.get((compared or "", HEADLINE), {})),
    )


def _verdict_cell(row: Row) -> str:
    """The verdict on these evals, and what they lean to."""
    lean = row.get("lean")
    leans = f", {lean}" if lean and lean != NO_LEAN else ""
    return f"{row.get('verdict') or MISSING}{leans}"


def _side_cell(measured: IterationFigures, name: str | None) -> str:
    if name is None:
        return MISSING
    shown = in_unit(measured.figure(name, HEADLINE), HEADLINE)
    return with_n(f"{line(name)} {shown}", measured.figure(name, HEADLINE, "n"))


_STYLE = """\
:root {
  color-scheme: light dark;
  --page: #ffffff; --ink: #1f2933; --soft: #52606d; --faint: #7b8794;
  --line: #d9dee3; --grid: #ebeef1; --band: #f6f8fa; --link: #0063a0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #15191e; --ink: #e6eaee; --soft: #a9b4bf; --faint: #8996a3;
    --line: #37424d; --grid: #28313a; --band: #1c2229; --link: #6cb8ee;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 1rem/1.55 system-ui, "Segoe UI", Helvetica, Arial, "Liberation Sans", sans-serif;
}
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.5rem 5rem; }
h1, h2, h3, h4 { line-height: 1.25; overflow-wrap: anywhere; text-wrap: balance; }
h1 { font-size: 1.9rem; margin: 0 0 .6rem; }
h2 { font-size: 1.3rem; margin: 2.8rem 0 .6rem; }
h3 { font-size: 1.08rem; margin: 2rem 0 .5rem; }
h4 { font-size: 1rem; margin: 1.6rem 0 .4rem; }
p, li { max-width: 46rem; overflow-wrap: anywhere; }
p { margin: .5rem 0; }
.verdict { padding: .1rem 0 .1rem .9rem; border-left: 3px solid var(--link); }
ul { margin: .5rem 0; padding-left: 1.2rem; }
a { color: var(--link); }
nav ul { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; list-style: none; padding: 0; }
.wide { /* as wide as it must be, up to the window's edge */
  overflow-x: auto; margin: 1rem 0; width: max-content; min-width: 100%;
  max-width: min(calc(50vw + 28rem), calc(100vw - 3rem));
}
table { border-collapse: collapse; font-variant-numeric: tabular-nums; min-width: 30rem; }
caption { text-align: left; color: var(--soft); font-size: .875rem; padding-bottom: .35rem; }
th, td { padding: .42rem .9rem .42rem 0; text-align: left; vertical-align: top; }
th + th, th + td, td + td { padding-left: .9rem; }
thead th { border-bottom: 2px solid var(--line); font-size: .875rem; color: var(--soft); }
tbody th { font-weight: 500; max-width: 34rem; }
tbody tr { border-bottom: 1px solid var(--line); }
tbody tr:hover { background: var(--band); }
tbody th, td { overflow-wrap: break-word; }
.figure { text-align: right; white-space: nowrap; }
.short { white-space: nowrap; }
small { color: var(--faint); font-size: .8em; margin-left: .15em; }
figure { margin: 1.2rem 0 1.2rem -14px; } /* a chart brings its own margin of 14 px */
svg { display: block; max-width: 100%; height: auto; overflow: visible; }
@media print {
  :root {
    color-scheme: light;
    --page: #fff; --ink: #000; --soft: #333; --faint: #555; --line: #bbb; --grid: #ddd;
    --link: #000;
  }
  body { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  h2, h3, h4 { break-after: avoid; }
  tr, figure { break-inside: avoid; }
  thead { display: table-header-group; }
  .wide { overflow: visible; width: auto; max-width: none; }
}
"""


def build_stylesheet() -> str:
    """The page's rules, and those that give the charts' inks the page's colours."""
    from skill_eval_nb.charts import theme as look

    inks = {
        look.INK: "--ink",
        look.SOFT: "--soft",
        look.FAINT: "--faint",
        look.GRID: "--grid",
        "white": "--page",
    }
    rules = [
        f'svg [{kind}="{ink}" i] {{ {kind}: var({name}); }}\n'
        for ink, name in inks.items()
        for kind in ("fill", "stroke")
    ]
    return _STYLE + "".join(rules)


_OPENING = re.compile(r"<svg[^>]*>")
_SIZE = re.compile(r'\b(width|height|viewBox)="([^"]*)"')
_NAME = re.compile(r'(<\w+ id="|="url\(#)')


def inline_svg(chart: ChartType, alt: str, name: str) -> str:
    """A chart as an `<svg>` element for HTML.

    Args:
        chart: an Altair chart.
        alt: what it shows, for those who cannot see it.
        name: begins the names inside it, so that several charts can share a page.
    """
    import vl_convert

    spec = chart.to_dict(validate=False)  # our own, and tested: most of the time
    # one text for the whole picture: those for every mark would repeat all evidence
    spec["config"] = {**spec.get("config", {}), "aria": False}
    drawn = vl_convert.vegalite_to_svg(spec)
    opening = _OPENING.search(drawn)
    assert opening, "vl-convert gave no SVG"
    size = " ".join(f'{key}="{value}"' for key, value in _SIZE.findall(opening[0]))
    inside = _NAME.sub(rf"\1{name}-", drawn[opening.end() :])
    return f'<svg role="img" aria-label="{escape(alt)}" {size}>{inside}'


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


PICTURED = 12
"""Benchmarks that a page shows the charts of: each takes some 100 kB and half a second."""

SHORT = 20
"""Characters that are never broken into two lines."""


def html(ws: Workspace) -> str:
    """report.html: what `markdown` says, with the charts as SVG in the page.

    The page fetches nothing and runs nothing; every text from a file is escaped.
    """
    return render_html(whole_report(ws, measure_iterations(ws)))


def render_html(content: Section) -> str:
    """The page of a section and all inside it."""
    many = sum(bool(inner.sections) for inner in content.sections) > PICTURED
    if many:
        note = Paragraph(
            f"On a page of more than {PICTURED} benchmarks the charts of each are left out. "
            "A report of a single one has its charts."
        )
        content = replace(content, parts=(*content.parts, note))
    body = "\n".join(_section_html(content, 1, itertools.count(1), draw=not many))
    return _PAGE.format(title=escape(content.heading), style=build_stylesheet(), body=body)


def _section_html(
    section: Section, level: int, numbers: Iterator[int], *, draw: bool
) -> Iterator[str]:
    """The lines of a section; the first level stands in `main` by itself, and has its pictures."""
    number = next(numbers)
    drawn = draw or level == 1
    parts = [part for part in section.parts if drawn or not isinstance(part, Picture)]
    yield f'<section id="s{number}">' if level > 1 else '<header id="s1">'
    yield f"<h{level}>{escape(section.heading)}</h{level}>"
    yield from (_part_html(part, f"s{number}p{place}") for place, part in enumerate(parts))
    if level == 1:
        yield from _contents_links(section)
        yield "</header>"
    for inner in section.sections:
        yield from _section_html(inner, min(level + 1, 6), numbers, draw=draw)
    if level > 1:
        yield "</section>"


def _contents_links(whole: Section) -> Iterator[str]:
    """Links to the sections of a page, or to the benchmarks that it holds."""
    number, links = 2, []
    for inner in whole.sections:
        links.append(f'<li><a href="#s{number}">{escape(inner.heading)}</a></li>')
        number += 1 + len(inner.sections)
    if len(links) > 1:
        yield f'<nav aria-label="Contents"><ul>{"".join(links)}</ul></nav>'


def _part_html(part: Part, name: str) -> str:
    match part:
        case Paragraph(text, verdict, command):
            strong = verdict and f"<strong>{escape(verdict)}</strong> "
            code = command and f" <code>{escape(command)}</code>"
            kind = verdict and ' class="verdict"'
            return f"<p{kind}>{strong}{escape(text)}{code}</p>"
        case Bullets(items):
            return "<ul>" + "".join(f"\n<li>{escape(item)}</li>" for item in items) + "\n</ul>"
        case Table():
            return _table_html(part)
        case Picture():
            return f"<figure>\n{inline_svg(part.draw(), part.alt, name)}\n</figure>"


def _table_html(table: Table) -> str:
    classes = [_column_class(place, table) for place in range(len(table.header))]
    head = "".join(
        f'<th scope="col"{kind}>{escape(cell)}</th>'
        for kind, cell in zip(classes, table.header, strict=True)
    )
    rows = "\n".join(_row_html(row, classes, table.labels) for row in table.rows)
    caption = escape(table.caption)
    return (
        f'<div class="wide" role="region" aria-label="{caption}" tabindex="0">'
        f"<table>\n<caption>{caption}</caption>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table></div>"
    )


def _row_html(row: tuple[str, ...], classes: list[str], labels: int) -> str:
    name, *rest = [*map(escape, row[:labels]), *map(_figure_html, row[labels:])]
    cells = "".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(classes[1:], rest, strict=True))
    return f'<tr><th scope="row"{classes[0]}>{name}</th>{cells}</tr>'


def _figure_html(figure: str) -> str:
    """A figure, its n in small letters; a text is left as it is, whatever it ends in."""
    return re.sub(r" \((n = [\d,]+)\)$", r" <small>\1</small>", escape(figure))


def _column_class(place: int, table: Table) -> str:
    """The class of a column: figures, or texts that are too short to be broken."""
    if place >= table.labels:
        return ' class="figure"'
    is_short = all(len(escape(row[place])) <= SHORT for row in table.rows)
    return ' class="short"' if is_short else ""


_HTML = re.compile(r"&(?=#?\w)|<(?=[a-z/!?])|^>", re.IGNORECASE)
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_MARKS = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")
_OPENS_BLOCK = re.compile(r"^(#|[-+=](?=\s|[-+=]|$)|\d+(?=[.)](?:\s|$)))|#$")


def markdown(ws: Workspace) -> str:
    """benchmark.md: the familiar table, then the details behind it.

    Every text from a file is escaped, so it cannot break a table or act as HTML.

    >>> from skill_eval_nb.tables import Workspace
    >>> print(markdown(Workspace.from_tables({})))
    # Nothing to report
    <BLANKLINE>
    No run, no benchmark.json and no eval was found.
    <BLANKLINE>
    """
    return render_markdown(whole_report(ws, measure_iterations(ws)))


def render_markdown(content: Section) -> str:
    """The Markdown of a section and all inside it, ending in one line end."""
    return "\n\n".join(_blocks(content, 1)) + "\n"


def escape_markdown(text: str) -> str:
    r"""Any text so that Markdown shows it as it is, on one line.

    What could be HTML is escaped as entities, since not every reader of Markdown knows ``\<``.

    >>> print(escape_markdown("# a|b <i> `c` with_skill *d*, p < 0.01"))
    \# a\|b &lt;i> \`c\` with_skill \*d\*, p < 0.01
    """
    marked = _MARKS.sub(r"\\\g<0>", " ".join(text.split()))
    opened = _OPENS_BLOCK.sub(
        lambda found: found[0] + "\\" if found[0].isdigit() else "\\" + found[0], marked
    )
    return _HTML.sub(lambda found: _ENTITIES[found[0]], opened)


def _blocks(section: Section, level: int) -> list[str]:
    """The blocks of a section; none if it has nothing that Markdown shows."""
    below = [text for part in section.parts if (text := _md_part(part))]
    inside = [_blocks(inner, min(level + 1, 6)) for inner in section.sections]
    if level == 1 and len(titles := [blocks[0] for blocks in inside if blocks]) > 1:
        below.append(" · ".join(map(_md_link, titles)))
    below += itertools.chain.from_iterable(inside)
    return (
        [f"{'#' * level} {escape_markdown(section.heading)}", *below] if below or level == 1 else []
    )


def _md_link(title: str) -> str:
    """A link to a heading, whose anchor is made as GitHub makes it.

    >>> _md_link("## How sure is that?")
    '[How sure is that?](#how-sure-is-that)'
    """
    text = title.lstrip("# ")
    anchor = re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-")
    return f"[{text}](#{anchor})"


def _md_part(part: Part) -> str:
    match part:
        case Paragraph(text, verdict, command):
            strong = verdict and f"**{escape_markdown(verdict)}** "
            return f"{strong}{escape_markdown(text)}{command and f' `{command}`'}"
        case Bullets(items):
            return "\n".join(f"- {escape_markdown(item)}" for item in items)
        case Table():
            return f"{escape_markdown(part.caption)}:\n\n{_md_table(part)}"
        case Picture():
            return ""


def _md_table(table: Table) -> str:
    rows = [[*map(escape_markdown, row)] for row in (table.header, *table.rows)]
    widths = [max(3, *map(len, column)) for column in zip(*rows, strict=True)]
    ruler = [
        "-" * width if index < table.labels else "-" * (width - 1) + ":"
        for index, width in enumerate(widths)
    ]
    return "\n".join(
        "| "
        + " | ".join(
            cell.ljust(width) if index < table.labels else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        + " |"
        for row in (rows[0], ruler, *rows[1:])
    )
