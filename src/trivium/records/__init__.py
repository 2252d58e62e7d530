"""Kafka record batches: header, checksum, compression, control records, and the compiled kernel."""
