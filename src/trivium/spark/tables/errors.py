"""What can go wrong with a table, as sentences."""


class TableError(Exception):
    """The table cannot take these rows. The message says why, and what to do about it."""


def beyond_calendar(table: str) -> TableError:
    return TableError(
        f"A row for {table} has a time that is not between the years 1 and 9999, which readers of tables do "
        "not know; set such rows aside by an expectation, such as year(at) BETWEEN 1 AND 9999."
    )
