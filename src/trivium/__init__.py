"""Trivium: one streaming log that Kafka, Iggy and RustLog clients share."""

__version__ = "0.1.0"
