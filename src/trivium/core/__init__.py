"""What a broker means. Deterministic: no input or output, no clock, no threads."""
