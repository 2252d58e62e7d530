"""Dialogues made from a seed, held with a real Kafka and with ``trivium serve``, and their answers compared.

A ``step`` is one request; a family (``families``) makes steps from a seed; a ``side`` is one of the two
brokers and plays them; ``plain`` takes out of an answer what may differ, and ``allowed`` says why; ``judge``
plays a dialogue on both sides and names the first difference; ``shrink`` looks for the shortest dialogue that
shows it.
"""
