"""Groups of consumers: who reads what, and how far they have come.

    coordinator     finds the shard of a group; the only module that others need
    shard           the groups whose records lie in one partition of ``__consumer_offsets``, and their replay
    roster          the groups of a shard, of whatever protocol
    group, member   a classic group as plain state; no timers, no replies of its own making
    joining, rebalancing, syncing, membership    the classic protocol, a step each
    offsets         what groups of any kind have committed
    committing, retention    storing and looking up offsets, and forgetting them in time
    records         the state as records of ``__consumer_offsets``
    enabling        which protocols the cluster has agreed to
    finding, listing    which node coordinates, and what there is
    consumer/       groups of KIP-848, and classic members in them
    share/          groups whose members share partitions, record by record (KIP-932)
    assignors/      sharing partitions among members
    patterns/       regular expressions over names of topics

Groups of every protocol but share groups keep what they have read in the same ``offsets``.
"""
