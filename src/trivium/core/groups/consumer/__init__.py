"""Consumer groups (KIP-848): the broker shares the work, and members follow it one heartbeat at a time.

    group, member       a group as plain state: epochs, targets, and who holds what
    reconciling         from what a member holds to what it is to hold: nothing is held twice (R15)
    step, stepping      what a heartbeat changes, worked out first; then written; then it happens
    heartbeats          joining, living and leaving;  requests: what a heartbeat must say
    patience            how long members are waited for;  departing: members go
    classic_members     members that speak the classic protocol
    migration           a classic group as a consumer group, and back
    records, replaying  the state as records of ``__consumer_offsets``, and from them
    topic_view          the cluster's topics as a group looks at them
    describing, rules   what is told about a group; its settings

A command becomes a step, a step becomes records, and records change the group: now, and at each start.
"""
