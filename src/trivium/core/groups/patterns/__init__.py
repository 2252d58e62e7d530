"""Regular expressions over the names of topics, in RE2's syntax (KIP-848).

    nodes         what an expression is made of
    classes       sets of characters
    syntax        from text to nodes, or why not
    automaton     which names match: in time that grows with the name and the expression, never faster

Python's own expressions are not used: they take what RE2 does not, and some of them take for ever.
"""
