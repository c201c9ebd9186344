"""Workers: processes that run jobs, by names from which others on their machine can tell whether they still live.

A name holds the machine, as it was booted and as it numbers its processes, the number of the process and the moment at
which the process started.  No two processes have all of these in common.  So a worker of this machine is dead for good
if no process has its number and its moment.  Of a worker elsewhere, or where there is no `/proc`, nothing can be told:
it is taken for dead once it was silent for long (`jobs.SILENCE`).
"""

from __future__ import annotations

import os
from pathlib import Path

from .database import number

_BOOT, _PROCESSES = Path("/proc/sys/kernel/random/boot_id"), "/proc/self/ns/pid"
_STATE, _STARTED = 0, 19  # fields of /proc/PID/stat, counted from the one after the name


def new_worker() -> str:
    """The name of a new worker of this process."""
    process = os.getpid()
    return f"{_machine()}/{process}/{_started(process)}/{number()}"


def has_died(worker: str | None) -> bool:
    """Whether a worker is known to be dead."""
    machine, *process = (worker or "").split("/")
    if len(process) != 3 or machine == "" or machine != _machine():
        return False
    try:
        os.kill(int(process[0]), 0)  # which does nothing to it
    except ProcessLookupError:
        return True
    except PermissionError:  # somebody else's, who alone may look at it
        return False
    return _started(int(process[0])) != process[1]


def _machine() -> str:
    """The boot of this machine, and the namespace of its process numbers; "" where there is no telling."""
    try:
        return f"{_BOOT.read_text().strip()} {os.readlink(_PROCESSES)}"
    except OSError:
        return ""


def _started(process: int) -> str:
    """When a process started, in ticks since the boot; "" if it has ended, though its parent has not noticed."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[_STATE] in "ZX" else fields[_STARTED]
