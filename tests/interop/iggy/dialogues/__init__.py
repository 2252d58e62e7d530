"""Dialogues made from a seed, held with a real Iggy 0.8 and with ``trivium serve``, their answers compared.

The idea is that of ``tests.interop.dialogues``, whose shrinking and reports serve here, too. A ``step`` is
one request, its fields by the table in ``commands``; a family (``families``) makes steps from a seed;
``bodies`` writes them; a ``side`` is one of the two servers and plays them; ``plain`` takes out of an answer
what may differ, and ``allowed`` says why; ``judge`` plays a dialogue on both sides and names the first
difference.

Every play finds both servers empty: they are cleared behind it (``pair``). Numbers of things differ all the
same, since ours are never given twice; so a step says ``ByNumber("a")`` and each side finds out.
"""
