"""What each document puts into which table, row by row: the cases of `tests/kept/documents.txt`.

And what a benchmark states, as numbers and as it was printed.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import Case, cases
from tests.corpus.build import row
from tests.golden import lines_of
from tests.tables.made import load

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("case", cases("documents"))
def test_every_document_has_its_rows(tmp_path: Path, case: Case) -> None:
    lines: list[str] = []
    for name, table in load(tmp_path, case.files).tables().items():
        lines += lines_of(table.to_dict(as_series=False), name)
    case.hold(lines)


# ── what benchmark.json files state ──────────────────────────────────────────────────────────

PRINTED: list[tuple[str, dict[Any, float | None]]] = [
    ("pass_rate", {"+0.50": 0.5, ".5": 0.5, "+9pp": 0.09, "+9 pp": 0.09, "-13.3%": -0.133}),
    ("pass_rate", {"85%": 0.85, "+4.6": 0.046, "-4.6": -0.046, "0.0 (both 100%)": 0.0}),
    ("pass_rate", {"+0.10 ± 0.05": 0.1, -4.6: -0.046, 150.0: 150.0}),
    ("time_seconds", {"-0.5s (3.9% faster)": -0.5, "+52s": 52.0, "250 ms": 0.25}),
    ("time_seconds", {"-118.4s (-30.8%)": -118.4}),
    ("tokens", {"-1200 (2.7% fewer)": -1200.0, "\N{MINUS SIGN}1,200": -1200.0}),
    ("tokens", {"+1,234 tokens": 1234.0, 4.5: 4.5, 10**400: None}),
    ("tool_calls", {"-10.0 (-16.4%)": -10.0}),
    ("cost_usd", {"-$0.05": -0.05}),
    # None where no reading is clear.
    ("pass_rate", dict.fromkeys(("N/A", "3/4", "30 of 40", "80% → 90%", "0.8 to 0.9", "1.5"))),
    ("time_seconds", dict.fromkeys(("2 minutes", "2m 5s", "3.9% faster"))),
    ("tokens", dict.fromkeys(("about the same", "", "1200 fewer", "1.2k", "5%", "v2"))),
]


def printed_as(folder: Path, *figures: tuple[Any, str]) -> list[float | None]:
    """Each figure of a metric as it is read from the delta of an iteration."""
    files = {
        f"iteration-{n}/benchmark.json": {
            "runs": [row(1, "with_skill", "pp")],
            "run_summary": {"delta": {metric: figure}},
        }
        for n, (figure, metric) in enumerate(figures)
    }
    stated = load(folder, files).stated.filter(configuration="delta")
    found = {int(name[10:]): value for name, value in stated.select("iteration", "value").rows()}
    return [found[n] for n in range(len(figures))]


def test_a_figure_is_read_out_of_what_was_printed(tmp_path: Path) -> None:
    cases = [(figure, metric) for metric, of in PRINTED for figure in of]
    right = [value for _, of in PRINTED for value in of.values()]
    assert printed_as(tmp_path, *cases) == [pytest.approx(value) for value in right]


@given(
    st.lists(st.tuples(st.text(), st.sampled_from(["pass_rate", "time_seconds", "tokens"]))),
    st.lists(st.floats(-1, 1), min_size=1, max_size=4),
    st.sampled_from(["{:+.2f}", "{:+.1%}", "{:.3f} (remark)", "{:+.0%}"]),
)
def test_no_text_raises_and_a_rate_is_read_back_as_precisely_as_it_was_printed(
    tmp_path_factory: pytest.TempPathFactory, texts: Any, rates: list[float], form: str
) -> None:
    folder = tmp_path_factory.mktemp("any")
    read = printed_as(folder, *((form.format(rate), "pass_rate") for rate in rates), *texts)
    assert read[: len(rates)] == [pytest.approx(rate, abs=0.0051) for rate in rates]
    assert all(isinstance(one, float | None) for one in read)


@pytest.mark.parametrize("printed", [" " * 200_000, "1" + " " * 200_000 + "x1", "1," * 100_000])
def test_a_figure_of_megabytes_is_read_in_one_go(tmp_path: Path, printed: str) -> None:
    begun = time.thread_time()
    printed_as(tmp_path, (printed, "tokens"))
    assert time.thread_time() - begun < 10
