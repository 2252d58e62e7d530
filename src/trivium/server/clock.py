"""The real clock behind the core's port."""

import time


class SystemClock:
    def wall_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def wall_us(self) -> int:
        return time.time_ns() // 1_000

    def monotonic_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000
