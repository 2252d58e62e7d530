"""How fast records are checked, read, built, compacted and turned into Arrow, on one core.

Run ``python bench/records.py``. Records have a key of 8 and a value of 100 bytes, 1,000 to a batch. Time is
the thread's own processor time, in the best of several rounds: other work on the machine only ever
makes a round slower. The ratio is compiled against interpreted and carries over to other machines;
the rates do not.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from rich.console import Console
from rich.table import Table

from trivium.records import batch, kernel
from trivium.records.compression import Compression
from trivium.records.kernel import interpreted
from trivium.records.record import Record, RowColumns, Section

RECORDS_COUNT = 1_000
RECORDS = [
    Record(offset, 1_750_000_000_000 + offset, b"key-%04d" % offset, b"v" * 100)
    for offset in range(RECORDS_COUNT)
]
ROUNDS = 7
ROUND_SECONDS = 0.2


def main() -> None:
    console = Console(highlight=False)
    console.print(_kernel_table())
    console.print(_batch_table())
    if not kernel.compiled:
        console.print("The kernel is not compiled: both columns show the interpreted one.")


def _kernel_table() -> Table:
    table = Table(title="kernel, million records a second")
    for heading in ("loop", "compiled", "interpreted", "ratio", "level"):
        table.add_column(heading, justify="left" if heading == "loop" else "right")
    fast = _kernel_rates(kernel)
    slow = _kernel_rates(interpreted)
    levels = {"parse, one by one": "8", "build": "8", "to Arrow buffers": "15"}
    for loop, rate in fast.items():
        ratio = rate / slow[loop]
        table.add_row(loop, f"{rate:.2f}", f"{slow[loop]:.3f}", f"{ratio:.0f}", levels.get(loop, ""))
    return table


def _kernel_rates(measured: Any) -> dict[str, float]:
    section = _section(RECORDS)
    unkeyed = _section([record._replace(key=None) for record in RECORDS])
    keep = b"\x00\x01" * (RECORDS_COUNT // 2)
    whole = batch.build_batch(RECORDS)
    columns = measured.to_columns(whole, [0])
    rows = RowColumns(
        keys=columns.keys,
        values=columns.values,
        header_ends=columns.keys._replace(offsets=columns.header_ends, data=b""),
        header_names=columns.header_names,
        header_values=columns.header_values,
        timestamps=bytes(columns.timestamps_us),
    )
    loops: dict[str, Callable[[], object]] = {
        "parse, one by one": lambda: _exhaust(measured.parse(section)),
        "parse without keys, one by one": lambda: _exhaust(measured.parse(unkeyed)),
        "parse into a list": lambda: list(measured.parse(section)),
        "build": lambda: measured.build(RECORDS, None),
        "keys for compaction": lambda: _exhaust(measured.scan_keys(section)),
        "search by time": lambda: measured.find_timestamp(section, 2**50),
        "validate": lambda: measured.check(section, True),
        "retain every second": lambda: measured.retain(section, keep, None),
        "to Arrow buffers": lambda: measured.to_columns(whole, [0]),
        "from Arrow buffers": lambda: measured.from_columns(rows, 0, 10_000_000),
    }
    return {name: RECORDS_COUNT / _best_seconds(loop) / 1e6 for name, loop in loops.items()}


def _batch_table() -> Table:
    table = Table(title=f"whole batches ({'compiled' if kernel.compiled else 'interpreted'} kernel)")
    table.add_column("what")
    table.add_column("size", justify="right")
    table.add_column("microseconds", justify="right")
    for records_count in (1, 130, 8_000):
        whole = batch.build_batch((RECORDS * 8)[:records_count])
        seconds = _best_seconds(lambda whole=whole: batch.check_batch(whole))  # type: ignore[misc]
        table.add_row("check_batch", f"{len(whole):,}", f"{seconds * 1e6:.2f}")
    for codec in Compression:
        whole = batch.build_batch(RECORDS, compression=codec)
        seconds = _best_seconds(lambda whole=whole: _exhaust(batch.iter_records(whole)))  # type: ignore[misc]
        table.add_row(
            f"iter_records of 1,000, {codec.name.lower()}", f"{len(whole):,}", f"{seconds * 1e6:.0f}"
        )
    for codec in Compression:
        seconds = _best_seconds(lambda codec=codec: batch.build_batch(RECORDS, compression=codec))  # type: ignore[misc]
        table.add_row(f"build_batch of 1,000, {codec.name.lower()}", "", f"{seconds * 1e6:.0f}")
    return table


def _section(records: list[Record]) -> Section:
    return batch.read_section(batch.build_batch(records))


def _exhaust(items: Iterable[object]) -> None:
    deque(items, maxlen=0)


def _best_seconds(function: Callable[[], object]) -> float:
    """Seconds for one call, in the best round."""
    calls, elapsed = 1, 0.0
    while elapsed < ROUND_SECONDS / 10:
        calls *= 2
        elapsed = _seconds(function, calls)
    calls = max(int(calls * ROUND_SECONDS / elapsed), 1)
    return min(_seconds(function, calls) for _ in range(ROUNDS)) / calls


def _seconds(function: Callable[[], object], calls: int) -> float:
    start = time.thread_time()
    for _ in range(calls):
        function()
    return time.thread_time() - start


if __name__ == "__main__":
    main()
