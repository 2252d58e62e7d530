"""Lines of keys in TOML, as an author would count them."""

import tomllib
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.pipeline.toml_lines import key_lines

DOCUMENT = '''\
# a comment with [brackets] and = signs
[pipeline]
name = "shop"   # "quoted" [x]

[flow.clean]
sql = """
SELECT [a] = 'b'
[flow.fake]
key = 3
"""
expect.positive = "amount > 0"
expect."odd key" = { where = "a", otherwise = "drop" }
sink = { format = "delta", partition_by = [
  "day",   # ] not the end
  "hour",
] }

[flow."quoted.name"]
sql = \'\'\'
x = 1
\'\'\'
trigger = '1 second'
'''


def test_keys_are_found_between_strings_and_brackets_of_many_lines() -> None:
    tomllib.loads(DOCUMENT)
    assert key_lines(DOCUMENT) == {
        "pipeline": 2,
        "pipeline.name": 3,
        "flow": 5,
        "flow.clean": 5,
        "flow.clean.sql": 6,
        "flow.clean.expect": 11,
        "flow.clean.expect.positive": 11,
        "flow.clean.expect.odd key": 12,
        "flow.clean.sink": 13,
        "flow.quoted.name": 18,
        "flow.quoted.name.sql": 19,
        "flow.quoted.name.trigger": 22,
    }


words = st.text("abcxyz_", min_size=1, max_size=4)
texts = st.sampled_from(
    ['"a"', "'b'", '"""\nc = 1\n"""', "'''\n[d]\n'''", "[1,\n 2]", "{e = 1}", "3", '"\\"#"']
)


@settings(deadline=None)
@given(st.dictionaries(words, st.dictionaries(words, texts, max_size=4), max_size=4), st.booleans())
def test_every_key_of_a_document_has_the_line_where_it_is_written(
    tables: dict[str, dict[str, str]], has_carriage_returns: bool
) -> None:
    lines: list[str] = []
    expected: dict[str, int] = {}
    for table, keys in tables.items():
        expected[table] = len(lines) + 1
        lines.append(f"[{table}]")
        for key, value in keys.items():
            expected[f"{table}.{key}"] = len(lines) + 1
            lines += f"{key} = {value}".split("\n")
    text = ("\r\n" if has_carriage_returns else "\n").join(lines)
    document: dict[str, Any] = tomllib.loads(text)
    assert set(document) == set(tables)
    assert key_lines(text) == expected
