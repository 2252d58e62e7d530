"""Transactions: what a producer writes to many partitions counts everywhere or nowhere.

    coordinator     its topic, its ledgers, and who carries out which command; the only module others need
    transaction     one transactional id as a value, and the steps from one state to the next
    records         the state as records of ``__transaction_state``
    ledger, ledgers the transactional ids whose records lie in one partition, and all of them
    initializing    InitProducerId: epochs, fencing, going on after an error, two-phase commit
    adding          partitions and groups become part of a transaction; who may write in one
    ending          commit and abort: decide, mark every partition, complete
    batch_commits   one commit for many prepared transactions, and what queries have committed last
    queries         that as a table of ``__trivium``
    markers         the control records that end a transaction in a partition
    expiry          transactions that take too long, and transactional ids that nobody uses
    listing         describing and listing

The order of an end is what makes it atomic (promise R14): the decision is written to the ledger and synced;
then a marker goes into every partition; when all of them are synced, the ledger says that it is complete. A
start finds every decision without its completion, and goes on there: a marker that is there already is not
written twice.
"""
