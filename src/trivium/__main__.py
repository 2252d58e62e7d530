"""``python -m trivium`` is the ``trivium`` command, also where its script is not on the path."""

from trivium.cli.main import main

main(prog_name="trivium")
