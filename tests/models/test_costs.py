from __future__ import annotations

import json
import pickle
import re
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anthropic
import genai_prices
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_eval_nb.models import (
    BadPrices,
    BudgetSpent,
    Tally,
    Usage,
    load_prices,
    worst_case,
)
from skill_eval_nb.models.usage import ADDED, CONTEXT, IMAGE, VARIABLE, Rates, encode_body
from tests.corpus.build import lay
from tests.models.scripted import Ceiling

MILLION = 1_000_000


@pytest.fixture(autouse=True)
def no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


def written(folder: Path, content: Any) -> Path:
    return lay(folder, {"my-prices.json": content}) / "my-prices.json"


def test_above_its_tier_every_token_of_a_call_is_dearer():
    def cost(usage: Usage) -> float:
        return load_prices().cost(usage, "claude-haiku-5-5") or 0

    short, long = Usage(60_000, 1000, 40_000, calls=1), Usage(60_000, 1000, 40_001, calls=1)
    assert cost(long) == pytest.approx(5 * cost(short), rel=1e-5)
    assert cost(short * 50) == pytest.approx(50 * cost(short))
    assert cost(sum([short, short], Usage())) == pytest.approx(2 * cost(short))
    # Of which calls a sum consists is not known any more: then it is the most that it can be.
    assert cost(short + long) == pytest.approx(2 * cost(long), rel=1e-4)
    assert pickle.loads(pickle.dumps(short * 50)).longest == 100_000


@settings(deadline=None)
@given(
    st.sampled_from(sorted(load_prices().models)),
    st.lists(st.integers(0, 150_000), min_size=4, max_size=4),
    st.integers(0, MILLION),
)
def test_a_call_costs_what_genai_prices_says(model: str, read: list[int], output: int):
    plain, cached, write, hour = read
    usage = Usage(plain, output, cached, write + hour, 1, hour)
    theirs = genai_prices.Usage(
        input_tokens=sum(read),
        output_tokens=output,
        cache_read_tokens=cached,
        cache_write_tokens=write + hour,
        cache_write_1h_tokens=hour,
    )
    now = datetime.now(UTC)
    for batch in (False, True):
        said = genai_prices.calc_price(
            theirs,
            model,
            provider_id="anthropic",
            genai_request_timestamp=now,
            price_context={"processing": "batch"} if batch else None,
        )
        ours = load_prices().cost(usage, model, batch=batch)
        known = said.model.price_variants if batch else True
        stated = said.model.get_prices(now)
        if known and (stated.cache_read_mtok is not None or not any(read[1:])):
            assert ours == pytest.approx(float(said.total_price))


def test_a_model_is_found_with_a_date_but_not_by_a_likeness():
    prices = load_prices()
    assert prices.rates("claude-opus-4-8-20260514") == prices.rates("claude-opus-4-8")
    assert prices.rates("claude-opus-4-8-latest") == prices.rates("claude-opus-4-8")
    for other in ("claude-fable-5-9", "claude-sonnet-6", "claude-sonnet", "claude-opus-4-80", ""):
        assert prices.cost(Usage(1, 1), other) is None
        assert not prices.known(other)


def test_the_users_file_lies_over_the_bundled_one(tmp_path, monkeypatch):
    own = {
        "date": "2027-01",
        "models": {
            "mine": {"input": 4, "output": 8, "cache_write": 7, "batch": 1},
            "claude-sonnet-5": {"input": 30, "output": 150},
        },
    }
    path = written(tmp_path, own)
    monkeypatch.setenv(VARIABLE, str(path))
    prices = load_prices()
    assert load_prices(path) == prices == pickle.loads(pickle.dumps(prices))
    assert prices.models["mine"] == Rates(4, 8, 0.4, 7, 8, 1)
    assert prices.cost(Usage(MILLION), "claude-sonnet-5") == 30
    assert prices.cost(Usage(MILLION), "claude-haiku-4-5") == 1
    said = f"as genai-prices {version('genai-prices')} has them"
    assert re.fullmatch(rf"2027-01 \(my-prices\.json\), \d{{4}}-\d\d-\d\d, {said}", prices.date)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "is not JSON"),
        ('{"date": "1", "models": {"m": {"input": NaN, "output": 1}}}', "is not JSON"),
        ({"models": {}}, "field `date`"),
        *(
            ({"date": "2027", "models": {"m": rates}}, says)
            for rates, says in (
                (3, r'\$\.models\["m"\]: .*got `int`'),
                ({"input": -1, "output": 1}, ">= 0"),
                ({"input": 1, "output": 1, "outptu": 1}, "unknown field `outptu`"),
                ({"input": 1, "output": 1, "cache_read": 2}, "costs more than `input`"),
                ({"input": 1, "output": 1, "batch": 2}, r"<= 1.0 - at `\$\.batch`"),
                ({"input": 1, "output": 1, "over": 9}, "belongs into `long`"),
                ({"input": 1, "output": 1, "long": {"input": 1, "output": 1}}, r"long\.over"),
                (
                    {"input": 1, "output": 1, "long": {"over": 9, "input": 0, "output": 1}},
                    "`long` is cheaper in places",
                ),
            )
        ),
    ],
)
def test_a_bad_file_is_refused_with_its_path_and_the_place(tmp_path: Path, content: Any, says: str):
    path = written(tmp_path, content)
    with pytest.raises(BadPrices, match=says) as caught:
        load_prices(path)
    assert str(path) in str(caught.value)


