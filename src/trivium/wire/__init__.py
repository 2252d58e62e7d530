"""Bytes without meaning: bounds-checked reading, building, varints, framing, and every limit."""
