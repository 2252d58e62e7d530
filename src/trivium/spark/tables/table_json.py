"""A table as the text of an option: options of Spark are nothing else."""

import json
from dataclasses import asdict

from trivium.pipeline.table import Table, TableFormat


def to_json(table: Table) -> str:
    return json.dumps(asdict(table))


def from_json(text: str) -> Table:
    said = json.loads(text)
    return Table(TableFormat(said["format"]), said["path"], said["name"], said["catalog"])
