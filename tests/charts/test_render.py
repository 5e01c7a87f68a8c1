from __future__ import annotations

import base64
import json
import re
import struct
import xml.etree.ElementTree as ET
import zlib

import altair as alt
import pytest
import vl_convert

from skill_eval_nb import charts, stats
from skill_eval_nb.charts import theme as render
from tests.charts.specs import LAB, drawn, spec_of, title_of, vega_lite, walk
from tests.charts.worlds import workspace, world

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def default():
    """Altair as a user finds it."""
    with alt.renderers.enable("default"):
        yield


def test_a_chart_makes_itself_show_offline_unless_a_user_chose_a_renderer(default) -> None:
    charts.deltas(workspace())
    assert alt.renderers.active == "skill_eval_nb"
    with alt.renderers.enable("svg"):
        charts.deltas(workspace())
        assert alt.renderers.active == "svg"


def test_what_a_notebook_keeps_is_vega_lite_5_and_a_picture(default) -> None:
    chart = charts.deltas(world())
    bundle = chart._repr_mimebundle_()
    spec = bundle["application/vnd.vegalite.v5+json"]
    assert spec["$schema"] == "https://vega.github.io/schema/vega-lite/v5.json"
    assert spec["datasets"] == spec_of(chart)["datasets"]
    assert bundle["text/plain"].replace("\xa0", " ") == title_of(chart)


@pytest.mark.parametrize("name", ["discrimination", "expectation_matrix"])
@pytest.mark.parametrize(("theme", "paper"), [(None, "white"), ("dark", "#333")])
def test_a_live_chart_is_light_or_dark_as_the_page_is(default, name, theme, paper) -> None:
    spec = getattr(charts, name)(world())._repr_mimebundle_()["application/vnd.vegalite.v5+json"]
    vega_lite().validate(json.loads(json.dumps(spec)))
    svg = ET.fromstring(vl_convert.vegalite_to_svg(spec, vl_version=LAB, theme=theme))
    backgrounds = [node for node in svg.iter() if "background" in node.get("class", "")]
    assert paper in {node.get("fill") for node in svg} | {
        node.get("fill") for group in backgrounds for node in group.iter()
    }
    inks = {
        "opposite" if "difference" in node.get("style", "") else node.get("fill")
        for node in svg.iter()
        if node.tag.endswith("text")
    }
    on_paper = "#000" if theme is None else "#fff"
    assert inks <= {"opposite", on_paper, render.CELL_INK}
    assert len(inks) > 1


def test_text_in_the_colour_of_its_data_and_a_users_own_chart_keep_their_colours(default) -> None:
    curve = charts.plan_curve(
        stats.plan(components={"effect": 0.02, "run": 0.05}, effect=0.2, max_evals=12)
    )
    spec = render.make_mimebundle(curve.to_dict())["application/vnd.vegalite.v5+json"]
    texts = [node for node in walk(spec) if node.get("type") == "text"]
    assert {"blend" in text for text in texts} == {True, False}
    coloured = [node for node in walk(spec) if "color" in (node.get("encoding") or {})]
    assert not any("blend" in node["mark"] for node in coloured if isinstance(node["mark"], dict))
    own = alt.Chart(alt.Data(values=[{"a": "b"}])).mark_text(color=render.INK).encode(text="a:N")
    own = own.configure(background="white").to_dict()
    bundle = render.make_mimebundle(own)
    assert bundle["application/vnd.vegalite.v5+json"] | {"$schema": ""} == own | {"$schema": ""}
    assert base64.b64decode(bundle["image/png"]).startswith(PNG)
    assert bundle["text/plain"] == "a chart"


def pixels(picture: bytes) -> bytes:
    """What a PNG holds of its picture; every checksum is right."""
    at, found = 8, b""
    while at < len(picture):
        size, kind = struct.unpack_from(">I4s", picture, at)
        body = picture[at + 4 : at + 8 + size]
        assert struct.unpack_from(">I", picture, at + 8 + size) == (zlib.crc32(body),)
        found += body[4:] if kind == b"IDAT" else b""
        at += 12 + size
    return found


def test_a_picture_is_small_and_the_same_with_two_pixels_for_each_of_the_chart() -> None:
    chart = charts.deltas(world())
    drawn_fast = vl_convert.vegalite_to_png(chart.to_dict(), scale=2.0)
    small = base64.b64decode(render.make_mimebundle(chart.to_dict())["image/png"])
    assert len(small) < len(drawn_fast) / 2
    assert zlib.decompress(pixels(small)) == zlib.decompress(pixels(drawn_fast))
    width, height = struct.unpack(">II", small[16:24])
    size = drawn(chart).attrib
    assert (width, height) == pytest.approx(
        (2 * float(size["width"]), 2 * float(size["height"])), abs=4
    )


def test_charts_are_saved_by_the_end_of_their_name_and_a_page_fetches_nothing(tmp_path) -> None:
    chart = charts.deltas(world())
    saved = {kind: charts.save(chart, tmp_path / f"chart.{kind}") for kind in render.FORMATS}
    assert saved["png"].read_bytes().startswith(PNG)
    assert saved["svg"].read_text(encoding="utf-8").startswith("<svg")
    assert json.loads(saved["json"].read_text(encoding="utf-8")) == spec_of(chart)
    assert charts.save(chart, str(tmp_path / "CHART.PNG")).exists()
    page = saved["html"].read_text(encoding="utf-8")
    assert "<script" in page
    assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", page)
    with pytest.raises(ValueError, match=r"chart\.gif.*\.png, \.svg, \.html, \.json"):
        charts.save(chart, tmp_path / "chart.gif")
    assert not (tmp_path / "chart.gif").exists()
