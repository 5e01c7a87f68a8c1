"""Python's meaning, and no hanging."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from skill_eval_nb.grading.outputs import Content
from skill_eval_nb.grading.search import (
    BadPattern,
    Clock,
    OutOfTime,
    Pattern,
    TextSearch,
    compile_pattern,
    make_terms,
)
from skill_eval_nb.grading.structural import check
from tests.corpus.build import lay
from tests.grading.made import checked, wanted

HANGING = {
    "overlapping choices": (r"^(a|aa)+$", "a" * 5000 + "!"),
    "trailing blanks": (r"\s+$", " " * 200_000 + "x"),
    "back reference": (r"([a-z]+)*\d\1", "abc" * 1500),
    "counted thrice": (r"((a{1,30}){1,30}){1,30}b", "a" * 3000 + "cb"),
    "fields": (r"(?s)^(.*?,){30}P", "1," * 2000 + "\n"),
}
"""Patterns that keep Python's `re` busy for ages, with the text that does it."""


@pytest.mark.parametrize("name", HANGING)
def test_a_pattern_that_hangs_python_ends_within_half_a_second_for_all_files(tmp_path, name):
    pattern, text = HANGING[name]
    compile_pattern("warm up").compiled.search("")
    files = {f"{number}.txt": text for number in range(5)}
    took = []
    while len(took) < 2 and min(took, default=1.0) > 0.5:  # once a busy machine may take longer
        begun = time.process_time()
        found = checked(tmp_path, "file_not_contains", files, pattern="*", match_regex=pattern)
        took.append(time.process_time() - begun)
        assert found.passed is not None or "took too long in " in found.evidence
    assert min(took) <= 0.5


ATOMS = st.sampled_from(
    [
        *"abA1_ é\n.^${",
        *(rf"\{one}" for one in "dDwWsSbBAZ."),
        *("[ab1]", "[^ab]", r"[\wé]", r"[^\W_]", r"[\D\n]", r"[^\S\n]", "[[a]", "[a||b]"),
        *("{e}", "{i<=1}", "a{1", "(?i:a)", "(?s:.)", "(?-m:^)", "(?-m:$)", r"\x41"),
    ]
)


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda all_: f"(?:{'|'.join(all_)})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "*?", "+?", "{1,2}", "{2}", "{,2}"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
        st.tuples(
            st.sampled_from(
                ["({})", "({})?\\1", "(?={})", "(?!{})", "(?<={})", "(?<!{})", "(?i:{})"]
            ),
            inner,
        ).map(lambda pair: pair[0].replace("{}", pair[1])),
    )


PATTERNS = st.recursive(ATOMS, _grown, max_leaves=6)
TEXTS = st.text(alphabet="abA1_ éÉ\n\r{e}i.²e\u0301", max_size=8)


KNOWN = [
    (r"\${e}", "price: ${e}"),
    (r"(?x) a \# b  # said so", "a#b"),
    (r"(?P<one>a)(?P=one)", "aa"),
    (r"(a)?b(?(1)c|d)", "abc"),
    (r"(?a)^\w+$", "abc"),
    (r"(?>a+)b", "aab"),
    (r"(?s)## New.*## Fixed", "## New\nx\n## Fixed"),
    (r"[\u00e9\x41-C]+", "éAB"),
]


@pytest.mark.filterwarnings("ignore::FutureWarning")
@settings(max_examples=150, deadline=None)
@given(st.tuples(PATTERNS, TEXTS) | st.sampled_from(KNOWN))
def test_what_is_found_is_what_python_finds(case):
    pattern, text = case
    try:
        theirs = re.compile(pattern, re.MULTILINE).search(text)
    except re.error:
        assume(False)
    assert theirs or case not in KNOWN
    compiled = compile_pattern(pattern)
    clock = Clock()
    clock.start()
    ours = clock.search(compiled, text)
    assert (ours and ours.span()) == (theirs and theirs.span())


PIECES = st.sampled_from(
    (
        "a b é ß \ud800 \0 \n . ^ $ | ( ) (?: (?= (?<! (?> (?i: (?a:\\w) (?u: (?L) (?a) (?u) (?i) "
        "(?x) (?s-m:a) (?P<n>a) (?P=n) (?P<n> (?(1)a|b) (?(n)a) (?(9)a|b) (?(?=a)b) (?R) (?1) (?| "
        "(?# [ ] [^] [a-z] [z-a] [[:alpha:]] [a&&b] [\\w-a] [^\\W\\d] \\b \\B \\Z \\d \\W \\1 \\10 "
        "\\x41 \\N{DASH} \\p{L} \\K \\G \\ * + ? *? ++ {2} {2,1} {,3} {0} {60000} {4294967295} "
        "{99999999999} {e<=1} (a|b)* ((a)|b)+ ()*"
    ).split(" ")
)


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=8), st.sampled_from([1, 1, 1, 30]))
def test_any_syntax_is_compiled_or_refused(pieces, times):
    content = Content("ab\nßé Aa1".encode())
    try:
        what = make_terms([], "".join(pieces) * times, [], 0)
    except BadPattern:
        return
    looking = TextSearch(what)
    looking.search_file("a.txt", content)
    assert looking.evidence() or not looking.n_found


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        *((one, None) for one in ("(", "[", "a**", r"\p{L}", "(?<=a+)b", "(?R)")),
        (r"(?P<a>x)(?P<a>y)", None),
        ("(?a)(?u)x", "flags are incompatible"),
        ("(?a:x)", "flags of a part of it alone can be i, m and s"),
        ("(?:a{60000}){60000}", "its repeats add up to 3,600,000,000 parts"),
        ("[^]]{60000}" * 20, "its repeats add up to 1,200,000 parts"),
        ("(a|b)*" * 10_000, "it has 60,000 characters"),
    ],
)
def test_what_cannot_be_compiled_in_reason_ends_its_check_alone(tmp_path, pattern, says):
    """It is said, in Python's words where it refuses it too. One needed all memory there is."""
    if says is None:
        with pytest.raises(re.error) as theirs:
            re.compile(pattern)
        says = theirs.value.msg
    folder = lay(tmp_path, {"a": "x"})
    checks = [wanted("file_not_contains", match_regex=pattern), wanted("file_exists", pattern="a")]
    bad, good = check(checks, folder, None).expectations
    assert (bad.passed, good.passed) == (None, True)
    assert "`match_regex`" in (bad.evidence or "")
    assert says in (bad.evidence or "")


def test_what_other_threads_compute_takes_no_time_from_a_check():
    """`regex` counts the processor time of the whole process, and may end a search too early."""

    class TimedOut:
        def __init__(self, times):
            self.times = times

        def search(self, text, start, timeout):
            self.times -= 1
            if self.times >= 0:
                raise TimeoutError
            return "found"

    clock = Clock()
    clock.start()
    assert clock.search(Pattern("x", (), TimedOut(3)), "text") == "found"
    with pytest.raises(OutOfTime):
        clock.search(Pattern("x", (), TimedOut(10**9)), "text")
