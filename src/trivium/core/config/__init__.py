"""Settings of topics, groups and brokers: what may be set, to what, and what then counts. Pure functions."""
