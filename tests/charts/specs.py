"""Reading a chart's specification: its marks, fields, titles and inlined rows."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import altair as alt
import jsonschema_rs
import vl_convert

LAB = "5.8"
"""The version of Vega-Lite nearest to JupyterLab's 5.6 that vl-convert has."""


def walk(node: Any) -> Iterator[dict[str, Any]]:
    """Every object of a specification but for its data and the look."""
    if isinstance(node, dict):
        yield node
        for key, value in node.items():
            if key not in ("datasets", "config"):
                yield from walk(value)
    elif isinstance(node, list):
        for value in node:
            yield from walk(value)


def spec_of(chart: Any) -> dict[str, Any]:
    """The specification as it is written into a notebook: it has to be JSON, and Vega-Lite."""
    if isinstance(chart, dict):
        return chart
    return _once(_specs, chart, lambda: _checked(chart))


def _checked(chart: Any) -> dict[str, Any]:
    """The whole held against Vega-Lite's schema, by a library far faster than Altair's own."""
    spec = json.loads(json.dumps(chart.to_dict(validate=False), allow_nan=False))
    vega_lite().validate(spec)
    return spec


@cache
def vega_lite() -> jsonschema_rs.Validator:
    """The schema that Altair writes its charts by."""

    def readable(part: dict[str, Any]) -> dict[str, Any]:
        if isinstance(part.get("$ref"), str):  # to names with < and >, which no URI may have
            part["$ref"] = quote(part["$ref"], safe="#/")
        return part

    file = Path(alt.__file__).parent / "vegalite" / "v6" / "schema" / "vega-lite-schema.json"
    return jsonschema_rs.validator_for(json.loads(file.read_text(), object_hook=readable))


def rows_of(chart: Any, *fields: str) -> list[dict[str, Any]]:
    """The inlined rows that have all these fields."""
    every = spec_of(chart).get("datasets", {}).values()
    return [row for rows in every for row in rows if set(fields) <= set(row)]


def marks_of(chart: Any) -> set[str]:
    """The types of its marks."""
    marks = [node["mark"] for node in walk(spec_of(chart)) if "mark" in node]
    return {mark["type"] if isinstance(mark, dict) else mark for mark in marks}


def fields_of(chart: Any) -> set[str]:
    """The fields that its encodings read."""
    return {node["field"] for node in walk(spec_of(chart)) if isinstance(node.get("field"), str)}


def axes_of(chart: Any) -> list[str]:
    """The titles of its axes."""
    axes = [node["axis"] for node in walk(spec_of(chart)) if isinstance(node.get("axis"), dict)]
    return [axis["title"] for axis in axes if axis.get("title")]


def tooltips_of(chart: Any) -> set[str]:
    """The titles in its tooltips."""
    tooltips = [node["tooltip"] for node in walk(spec_of(chart)) if "tooltip" in node]
    return {tip["title"] for own in tooltips for tip in own}


def title_of(chart: Any) -> str:
    """The title in one line."""
    return _plain(spec_of(chart)["title"]["text"])


def subtitle_of(chart: Any) -> str:
    """What stands below the title, in one line."""
    return _plain(spec_of(chart)["title"].get("subtitle", []))


def headings_of(chart: Any) -> dict[str, str]:
    """The titles of its parts, each with what stands below it."""
    titles = [node["title"] for node in walk(spec_of(chart)) if isinstance(node.get("title"), dict)]
    return {
        title["text"]: _plain(title.get("subtitle", ""))
        for title in titles
        if isinstance(title["text"], str)
    }


def drawn(chart: Any) -> ET.Element:
    """The picture as Vega-Lite draws it in JupyterLab, as a parsed SVG."""
    spec = spec_of(chart)
    return _once(
        _pictures, spec, lambda: ET.fromstring(vl_convert.vegalite_to_svg(spec, vl_version=LAB))
    )


def texts_of(chart: Any) -> list[str]:
    """What is written in the picture, line by line."""
    texts = (node for node in drawn(chart).iter() if node.tag.endswith("text"))
    return [line for node in texts for line in node.itertext()]


TAGS = {"svg", "g", "path", "text", "rect", "line", "tspan", "defs", "clipPath", "style"}
"""What a picture is made of: nothing that runs or fetches."""


def tags_of(chart: Any) -> set[str]:
    """The elements of the picture."""
    return {node.tag.rsplit("}", 1)[-1] for node in drawn(chart).iter()}


_specs: list[Any] = []
_pictures: list[Any] = []


def _once(last: list[Any], of: Any, make: Callable[[], Any]) -> Any:
    """What was last made, if it is asked for again: a test asks many things of one chart."""
    if not last or last[0] is not of:
        last[:] = of, make()
    return last[1]


def _plain(lines: str | list[str]) -> str:
    text = lines if isinstance(lines, str) else " ".join(lines)
    return re.sub(r"\s+", " ", text)
