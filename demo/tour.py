"""The tour: what Trivium is for, on your machine, from writing clients to checked tables: ``make demo``.

A broker in this process; orders and clicks come in through clients of Kafka, Iggy and RustLog, some broken on
purpose. A pipeline on Spark cleans them into tables with a quarantine, and sums them up by the minute, into a
table and exactly once into a topic. At the end everything is counted, and what does not add up is said.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from demo.broker import main as tour_of_the_broker
from demo.shop import Shop
from demo.summary import show_plot, show_summary
from rich.console import Console

from trivium.spark.launch.errors import LaunchError
from trivium.spark.launch.java import find_java_home
from trivium.testing import Broker

PIPELINE = Path(__file__).with_name("shop.toml")
DOORS = {"listen.iggy": "127.0.0.1:0", "listen.rustlog": "127.0.0.1:0"}

console = Console(highlight=False)


def main() -> None:
    try:
        find_java_home(os.environ)
    except LaunchError as error:
        console.print(
            f"{error} Until then, the part of the tour that works without:", style="yellow", markup=False
        )
        tour_of_the_broker()
        return
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="trivium-tour-") as folder, Broker(settings=DOORS) as broker:
        os.chdir(folder)
        shop = Shop(broker)
        console.rule("[bold]1. Orders and clicks come in through three protocols", align="left")
        for sentence in shop.write():
            console.print(sentence)
        trivium("topic", "list", broker=broker)
        console.rule("[bold]2. A pipeline: one short file, checked before Spark starts", align="left")
        shutil.copy(PIPELINE, folder)
        console.print(PIPELINE.read_text(), style="dim", markup=False, soft_wrap=True)  # as it can be copied
        trivium("pipeline", "check", PIPELINE.name, broker=broker)
        console.rule("[bold]3. It runs on Spark until everything is read", align="left")
        trivium("pipeline", "run", PIPELINE.name, "--trigger", "available-now", broker=broker)
        console.rule("[bold]4. What came of it, counted by clients that know nothing of us", align="left")
        found = shop.read_back()
        show_summary(console, found)
        show_plot(console, shop.revenue_by_minute(), "Revenue by the minute, as a Kafka client reads it")
        trivium("table", "show", "lake/orders")
        problems = shop.problems(found)
        if problems:
            raise SystemExit("\n".join([*problems, "This must never happen; please report it."]))
    minutes, seconds = divmod(round(time.perf_counter() - began), 60)
    console.print(f"Nothing lost, nothing twice, in {minutes} min {seconds} s.")
    console.print("The broker's own tour: .venv/bin/python -m demo.broker")


def trivium(*arguments: str, broker: Broker | None = None) -> None:
    console.print(f"$ trivium {' '.join(arguments)}", style="bold cyan")
    sys.stdout.flush()
    elsewhere = [] if broker is None else ["--broker", broker.bootstrap]
    subprocess.run([sys.executable, "-m", "trivium", *arguments, *elsewhere], check=True)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit("the tour was stopped; what it wrote is gone again") from None
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"trivium {error.cmd[3]} ended with {error.returncode}; it says above why") from None
