"""A pipeline as data: sources, flows, expectations, sinks; read from TOML or Python, checked without Spark.

    from trivium.pipeline import Pipeline, delta, to_topic

``building`` is what authors in Python call, ``reading`` makes a ``Definition`` of a file, ``checking`` finds
mistakes in it, ``standing`` asks a broker how far its flows are. Knows no Spark: ``trivium.spark`` runs it.
"""

from trivium.pipeline.building import Pipeline
from trivium.pipeline.definition import Definition
from trivium.pipeline.expectation import expect
from trivium.pipeline.finding import Unreadable
from trivium.pipeline.mistake import Mistake
from trivium.pipeline.reading import load
from trivium.pipeline.sink import delta, iceberg, parquet, to_topic

__all__ = [
    "Definition",
    "Mistake",
    "Pipeline",
    "Unreadable",
    "delta",
    "expect",
    "iceberg",
    "load",
    "parquet",
    "to_topic",
]
