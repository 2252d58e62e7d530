"""Regular expressions over names of topics: RE2's syntax, and time that is bounded (KIP-848; S3)."""

import re
from contextlib import suppress
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.core.groups.patterns.automaton import PROGRAM_MAX, STEPS_MAX, TEXT_CHARS_MAX, Pattern
from trivium.core.groups.patterns.syntax import DEPTH_MAX, REPEAT_COUNT_MAX, InvalidPattern

names = st.text("ab1._-", min_size=1, max_size=8)
atoms = st.sampled_from(
    ["a", "b", "1", r"\.", ".", "[ab]", "[^a]", r"\d", r"\w", r"\W", "^", "$", r"\b", r"\B"]
)
expressions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map("|".join),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,}", "{0,2}", "*?"])).map(
            lambda each: f"(?:{each[0]}){each[1]}"
        ),
        inner.map(lambda each: f"({each})"),
    ),
    max_leaves=8,
)


@given(expression=expressions, several=st.lists(names, max_size=8))
def test_pattern_matches_what_pythons_own_expressions_match(expression: str, several: list[str]) -> None:
    # ``$`` of Python also holds before a last line end, of which names have none.
    expected = {name for name in several if re.fullmatch(expression, name, re.ASCII)}
    assert Pattern(expression).matching(several) == expected


@given(text=st.text(max_size=30) | st.text("()[]{}*+?|\\^$.,-:<>=!Pxpia0179Qd", max_size=20))
def test_any_text_is_a_pattern_or_refused(text: str) -> None:
    with suppress(InvalidPattern):
        Pattern(text).matching(["a", "orders.eu-1"])


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("(?i)ORDERS", "orders"),
        ("a(?i:B)c", "abc"),
        ("(?i)a(?-i)b", "Ab"),
        ("(?P<region>eu|us)-.*", "eu-1"),
        ("(?<region>eu|us)-.*", "us-1"),
        (r"\Qa.b\E-c", "a.b-c"),
        (r"\Qa.b", "a.b"),
        (r"\Qa.b\E+", "a.bb"),
        ("[[:alpha:]]+", "abc"),
        ("[[:^alpha:]]+", "123"),
        (r"[\d.]+", "1.2"),
        (r"\x61\x{62}\101", "abA"),
        (r"\p{L}+\pN", "ab1"),
        (r"\PN+", "ab"),
        (r"\p{^N}+", "ab"),
        (r"\p{Latin}", "a"),
        ("[]a]+", "a"),
        ("[a-]+", "-a"),
        ("a{,2}", "never"),
        ("", ""),
        ("a||b", ""),
        ("(?s).(?U)a*", "bb"),
        (r"\Aab\z", "ab"),
        ("a{2,3}?", "aaa"),
    ],
)
def test_syntax_of_re2_is_understood(expression: str, name: str) -> None:
    matched = Pattern(expression).matching([name])
    assert matched == (set() if name in ("never", "bb") else {name})


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("[", "missing closing ]"),
        ("[a", "missing closing ]"),
        ("(a", "missing closing )"),
        ("(?i", "missing closing )"),
        ("a)", "unexpected )"),
        ("*", "missing argument to repetition operator"),
        ("a|*", "missing argument to repetition operator"),
        (r"\Q\E*", "missing argument to repetition operator"),
        ("a**", "invalid nested repetition operator"),
        (r"(a)\1", "invalid escape sequence"),
        (r"\y", "invalid escape sequence"),
        (r"\x{110000}", "invalid escape sequence"),
        ("\\", "trailing backslash at end of expression"),
        ("(?=a)", "invalid or unsupported Perl syntax"),
        ("(?!a)", "invalid or unsupported Perl syntax"),
        ("(?<=a)b", "invalid or unsupported Perl syntax"),
        ("(?>a)", "invalid or unsupported Perl syntax"),
        ("(?P<1-2>a)", "invalid named capture"),
        ("(?P<n>a)(?P<n>b)", "duplicate capture group name"),
        ("[b-a]", "invalid character class range"),
        ("[[:none:]]", "invalid character class range"),
        (r"\p{None}", "invalid character class range"),
        (f"a{{{REPEAT_COUNT_MAX + 1}}}", "invalid repeat count"),
        ("a{3,2}", "invalid repeat count"),
    ],
)
def test_what_is_no_pattern_is_refused_with_its_reason(expression: str, reason: str) -> None:
    with pytest.raises(InvalidPattern, match=re.escape(reason)):
        Pattern(expression)


@pytest.mark.parametrize(
    "expression", ["(a*)*b", "(a|a)*b", "(a|aa)+b", "(a?){50}a{50}b", "(.*)*(.*)*(.*)*b", "(a|b|ab)*c"]
)
def test_pattern_that_takes_others_for_ever_takes_few_steps(expression: str) -> None:
    assert Pattern(expression).matching(["a" * 249, "a" * 248 + "b"]) <= {"a" * 248 + "b"}


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("a" * (TEXT_CHARS_MAX + 1), f"{TEXT_CHARS_MAX} are allowed"),
        ("(a{1000}){11}", "too large"),
        ("(" * (DEPTH_MAX + 1) + ")" * (DEPTH_MAX + 1), "within each other"),
    ],
)
def test_pattern_over_a_limit_is_refused(expression: str, reason: str) -> None:
    assert PROGRAM_MAX < 11_000
    with pytest.raises(InvalidPattern, match=reason):
        Pattern(expression)


def test_pattern_that_costs_too_much_over_all_topics_is_refused() -> None:
    # Which letters were read in the last 200 is another set of places for almost every name.
    costly, letters = Pattern("(.*a.{200})+"), Random(1)
    topics = ["".join(letters.choices("ab", k=249)) for _ in range(STEPS_MAX // 10_000)]
    with pytest.raises(InvalidPattern, match="too long"):
        costly.matching(topics)


def test_pattern_remembers_steps_and_stays_cheap_for_many_topics() -> None:
    topics = [f"orders.region-{number}.v1" for number in range(5000)]
    assert len(Pattern(r"orders\.region-\d*7\.v1|payments.*").matching(topics)) == 500
