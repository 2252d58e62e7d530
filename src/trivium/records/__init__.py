"""Kafka record batches: header, checksum, compression, control records, and the kernel: compiled loops."""
