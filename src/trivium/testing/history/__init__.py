"""What clients did, as a file, and whether a log may behave like that (promises R1, R12, R14, R15).

``Recorder`` writes a history, ``read_history`` reads it, ``check`` names its anomalies;
``python -m trivium.testing.history FILE...`` does the latter two. Knows no broker: any log's history will do.
"""

from trivium.testing.history.anomaly import Anomaly, AnomalyKind, Witness
from trivium.testing.history.checker import OutOfOrder, Verdict, check, find_anomalies
from trivium.testing.history.lines import BadHistory, from_line, read_history, to_line
from trivium.testing.history.operation import (
    Assign,
    Commit,
    Committed,
    Decision,
    Operation,
    Outcome,
    Poll,
    Protocol,
    Record,
    Send,
    Txn,
)
from trivium.testing.history.recorder import Begun, Recorder

__all__ = [
    "Anomaly",
    "AnomalyKind",
    "Assign",
    "BadHistory",
    "Begun",
    "Commit",
    "Committed",
    "Decision",
    "Operation",
    "OutOfOrder",
    "Outcome",
    "Poll",
    "Protocol",
    "Record",
    "Recorder",
    "Send",
    "Txn",
    "Verdict",
    "Witness",
    "check",
    "find_anomalies",
    "from_line",
    "read_history",
    "to_line",
]
