"""Kafka messages: the class is the schema."""
