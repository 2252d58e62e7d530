"""The seeded world: the core of a broker, Kafka's APIs and simulated clients; one seed, one history.

    world         events in the order of time, loss of power, the end of trouble
    machine       the broker, put together anew with every start
    storage       logs in memory that forget what was not synced; memory_log: one of them
    real_storage  the real log, on a disk that forgets
    agenda        what is to happen, and when
    network       delays, cuts, requests that arrive late or twice
    carriage      how a request gets into the broker: through a real session, or as a message
    peer          clients; reading, writing: what they ask
    story         what they did, for the checker of ``testing.history``
    profiles/     who does what, and what must be true in the end (R13, R14, R15)
    histories     one history after the other, or many

``python -m trivium.testing.world --profile transactions --seed 7 -v`` plays one history and shows it.
"""
