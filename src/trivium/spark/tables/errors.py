"""What can go wrong with a table, as sentences."""


class TableError(Exception):
    """The table cannot take these rows. The message says why, and what to do about it."""