def test_the_usage_of_an_answer_is_read_as_the_real_sdk_reads_it():
    said = {
        "input_tokens": 5,
        "output_tokens": 6,
        "cache_read_input_tokens": 7,
        "cache_creation_input_tokens": 9,
        "cache_creation": {"ephemeral_5m_input_tokens": 4, "ephemeral_1h_input_tokens": 5},
    }
    theirs = anthropic.types.Usage.model_validate(said)
    plain = theirs.input_tokens, theirs.output_tokens, theirs.cache_read_input_tokens
    hour = theirs.cache_creation.ephemeral_1h_input_tokens
    assert Usage.of(said) == Usage(*plain, theirs.cache_creation_input_tokens, 1, hour)
    assert Usage.of(said) == Usage(5, 6, 7, 9, 1, 5)
    assert Usage.of(said | {"cache_creation": None}) == Usage(5, 6, 7, 9, 1)
    assert Usage.of({"input_tokens": 1, "output_tokens": 2}) == Usage(1, 2, calls=1)


# ── worst ──────────────────────────────────────────────────────────────────────────────────────

MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}


def text(words: str = "Hi", mark: Any = None) -> dict[str, Any]:
    return {"type": "text", "text": words, "cache_control": mark}


def request(*blocks: Any, **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": list(blocks) or [text()]}]
    return {"model": "m", "max_tokens": 64, "messages": messages} | more


def file(size: int, kind: str = "image/png") -> dict[str, Any]:
    source = {"type": "base64", "media_type": kind, "data": "A" * size}
    return {"type": "image" if "image" in kind else "document", "source": source}


@given(st.lists(st.text(), max_size=5), st.text(), st.integers(0, 10**6))
def test_the_input_is_at_least_the_bytes_of_all_texts(parts: list[str], system: str, output: int):
    """A model that reads each byte as a token would read no more."""
    asked = request(*map(text, parts), system=system, max_tokens=output)
    worst = worst_case(asked)
    bytes_ = sum(len(text.encode(errors="surrogatepass")) for text in (*parts, system))
    assert worst.input_tokens >= bytes_ + ADDED
    assert worst.output_tokens == output
    assert worst == worst_case(asked, size=len(encode_body(asked)))


def test_files_count_as_what_can_be_read_and_not_as_their_bytes():
    def most(*blocks: Any) -> int:
        return worst_case(request(*blocks)).input_tokens

    assert most(file(4)) == most(file(4_000_000)) > IMAGE
    assert most(file(4), file(4)) > most(file(4)) + IMAGE
    result = {"type": "tool_result", "tool_use_id": "t", "content": [file(40_000)]}
    assert IMAGE < most(result) < IMAGE + ADDED + 1000
    pdf = file(100, "application/pdf")
    assert CONTEXT < most(pdf, pdf) < CONTEXT + 5000
    words = {"type": "text", "media_type": "text/plain", "data": "word " * 100}
    assert 500 < most({"type": "document", "source": words}) < 2000
    inner = {"type": "content", "content": [file(9)]}
    assert most({"type": "document", "source": inner}) > IMAGE
    tools = [{"type": "bash_20250124", "name": "bash"}, {"name": "own", "input_schema": {}}]
    plain, more = (worst_case(request(tools=of), size=100).input_tokens for of in ([], tools))
    assert more == plain + ADDED  # for the one of the provider


# Names in data mean nothing.
SCHEMA = {"properties": {"cache_control": HOUR, "source": {"type": "base64"}}}
TOOL = {"name": "t", "input_schema": SCHEMA}
USE = {"type": "tool_use", "id": "t", "name": "t", "input": {"cache_control": HOUR}}
FORM = {"format": {"type": "json_schema", "schema": SCHEMA}}


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        (request(text(mark=MARK)), "short"),
        (request(text(mark=HOUR)), "hour"),
        (request(file(9) | {"cache_control": HOUR}), "hour"),
        (request(system=[text("S", HOUR)]), "hour"),
        (request(tools=[TOOL | {"cache_control": MARK}]), "short"),
        (request(cache_control=MARK), "short"),
        (request(USE, text(), tools=[TOOL], output_config=FORM), None),
    ],
)
def test_a_mark_for_the_cache_makes_all_input_as_dear_as_writing(asked: Any, kept: str | None):
    worst = worst_case(asked)
    assert (worst.input_tokens, worst.cache_write_tokens)[kept is not None] >= ADDED
    assert (worst.input_tokens, worst.cache_write_tokens)[kept is None] == 0
    assert worst.cache_write_1h_tokens == (worst.cache_write_tokens if kept == "hour" else 0)


