"""From options to the origin that they name, kept for the life of a process."""

from typing import TYPE_CHECKING

from trivium.spark.connector.broker_origin import BrokerOrigin, kept_origin
from trivium.spark.connector.options import ReadOptions

if TYPE_CHECKING:
    from trivium.spark.connector.directory_origin import DirectoryOrigin


def open_origin(options: ReadOptions) -> "BrokerOrigin | DirectoryOrigin":
    if options.directory is None:
        return open_broker(options)
    from trivium.spark.connector.directory_origin import DirectoryOrigin  # Brings the log with it.

    # Not kept: a directory is read as it is now, and what is open of it is only as good as that moment.
    return DirectoryOrigin(
        options.directory, options.kafka.isolation, fail_on_data_loss=options.fail_on_data_loss
    )


def open_broker(options: ReadOptions, *, patience_s: float = 0.0) -> BrokerOrigin:
    return kept_origin(
        options.kafka,
        fail_on_data_loss=options.fail_on_data_loss,
        poll_timeout_s=options.poll_timeout_ms / 1000,
        patience_s=patience_s,
    )
