"""Iggy's classic protocol, generations 0.5 to 0.8 on one port.

    session     one connection: frames in, answers out, one request after the other
    protocol    what all sessions share
    dialect     which generation a client belongs to, found out from its bytes and its login
    body        reading requests: identifiers, names, numbers
    layout      writing answers: streams, topics, groups, users, clients
    exchange    the form of a command: asks the broker once or several times, then answers
    status      Iggy's error codes, and which of them a fault becomes
    commands    one module for each family of commands
    claimed_headers    what Java's client of 0.6 sends, set right
    newcomer    clients of 0.9, which speak another protocol: turned away in their own words

Iggy's words are translated here: it counts offsets by the last one read and, in its oldest generation, counts
everything else from 1. The core knows neither. ``docs/iggy.md`` says what clients find.
"""
