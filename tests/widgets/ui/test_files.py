"""Files in the page: read when they are seen, and whatever one holds, it is only ever shown."""

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


def test_a_picture_is_read_once_it_is_seen_and_only_once(stage, plain) -> None:
    read = []

    def get() -> tuple[bytes, str]:
        read.append(1)
        return PNG, "image/png"

    dot = h("img", blob=offer("dot-1", get), alt="a dot")
    plain.draw(details("more", dot, key="d"))
    stage.settle()
    assert read == []
    stage.page.locator("summary").click()
    width = "() => document.querySelector('img').naturalWidth === 1"
    stage.page.wait_for_function(width)
    plain.draw(h("p", "before"), details("more", dot, key="d"))
    stage.settle()
    assert read == [1]
    assert stage.page.evaluate(width)
    other = h("img", blob=offer("dot-2", get), alt="a dot")
    plain.draw(details("more", other, key="d"))
    stage.settle()
    assert read == [1, 1]


OUTSIDE = "http://outside.test/"
DOT = "data:image/gif;base64,R0lGODlhAQABAAAAACw="
SHADOW = "<template shadowrootmode=open>"
SVG = "<svg xmlns='http://www.w3.org/2000/svg'>"
CLICKED = {
    "in a shadow root": f"<div>{SHADOW}<a href=URL>HERE</a></template></div>",
    "in one of two": f"<p>{SHADOW}<b>{SHADOW}<a href=URL>HERE</a></template></b></template></p>",
    "in a template": "<template><a href=URL>no</a></template><p>HERE</p>",
    "animated": "<svg><a><animate attributeName=href values=URL /><text y=20>HERE</text></a></svg>",
    "set": "<svg><a href='#x'><set attributeName='xlink:href' to=URL /><text y=20>HERE</text></a>",
    "set on another": "<svg><a id=a><text y=20>HERE</text></a>"
    "<set href='#a' attributeName=href to=URL>",
    "of SVG": "<svg><a xlink:href=URL><text y=20>HERE</text></a></svg>",
    "of MathML": "<math href=URL><mi>HERE</mi></math>",
    "an area": f"<img usemap='#m' width=90 height=90 alt=HERE src='{DOT}'>"
    "<map name=m><area shape=default href=URL></map>",
    "a form": "<form action=URL><button>HERE</button></form>",
    "a form elsewhere": "<form id=f action=URL></form><button form=f formaction=URL>HERE</button>",
    "in the page": "<a href='#x'>HERE</a><p id=x>below</p>",
    "a ping": "<a href='#x' ping=URL>HERE</a>",
    "another window": "<a href='#x' target=_blank>HERE</a><a href=URL target=_top>no</a>",
    "a page in a link": f'<a href="data:image/svg+xml,{SVG}'
    "<a href='URL'><rect width='900' height='900'/></a></svg>\">HERE</a>",
    "refreshed": "<meta http-equiv=refresh content='1;url=URL'><p>HERE</p>",
    "refreshed in a shadow": f"HERE{SHADOW}<meta http-equiv=refresh content='0;url=URL'>",
}


@pytest.mark.parametrize("media_type", ["text/html", "image/svg+xml"])
def test_no_click_on_a_page_leads_anywhere(stage, plain, media_type) -> None:
    wrap = ("", "") if media_type == "text/html" else (SVG, "</svg>")

    def page(name: str) -> tuple[bytes, str]:
        return CLICKED[name].replace("URL", f"{OUTSIDE}{len(name)}").join(wrap).encode(), media_type

    names = CLICKED if media_type == "text/html" else ["animated", "set", "of SVG"]
    plain.draw(
        [
            h("iframe", blob=offer(f"{media_type} {at}", lambda one=one: page(one)), title=one)
            for at, one in enumerate(names)
        ]
    )
    stage.unroll()
    stage.until(lambda: "about:blank" not in {frame.url for frame in stage.page.frames})
    pages = len(stage.page.context.pages)
    urls = [frame.url for frame in stage.page.frames]
    stage.see_refreshed(1)  # what is animated is then, too
    for name in names:
        frame = stage.page.frame_locator(f"iframe[title='{name}']")
        frame.get_by_text("HERE").or_(frame.get_by_alt_text("HERE")).first.click(force=True)
        stage.page.keyboard.press("Enter")
    stage.see_refreshed(0)
    assert [frame.url for frame in stage.page.frames] == urls
    assert len(stage.page.context.pages) == pages
    for name in names:
        frame = stage.page.frame_locator(f"iframe[title='{name}']")
        assert frame.get_by_text("HERE").or_(frame.get_by_alt_text("HERE")).count() == 1


@pytest.mark.parametrize("again", [" ", "url( ", "@import "])
def test_a_page_whose_style_never_ends_is_shown(stage, plain, again) -> None:
    """It froze the page: thirty thousand blanks were looked at nine hundred million times."""
    css = f"color: red; background: url({again * 30_000}"
    source = f"<p style='{css}'>shown</p><style>p {{{css}</style>".encode()
    plain.draw(h("iframe", blob=offer(f"page{again}", lambda: (source, "text/html")), title="x"))
    stage.settle()
    assert stage.page.frame_locator("iframe").locator("p").inner_text() == "shown"


def test_what_cannot_be_read_says_so_in_its_place(stage, plain) -> None:
    def get() -> tuple[bytes, str]:
        raise FileNotFoundError("plot.png is gone")

    def drawn(name: str, words: str):
        return [h("p", words), h("img", blob=name, alt="a plot"), h("p", "after")]

    offer("gone", get)
    plain.draw(drawn("gone", "a"))
    stage.page.get_by_text("It could not be read: plot.png is gone").wait_for()
    plain.draw(drawn("gone", "b"))
    stage.settle()
    assert stage.page.locator(".sen-body").inner_text().split("\n\n") == [
        *("b", "It could not be read: plot.png is gone", "after")
    ]
    plain.draw(drawn(offer("there", lambda: (PNG, "image/png")), "c"))
    stage.page.wait_for_function("() => document.querySelector('img')?.naturalWidth === 1")
    plain.draw(h("img", blob="never offered", alt=""))
    stage.page.get_by_text("it is no longer shown; draw it again").wait_for()


def test_a_download_has_its_bytes_and_a_name_that_is_only_a_name(stage, plain) -> None:
    name = offer("csv", lambda: (b"a,b\n1,2\n", "text/csv"))
    plain.draw(h("button", "Save", blob=name, download="../\u202evsc.report\x00.csv"))
    stage.settle()
    with stage.page.expect_download() as download:
        stage.page.get_by_role("button", name="Save").click()
    assert download.value.suggested_filename == "__vsc.report_.csv"
    assert download.value.path().read_bytes() == b"a,b\n1,2\n"
    offer("csv", lambda: 1 / 0)
    stage.page.get_by_role("button", name="Save").click()
    stage.page.get_by_role("alert").filter(has_text="It could not be read: division").wait_for()
    stage.page.get_by_role("button", name="Dismiss").click()
    assert stage.page.get_by_role("alert").count() == 0
