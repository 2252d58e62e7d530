"""Tables of a lake without jars: executors write Parquet, the driver commits.

``data_files`` is what tasks do. ``delta``, ``iceberg`` and ``parquet`` are three ways to make files part of a
table, each with the number of the batch **in the same commit** (R19): a batch that Spark runs again after a
crash is found there and not written again. ``stores`` chooses one of them for a sink. ``care`` looks after
tables that are there: what they hold, small files, old states.
"""
