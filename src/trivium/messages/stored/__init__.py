"""What lies in internal logs, as Kafka writes it: metadata, groups, offsets, transactions, share state.

Records of ``__cluster_metadata`` have no key and frame their value (``metadata_log``); those of the compacted
topics have a key that names the type and a value that names its version (``keyed_log``); control records
stand in any log (``control_records``).
"""
