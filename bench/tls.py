"""What encryption costs: processor time of the broker for a GB, plain and through TLS, on the same node.

Run ``python -m bench.tls [DIRECTORY]``. One connection writes batches of 16 records of 1 KB with acks=1, five
unanswered at a time, and reads them back 1 MB at a time; the two listeners in turns. The client's own work is
not in the figures.
"""

import contextlib
import socket
import ssl
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.load import Client, fetch_frame, produce_frame
from bench.peers import Peer, free_port, process, scratch
from rich.console import Console
from rich.table import Table

VALUE_BYTES = 1_024
BATCH_RECORDS = 16
BATCHES = 20_000
IN_FLIGHT = 5
FETCH_BYTES = 1 << 20
ROUNDS = 3
LEVEL = 2.5


class TlsClient(Client):
    def __init__(self, port: int, authority: Path) -> None:
        super().__init__(port)
        context = ssl.create_default_context(cafile=str(authority))
        self.socket: socket.socket = context.wrap_socket(self.socket, server_hostname="localhost")


def main() -> None:
    console = Console(highlight=False)
    with scratch() as directory, broker(Path(directory)) as (peer, tls_port, authority):
        doors: dict[str, Callable[[], Client]] = {
            "plain": lambda: Client(peer.port),
            "TLS": lambda: TlsClient(tls_port, authority),
        }
        costs: dict[tuple[str, str], list[float]] = {}
        for round_ in range(ROUNDS):
            for name, connect in doors.items():
                topic = f"{name}-{round_}"
                with connect() as client:
                    client.create_topic(topic)
                    costs.setdefault(("produce", name), []).append(produced(peer, client, topic))
                    costs.setdefault(("consume", name), []).append(consumed(peer, client, topic))
    table = Table("processor s per GB", "plain", "TLS", "ratio", "level", title="encryption")
    for what in ("produce", "consume"):
        plain, tls = (statistics.median(costs[what, name]) for name in doors)
        table.add_row(what, f"{plain:.2f}", f"{tls:.2f}", f"{tls / plain:.2f}", f"<= {LEVEL}")
    console.print(table)


@contextlib.contextmanager
def broker(directory: Path) -> Iterator[tuple[Peer, int, Path]]:
    """The node with both listeners; the port of the encrypted one, and whom to trust there."""
    trivium = [sys.executable, "-m", "trivium"]
    certificates = directory / "certificates"
    subprocess.run([*trivium, "cert", "dev", str(certificates)], check=True, capture_output=True)
    port, tls_port = free_port(), free_port()
    settings = {
        "data": directory / "data",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},SSL://127.0.0.1:{tls_port}",
        "tls.certificate": certificates / "server.pem",
        "tls.key": certificates / "server-key.pem",
    }
    said = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    doors = ("--iggy", "off", "--rustlog", "off", "--console", "off")
    with process("trivium", [*trivium, "serve", *said, *doors], port, directory / "trivium.log") as peer:
        yield peer, tls_port, certificates / "ca.pem"


def produced(peer: Peer, client: Client, topic: str) -> float:
    frame = produce_frame(topic, BATCH_RECORDS, VALUE_BYTES, 1)
    before = peer.cpu_s
    client.socket.sendall(frame * IN_FLIGHT)
    for _ in range(BATCHES - IN_FLIGHT):
        client.skip_answer()
        client.socket.sendall(frame)
    for _ in range(IN_FLIGHT):
        client.skip_answer()
    return (peer.cpu_s - before) / (BATCHES * len(frame) / 1e9)


def consumed(peer: Peer, client: Client, topic: str) -> float:
    frame_records = FETCH_BYTES // (VALUE_BYTES + 16) // BATCH_RECORDS * BATCH_RECORDS
    before, size_bytes = peer.cpu_s, 0
    for offset in range(0, BATCHES * BATCH_RECORDS, frame_records):
        size_bytes += len(client.ask(fetch_frame(topic, offset, FETCH_BYTES)))
    return (peer.cpu_s - before) / (size_bytes / 1e9)


if __name__ == "__main__":
    main()
