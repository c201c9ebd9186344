"""Metrics in the text form of Prometheus: how many requests there were, and how long they took; never a value."""

from __future__ import annotations

from collections import Counter

from ..log import coarse


class Metrics:
    """Counts requests by route and status, and their times to a power of two of milliseconds."""

    def __init__(self) -> None:
        self._requests, self._times = Counter[tuple[str, str, int]](), Counter[int]()
        self._seconds = 0.0

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self._requests[method, route, status] += 1
        self._times[coarse(seconds)] += 1
        self._seconds += coarse(seconds) / 1000

    def text(self, running: int) -> str:
        """What was counted by this process."""
        lines = [f"# TYPE tacit_requests_running gauge\ntacit_requests_running {running}"]
        lines += ["# TYPE tacit_requests_total counter"]
        for (method, route, status), n in sorted(self._requests.items()):
            lines.append(f'tacit_requests_total{{method="{method}",route="{route}",status="{status}"}} {n}')
        lines += ["# TYPE tacit_request_seconds histogram"]
        total = 0
        for milliseconds, n in sorted(self._times.items()):
            total += n
            lines.append(f'tacit_request_seconds_bucket{{le="{milliseconds / 1000:g}"}} {total}')
        lines += [
            f'tacit_request_seconds_bucket{{le="+Inf"}} {total}',
            f"tacit_request_seconds_sum {self._seconds:g}",
            f"tacit_request_seconds_count {total}",
        ]
        return "\n".join([*lines, ""])
