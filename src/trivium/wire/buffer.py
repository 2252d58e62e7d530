"""The bytes that every room accepts: a name for "anything with a buffer" that Python 3.11 also knows."""

Buffer = bytes | bytearray | memoryview
