"""A pipeline's flows as queries of Structured Streaming.

``source_frames`` reads topics and ``decoding`` makes columns of them; ``flow_frames`` puts a flow on top of
what it reads and ``judging`` tells its good rows from the others; ``query`` starts it with its sink, its
checkpoint and its trigger; ``run`` runs several and ``tally`` counts what they do. ``passages`` are what a
flow can be run on: the topics, a part of their past (``backfill``), or its quarantine (``replay``).
"""
