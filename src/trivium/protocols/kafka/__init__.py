"""The Kafka protocol's door: ``session`` is the state machine, ``apis/`` one module per API key."""
