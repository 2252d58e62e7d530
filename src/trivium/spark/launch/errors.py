"""Why Spark does not start, each as one sentence that says what to do."""


class LaunchError(Exception):
    """Spark cannot be started like this."""
