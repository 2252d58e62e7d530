"""The one exception of this package."""


class ConfigurationError(Exception):
    """A node cannot start with these settings; the message is one sentence for whoever wrote them."""
