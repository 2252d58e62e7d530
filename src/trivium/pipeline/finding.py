"""What ``check`` says: how bad, where, what is wrong and what to do."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from trivium.pipeline.mistake import Mistake


class Severity(StrEnum):
    ERROR = "error"
    """The pipeline cannot run, or would do what nobody wants."""

    WARNING = "warning"
    """It runs; its author should know."""


@dataclass(frozen=True, slots=True)
class Finding:
    severity: Severity
    where: str
    """A path in the definition, such as ``flow.revenue.sql``; empty for the whole."""

    sentence: str
    remedy: str = ""
    line: int | None = None

    def __str__(self) -> str:
        place = f"line {self.line}, " if self.line is not None else ""
        where = f"{place}{self.where}: " if self.where else place.replace(", ", ": ")
        return f"{where}{self.sentence} {self.remedy}".rstrip()


class Unreadable(Exception):
    """A file that gives no definition, with everything that is wrong in it. The message is one sentence."""

    def __init__(self, file: str, findings: Iterable[Finding]) -> None:
        self.file = file
        self.findings = tuple(findings)
        more = f" (and {len(self.findings) - 1} more)" if len(self.findings) > 1 else ""
        super().__init__(f"{file}: {self.findings[0]}{more}")


def error(where: str, sentence: str, remedy: str = "") -> Finding:
    return Finding(Severity.ERROR, where, sentence, remedy)


def warning(where: str, sentence: str, remedy: str = "") -> Finding:
    return Finding(Severity.WARNING, where, sentence, remedy)


def from_mistake(mistake: Mistake, line: int | None = None) -> Finding:
    return Finding(Severity.ERROR, mistake.key, mistake.sentence, mistake.remedy, line)
