"""Share groups (KIP-932): members read the same partitions side by side, and each record is given to one of
them at a time, until somebody has accepted or rejected it.

Who is a member is kept with all groups, in ``__consumer_offsets``:

    group               a group as plain state: epochs, targets, and where it has begun to read
    step, heartbeats    what a heartbeat changes, worked out first; joining, living and leaving
    records             the state as records, and from them
    coordination        all of that for one shard of the coordinator;  describing, rules: what their names say

What has become of records is kept in ``__share_group_state``:

    flight              the records of one partition that are on their way, as plain state
    share_partition     such a partition, with how much of it is stored
    state_records, state_shard, states   the state as records, and from them
    deliveries          giving records out and taking them back; locks and their time-outs
    readable            what there is for readers in a piece of a log
    sessions, reading, share_poll        what members say and get, and how they wait for it
    standing            start offsets, for administrators
"""
