"""Where the rows of a flow leave Spark: good ones to its sink, the others to its quarantine.

``plan`` says what goes where, as one option of ``format("trivium_flow")``. ``writer`` is what Spark calls:
tasks hand rows to ``outlets``, the driver commits both outlets of a batch, each of which knows by itself
whether it has the batch already. ``judged`` has the columns that tell good rows from others.
"""
