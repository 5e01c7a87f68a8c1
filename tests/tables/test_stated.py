"""What benchmark.json files state, as numbers and as it was printed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.build import row
from tests.tables.made import load, rows

PRINTED = [
    ("+0.50", "pass_rate", 0.5),
    (".5", "pass_rate", 0.5),
    ("+9pp", "pass_rate", 0.09),
    ("+9 pp", "pass_rate", 0.09),
    ("-13.3%", "pass_rate", -0.133),
    ("85%", "pass_rate", 0.85),
    ("+4.6", "pass_rate", 0.046),
    ("-4.6", "pass_rate", -0.046),
    ("0.0 (both 100%)", "pass_rate", 0.0),
    ("+0.10 ± 0.05", "pass_rate", 0.1),
    ("-0.5s (3.9% faster)", "time_seconds", -0.5),
    ("+52s", "time_seconds", 52.0),
    ("250 ms", "time_seconds", 0.25),
    ("-118.4s (-30.8%)", "time_seconds", -118.4),
    ("-1200 (2.7% fewer)", "tokens", -1200.0),
    ("\N{MINUS SIGN}1,200", "tokens", -1200.0),
    ("+1,234 tokens", "tokens", 1234.0),
    ("-10.0 (-16.4%)", "tool_calls", -10.0),
    ("-$0.05", "cost_usd", -0.05),
]
RATES = ("N/A", "3/4", "30 of 40", "80% → 90%", "0.8 to 0.9", "1.5")
TIMES = ("2 minutes", "2m 5s", "3.9% faster")
TOKENS = ("about the same", "", "1200 fewer", "1.2k", "5%", "v2")
METRICS = ("pass_rate", "time_seconds", "tokens")
SENTENCES = [
    (text, metric)
    for texts, metric in zip((RATES, TIMES, TOKENS), METRICS, strict=True)
    for text in texts
]


def stated(folder: Path, *summaries: dict[str, Any]) -> list[dict[str, Any]]:
    """What is read of benchmarks with these summaries, an iteration each: values by statistic."""
    files = {
        f"iteration-{n}/benchmark.json": {
            "runs": [row(1, "with_skill", "pp")],
            "run_summary": summary,
        }
        for n, summary in enumerate(summaries)
    }
    found: list[dict[str, Any]] = [{} for _ in summaries]
    for one in rows(load(folder, files), "stated"):
        if one["statistic"] != "runs":
            found[int(one["iteration"][10:])][one["statistic"]] = one["value"]
    return found


def printed_as(folder: Path, *figures: tuple[Any, str]) -> list[Any]:
    """Each figure of a metric as it is read from a delta."""
    read = stated(folder, *({"delta": {metric: figure}} for figure, metric in figures))
    return [one["value"] for one in read]


def test_a_figure_is_read_out_of_what_was_printed_and_none_where_no_reading_is_clear(tmp_path):
    cases = [*PRINTED, *((*one, None) for one in SENTENCES)]
    found = printed_as(tmp_path, *((text, metric) for text, metric, _ in cases))
    assert found == [pytest.approx(number) for *_, number in cases]


@given(
    st.lists(st.tuples(st.text(), st.sampled_from(METRICS))),
    st.lists(st.floats(-1, 1), min_size=1, max_size=4),
    st.sampled_from(["{:+.2f}", "{:+.1%}", "{:.3f} (remark)", "{:+.0%}"]),
)
def test_no_text_raises_and_a_rate_is_read_back_as_precisely_as_it_was_printed(
    tmp_path_factory, texts, rates, form
):
    folder = tmp_path_factory.mktemp("any")
    read = printed_as(folder, *((form.format(rate), "pass_rate") for rate in rates), *texts)
    assert read[: len(rates)] == [pytest.approx(rate, abs=0.0051) for rate in rates]
    assert all(isinstance(one, float | None) for one in read)


def test_rates_in_percent_are_rates(tmp_path):
    cases: list[tuple[str, Any, dict[str, Any]]] = [
        ("pass_rate", {"mean": 0.8, "stddev": 0.1}, {"mean": 0.8, "stddev": 0.1}),
        ("pass_rate", {"mean": 80, "stddev": 0.5}, {"mean": 0.8, "stddev": 0.005}),
        ("tokens", {"mean": 80.0}, {"mean": 80.0}),
    ]
    read = stated(tmp_path, *({"with_skill": {metric: one}} for metric, one, _ in cases))
    assert read == [pytest.approx(wanted) for *_, wanted in cases]
    numbers = [(-4.6, "pass_rate"), (150.0, "pass_rate"), (10**400, "tokens"), (4.5, "tokens")]
    assert printed_as(tmp_path / "delta", *numbers) == [pytest.approx(-0.046), 150.0, None, 4.5]


@pytest.mark.parametrize("printed", [" " * 200_000, "1" + " " * 200_000 + "x1", "1," * 100_000])
def test_a_figure_of_megabytes_is_read_in_one_go(tmp_path, printed):
    begun = time.thread_time()
    printed_as(tmp_path, (printed, "tokens"))
    assert time.thread_time() - begun < 10


@pytest.mark.parametrize("others", [{}, {"by": "hand"}], ids=["as documented", "with a key more"])
@pytest.mark.parametrize(
    ("metric", "figure", "value", "printed", "codes"),
    [
        ("tokens", {"mean": 1000}, 1000.0, "1000", set()),
        ("tokens", {"mean": 1000.5}, 1000.5, "1000.5", set()),
        ("pass_rate", 78.3, 0.783, "0.783", {"converted"}),
        ("pass_rate", -25, -0.25, "-0.25", {"converted"}),
    ],
)
def test_a_benchmark_is_read_alike_however_near_it_is_to_the_documented_form(
    tmp_path, others, metric, figure, value, printed, codes
):
    """A file that is just as documented is read at once, all others with care."""
    benchmark = {"metadata": {}, "runs": [row(1, "with_skill", "pp")], **others}
    benchmark["run_summary"] = {"with_skill": {metric: figure}}
    ws = load(tmp_path, {"iteration-1/benchmark.json": benchmark})
    found = [(one["value"], one["printed"]) for one in rows(ws, "stated")]
    assert (value, printed) in found
    assert {one["code"] for one in rows(ws, "problems")} & {"converted"} == codes
