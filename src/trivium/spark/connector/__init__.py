"""``format("trivium")``: topics as rows for Spark, with the options, columns and offsets of its Kafka source.

``source`` is what Spark finds. On the driver ``options`` are read, ``subscription`` and ``bounds`` become
``ranges`` of offsets, and one task reads each. Where records come from is an ``origin``: a broker or a
directory. ``rows`` are Arrow batches that the compiled kernel fills.
"""
