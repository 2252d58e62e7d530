"""The ``trivium`` command."""