rates = st.builds(
    lambda ladder, output, batch: Rates(ladder[1], output, ladder[0], *ladder[2:], batch),
    st.lists(st.floats(0, 1000), min_size=4, max_size=4).map(sorted),
    st.floats(0, 1000),
    st.floats(0, 1),
)


@given(st.data(), st.sampled_from([None, MARK, HOUR]), st.booleans())
def test_no_usage_within_the_worst_case_costs_more(data: Any, mark: Any, batch: bool):
    asked = request({"type": "text", "text": "Hi", "cache_control": mark})
    worst = worst_case(asked)
    most = worst.input_tokens + worst.cache_write_tokens
    read = data.draw(st.integers(0, most))
    write = data.draw(st.integers(0, most - read)) if mark else 0
    hour = data.draw(st.integers(0, write)) if mark == HOUR else 0
    plain = data.draw(st.integers(0, most - read - write))
    output = data.draw(st.integers(0, worst.output_tokens))
    usage = Usage(plain, output, read, write, 1, hour)
    table = data.draw(rates)
    assert table.cost(usage, batch=batch) <= table.cost(worst, batch=batch) * (1 + 1e-12)
    for model in load_prices().models.values():
        assert model.cost(usage, batch=batch) <= model.cost(worst, batch=batch)


# ── meter ──────────────────────────────────────────────────────────────────────────────────────

WORST = Usage(1000, 100, calls=1)
USED = Usage(200, 50, calls=1)
MODEL = "claude-haiku-4-5"


def test_calls_answered_unanswered_refused_and_in_flight_are_counted_by_each_meter():
    ceiling, prices = Ceiling(7), load_prices()
    outer = Tally(within=ceiling)
    tally = Tally(within=outer)
    assert tally.cost(prices) == 0
    ticket = tally.reserve(MODEL, WORST)
    tally.settle(ticket, USED)
    for again in (lambda: tally.settle(ticket, USED), lambda: tally.release(ticket)):
        with pytest.raises(KeyError):  # it is good once
            again()
    tally.settle(tally.reserve(MODEL, WORST), None)
    tally.release(tally.reserve(MODEL, WORST))
    assert ceiling.left == 5
    open_ = tally.reserve(MODEL, WORST)
    copy = pickle.loads(pickle.dumps(tally))
    assert copy.reserve(MODEL, WORST) != open_
    copy.settle(open_, USED)  # a copy counts on
    assert (copy.usage, copy.open) == (USED * 2, WORST)
    used, worst = (prices.cost(usage, MODEL) or 0 for usage in (USED, WORST))
    for one in (tally, outer):
        assert (one.usage, one.assumed, one.open, one.calls) == (USED, WORST, WORST, 2)
        assert one.cost(prices) == pytest.approx(used + worst)
    tally.settle(tally.reserve(MODEL, WORST, batch=True), USED)
    assert outer.cost(prices) == tally.cost(prices) == pytest.approx(1.5 * used + worst)
    tally.settle(tally.reserve("unheard-of", WORST), USED)
    assert outer.cost(prices) is tally.cost(prices) is None
    while ceiling.left:
        outer.reserve(MODEL, WORST)
    before = outer.open
    with pytest.raises(BudgetSpent):
        tally.reserve(MODEL, WORST)
    assert (tally.open, outer.open) == (WORST, before)


@given(st.recursive(st.none() | st.booleans() | st.text() | st.integers(), st.lists))
def test_what_is_sent_is_the_json_that_was_given_and_nothing_else(value: Any):
    assert json.loads(encode_body({"value": value})) == {"value": value}
    for wrong in (float("nan"), float("inf"), {1}, object()):
        with pytest.raises((ValueError, TypeError)):
            encode_body({"value": [value, wrong]})
