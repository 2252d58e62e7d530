"""Definitions for tests: a small one that is right, and what ``check`` and the readers say about others."""

from pathlib import Path

import pytest

from trivium.pipeline.checking import check
from trivium.pipeline.definition import Definition
from trivium.pipeline.finding import Finding, Severity, Unreadable
from trivium.pipeline.toml_file import read_toml

ORDERS = '''
[pipeline]
name = "shop"
[source.orders]
schema = """id BIGINT, customer STRING, amount DECIMAL(12,2), at TIMESTAMP, paid BOOLEAN, tags ARRAY<STRING>,
            to STRUCT<city: STRING, zip: INT>"""
watermark = "at 10 minutes"
'''


def defined(text: str) -> Definition:
    return read_toml(Path("shop.toml"), text)


def refused(text: str) -> tuple[Finding, ...]:
    """What is wrong with a file that gives no definition."""
    with pytest.raises(Unreadable) as raised:
        defined(text)
    return raised.value.findings


def flow(sql: str, *, sink: str = '{ topic = "out" }', more: str = "") -> Definition:
    """Orders and one flow."""
    return defined(f"{ORDERS}\n[flow.f]\nsql = '''{sql}'''\nsink = {sink}\n{more}")


def said(definition: Definition, severity: Severity = Severity.ERROR) -> list[str]:
    """Sentences with their remedies."""
    found = [each for each in check(definition) if each.severity is severity]
    return [f"{each.sentence} {each.remedy}".rstrip() for each in found]


def warned(definition: Definition) -> list[str]:
    assert said(definition) == []
    return said(definition, Severity.WARNING)
