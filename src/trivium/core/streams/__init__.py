"""Streams over Kafka's topics: two levels of names, and numbers.

    names        how a stream and a topic are spelled as one Kafka topic, reversibly
    registry     which streams there are, and which topic belongs where; replayed from ``__trivium``
    enrolment    topics that come and go through any door are entered and struck out
    finding      what a caller means by a name or a number, and may use
    options      expiry and size as settings of Kafka
    measuring    sizes and counts
    directory, topic_changes, partition_changes    the commands about streams, their topics and partitions
    clients      who is connected
    membership   who is a member of which group, and which partitions it has
    groups, consuming    the commands about groups, and reading with them

Records, topics and offsets are the same that every other door sees: nothing of them is kept here.
"""
