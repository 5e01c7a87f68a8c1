"""Whatever a file holds, it is only ever shown."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import HealthCheck, given, settings

from skill_eval_nb.widgets.ui import h, offer
from skill_eval_nb.widgets.ui.parts import (
    button,
    choose,
    details,
    entry,
    notice,
    pill,
    table,
    tabs,
    text_area,
    tick,
    ticks,
)
from tests.widgets.hostile import LINE, MARKUP, TEXTS, squeezed, trees
from tests.widgets.trees import text
from tests.widgets.ui.toys import PNG

COUNT = itertools.count()
LOADED = "() => [...document.images].every((one) => one.src && one.complete)"


def everywhere(at: int, bad: str):
    """The text in every place where a view could put one."""
    options = {bad: bad, "other": bad}
    name = offer(f"{at} {bad}", lambda: (PNG, "image/png"))
    return h(
        "div",
        h("p", bad, h("b", bad), title=bad, id=bad, cls=bad, lang=bad, dir=bad, aria_label=bad),
        h("a", bad, href=bad),
        h("a", bad, href=f"#{bad}"),
        h("a", bad, href=f"https://{bad}"),
        h("img", blob=name, alt=bad, width=bad),
        h("img", blob=bad, alt=bad),
        h("button", "Save", blob=name, download=bad),
        h("p", h("input", type=bad, name=bad, value=bad, placeholder=bad, aria_label=bad)),
        h("ol", h("li", bad, value=bad), start=bad),
        button(bad, ("note", at, bad)),
        choose(bad, options, bad, ("note", at)),
        ticks(bad, options, [bad], ("note", at)),
        tick(bad, True, ("note", at, bad)),
        entry(bad, bad, ("note", at)),
        text_area(bad, bad, ("note", at), keep=f"{at} {bad}", key=bad),
        tabs(options, bad, ("note", at), h("p", bad), label=bad, page=f"t{at}"),
        table([bad, bad], [[bad, h("code", bad)]], caption=bad),
        details(bad, h("pre", bad), unfolded=True, key=bad),
        notice(bad, fine=True),
        pill(bad, bad),
        key=f"{at}",
        keys={bad: ("note", bad)},
    )


def test_texts_are_texts_wherever_they_stand(stage, plain) -> None:
    texts = list(enumerate(TEXTS))
    plain.draw([everywhere(at, bad) for at, bad in texts])
    stage.settle()
    seen = stage.page.locator(".sen > .sen-body").evaluate("(one) => one.textContent")
    said = "It could not be read: it is no longer shown; draw it again"  # of the second picture
    assert squeezed(seen).replace(squeezed(said), "") == squeezed(text(plain._tree))
    tags = stage.page.evaluate(
        "() => [...new Set([...document.querySelectorAll('.sen-body *')].map((o) => o.localName))]"
    )
    assert not {"script", "iframe", "svg", "style", "object", "link", "form"} & set(tags)
    stage.page.evaluate(
        """() => {
          for (const one of document.querySelectorAll(".sen-body *")) {
            one.focus();
            if (!one.matches("a[href^=http], [download]")) one.click();
            one.dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
          }
        }"""
    )
    stage.settle()
    for at, bad in texts:
        assert (at, bad) in plain.said  # what was handed to the page comes back as it was


@pytest.mark.parametrize("kind", ["text/html", "image/svg+xml", "application/xhtml+xml", "picture"])
def test_files_in_frames_and_pictures_run_nothing(stage, plain, kind) -> None:
    def file(bad: str):
        if kind == "text/html":
            return f"<p>file</p>{bad}".encode("utf-8", "replace"), kind
        body = f"<svg xmlns='http://www.w3.org/2000/svg' onload='top.canary=1'>{bad}</svg>"
        return body.encode("utf-8", "replace"), kind if kind != "picture" else "image/svg+xml"

    tag = "img" if kind == "picture" else "iframe"
    told = "alt" if kind == "picture" else "title"
    plain.draw(
        [
            h(tag, blob=offer(f"{kind} {at}", lambda bad=bad: file(bad)), height=40, **{told: "x"})
            for at, bad in enumerate(MARKUP)
        ]
    )
    stage.unroll()
    stage.until(lambda: "about:blank" not in {frame.url for frame in stage.page.frames})
    for frame in stage.page.frames:
        frame.wait_for_load_state()
    stage.page.wait_for_function(LOADED)
    stage.see_refreshed(0)
    if kind == "text/html":
        shown = [frame.locator("p").first.inner_text() for frame in stage.page.frames[1:]]
        assert shown == ["file"] * len(MARKUP)
        assert stage.page.locator("iframe").first.get_attribute("sandbox") == ""
        rules = stage.page.frames[1].locator("meta[http-equiv]").first.get_attribute("content")
        assert rules.startswith("default-src 'none'")


def test_a_line_of_millions_of_characters_is_shown(stage, plain) -> None:
    plain.draw(h("pre", LINE), h("p", "after"), button("Go", ("say", "on")))
    stage.settle()
    stage.page.get_by_role("button", name="Go").click()
    stage.settle()
    assert plain.said == ["on"]
    assert stage.page.locator("pre").evaluate("(one) => one.textContent.length") == len(LINE)


@given(tree=trees())
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_tree_is_drawn_as_it_is_over_any_other(stage, tree) -> None:
    mark = f"x{next(COUNT)}"
    stage.panel.draw(tree, h("p", lang=mark))
    assert stage.panel.fault is None
    stage.page.locator(f"p[lang={mark}]").wait_for(state="attached")
    seen = stage.page.locator(".sen > .sen-body").evaluate("(one) => one.textContent")
    assert squeezed(seen) == squeezed(text(tree))
    stage.fine()
