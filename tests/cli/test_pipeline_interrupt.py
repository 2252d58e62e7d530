"""Ctrl-C while flows run: once asks for an end, twice does not wait for it, and neither shows a traceback."""

import logging
import signal

import click
import pytest

from trivium.cli.pipeline_running import _until_interrupted


def interrupted_twice() -> None:
    with _until_interrupted() as is_interrupted:
        assert not is_interrupted()
        signal.raise_signal(signal.SIGINT)
        assert is_interrupted()
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            logging.exception("KeyboardInterrupt while sending command.")  # As Py4J does.
            raise


def test_second_interrupt_ends_at_once_and_tells_nothing_of_what_it_broke_off(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(click.exceptions.Exit) as ended:
        interrupted_twice()
    assert ended.value.exit_code == 1
    assert caplog.records == []
    assert capsys.readouterr().err == "Ending; the next run goes on from here.\n"
    assert logging.getLogger().isEnabledFor(logging.ERROR)
    assert signal.getsignal(signal.SIGINT) is before
