"""Files in the page: pictures, frames that can do nothing, downloads; read when they are seen."""

from __future__ import annotations

import pytest

from skill_eval_nb.widgets.ui import h, offer
from skill_eval_nb.widgets.ui.parts import details
from tests.widgets.ui.toys import PNG


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
