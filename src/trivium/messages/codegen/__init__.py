"""From a message class and a version to two functions: source text, compiled once, straight through.

A generated function has no loop over fields and no call per field. Neighbouring fields of fixed size,
together with the length or count that follows them, are one ``struct`` call (a *run*). In flexible
versions the first byte of a length belongs to the run too: lengths below 128 have no second one.

``decoder`` and ``encoder`` write the source, the latter with ``run``; ``source`` holds the text, ``layout``
knows what a version consists of, and ``support`` is what the generated code calls at run time.
"""
