"""``trivium cert dev``."""

import ssl
from pathlib import Path

from click.testing import CliRunner

from trivium.cli.main import main


def run(*args: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["cert", "dev", *args])
    return result.exit_code, result.output


def test_certificates_are_made_and_fit_together(tmp_path: Path) -> None:
    code, output = run(str(tmp_path / "certs"), "--host", "broker.test", "--client", "orders")
    assert code == 0, output
    directory = tmp_path / "certs"
    assert f"Clients trust   {directory / 'ca.pem'}" in output
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / "server.pem", directory / "server-key.pem")
    context.load_cert_chain(directory / "orders.pem", directory / "orders-key.pem")
    for key in directory.glob("*-key.pem"):
        assert key.stat().st_mode & 0o077 == 0, f"{key.name} can be read by others"


def test_authority_stays_when_it_is_called_again(tmp_path: Path) -> None:
    assert run(str(tmp_path))[0] == 0
    authority, server = ((tmp_path / name).read_bytes() for name in ("ca.pem", "server.pem"))
    assert run(str(tmp_path))[0] == 0
    assert (tmp_path / "ca.pem").read_bytes() == authority
    assert (tmp_path / "server.pem").read_bytes() != server


def test_what_is_in_the_way_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("x")
    (tmp_path / "ca-key.pem").write_text("x")
    code, output = run(str(tmp_path))
    assert code == 1
    assert "remove both to make a new one" in output
    code, output = run(str(tmp_path / "new"), "--client", "../x")
    assert code == 1
    assert "is no name for a client" in output
