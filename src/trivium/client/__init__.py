"""A small blocking Kafka client on our own protocol stack: for the command line, Spark, console and tests.

``cluster`` knows who leads what and holds the connections; ``producer``, ``reader`` and ``group`` move
records; the ``admin_*`` modules ask and change. Everything happens in the calling thread, and whatever goes
wrong is a ``ClientError`` whose message is a sentence for a person.
"""
