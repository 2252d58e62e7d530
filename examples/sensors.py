"""Readings of sensors, a line of CSV each: in degrees, without those that cannot be, as Parquet by day.

trivium topic create readings
echo 'kitchen,2951,2025-06-15T10:00:00Z' | trivium produce readings
trivium pipeline run examples/sensors.py --trigger available-now
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it

from trivium.pipeline import Pipeline, parquet

p = Pipeline("sensors")
p.source("readings", format="csv", schema="sensor STRING, decikelvin INT, at TIMESTAMP")


@p.flow(
    sink=parquet("lake/celsius", partition_by=["day"]),
    expect={"plausible": "celsius BETWEEN -60 AND 60"},
    schema="sensor STRING, celsius DOUBLE, at TIMESTAMP, day DATE",
)
def celsius(readings: DataFrame) -> DataFrame:
    degrees = (F.col("decikelvin") / 10 - 273.15).cast("double")
    return (
        readings.withColumn("celsius", F.round(degrees, 2))
        .withColumn("day", F.to_date("at"))
        .drop("decikelvin")
    )
