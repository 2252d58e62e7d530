"""What can go wrong in the connector, as sentences: Spark shows them at the end of its own report."""


class ConnectorError(Exception):
    """It could not be read. The message says why, and what to do about it."""


class BadOption(ConnectorError):
    """An option of the reader that is unknown, missing, or not what it should be."""


class DataLost(ConnectorError):
    """Records that were to be read are not there any more."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} Raise the topic's retention so that readers keep up, or set failOnDataLoss to false to "
            "go on without them."
        )


class MadeAnew(DataLost):
    """A topic is not the one that was read before."""

    def __init__(self, what: str) -> None:
        ConnectorError.__init__(
            self,
            f"{what} Start with a new checkpoint to read everything again, or set failOnDataLoss to false to "
            "go on with the new topic from its beginning.",
        )


class FellBack(DataLost):
    """A partition has not all that was read of it any more."""

    def __init__(self, what: str) -> None:
        ConnectorError.__init__(
            self,
            f"{what} Start with a new checkpoint to read it from its beginning, or set failOnDataLoss to "
            "false to go on behind what was read.",
        )


class NothingArrives(ConnectorError):
    """Records that should be there do not come in time."""
