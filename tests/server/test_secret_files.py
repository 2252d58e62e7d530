"""A secret that everybody on the machine may read keeps a node from starting (S15)."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.server.serving import run_serve
from trivium.server.certificates import Certificates
from trivium.server.configuration.configuration import Protocol
from trivium.server.configuration.errors import ConfigurationError
from trivium.server.configuration.loading import load
from trivium.server.dev_certificates import DevAuthority
from trivium.server.exposure import refuse_open_files
from trivium.server.listeners import CannotListen
from trivium.server.secret_files import Readers, readers, refusal


@pytest.fixture
def public() -> Iterator[Path]:
    """A directory that everybody may look into."""
    with tempfile.TemporaryDirectory() as made:
        path = Path(made).resolve()
        path.chmod(0o755)
        if not all(each.stat().st_mode & 0o001 for each in path.parents):
            pytest.skip("temporary files of this machine are nobody else's")
        yield path


WITH_SECRETS = 'iggy.root.username = "a"\niggy.root.password = "canary"\n'


def written(path: Path, mode: int, text: str = "secret") -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (0o600, Readers.OWNER),
        (0o400, Readers.OWNER),
        (0o640, Readers.SOME),
        (0o604, Readers.EVERYBODY),
        (0o644, Readers.EVERYBODY),
    ],
)
def test_readers_are_those_that_the_rights_of_a_file_name(public: Path, mode: int, expected: Readers) -> None:
    path = written(public / "key", mode)
    assert readers(path) is expected
    assert (refusal(path, "a key") is not None) is (expected is Readers.EVERYBODY)


def test_file_in_a_directory_of_the_owner_alone_is_not_everybodys(public: Path) -> None:
    inner = public / "mine"
    inner.mkdir(mode=0o700)
    path = written(inner / "key", 0o644)
    assert readers(path) is Readers.SOME
    link = public / "link"
    link.symlink_to(path)
    assert readers(link) is Readers.SOME


def test_file_of_another_user_is_for_that_user_to_judge(
    public: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(public / "key", 0o644)
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    assert readers(path) is Readers.SOME


def test_file_of_a_mount_that_cannot_be_written_is_for_others_to_judge(
    public: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Secrets of containers come like this, readable by all of the container."""
    path = written(public / "key", 0o644)
    monkeypatch.setattr(os, "statvfs", lambda _path: SimpleNamespace(f_flag=os.ST_RDONLY))
    assert readers(path) is Readers.SOME


def test_file_that_is_not_there_is_nobodys(tmp_path: Path) -> None:
    assert readers(tmp_path / "none") is Readers.OWNER


def test_key_that_everybody_may_read_is_not_used(public: Path) -> None:
    made = DevAuthority(public).server_pair(["localhost"])
    settings = {"tls.certificate": str(made.certificate), "tls.key": str(made.key)}
    configuration = load(flags=settings | {"listen.kafka": "SSL://127.0.0.1:0"}, environ={})
    (listener,) = configuration.listeners_of(Protocol.KAFKA)
    assert listener.tls is not None
    Certificates(listener.tls, lambda: 0.0)
    made.key.chmod(0o644)
    with pytest.raises(CannotListen, match="holds a private key: chmod 600"):
        Certificates(listener.tls, lambda: 0.0)


def test_configuration_with_secrets_that_everybody_may_read_is_refused(public: Path) -> None:
    path = written(
        public / "trivium.toml", 0o644, 'iggy.root.username = "a"\niggy.root.password = "canary"\n'
    )
    configuration = load(path, environ={})
    with pytest.raises(ConfigurationError, match="holds secrets: chmod 600") as told:
        refuse_open_files(configuration, path)
    assert "canary" not in str(told.value)
    path.chmod(0o600)
    refuse_open_files(configuration, path)
    refuse_open_files(load(environ={}), written(public / "empty.toml", 0o644, ""))


def test_serve_says_what_to_do_in_a_sentence(public: Path) -> None:
    path = written(
        public / "trivium.toml", 0o644, 'iggy.root.username = "a"\niggy.root.password = "canary"\n'
    )
    ended = run_serve(str(path), "--data", str(public / "data"), "--kafka", "127.0.0.1:0")
    assert ended.returncode == 1
    assert f"chmod 600 {path}" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not (public / "data").exists()
