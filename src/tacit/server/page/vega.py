"""Vega and Vega-Lite as one ES module, for the charts of the page.

vl-convert bundles them with a JavaScript engine of its own.  That engine takes 100 MB, and has no place in a process
that holds private data, so another process runs it: once, when the first chart is wanted.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from threading import Lock

_BUNDLE = "import sys, vl_convert; sys.stdout.write(vl_convert.javascript_bundle('export {vegaEmbed};'))"
_SECONDS = 60
_lock, _bundles = Lock(), list[bytes | None]()


def vega() -> bytes | None:
    """A module that exports `vegaEmbed`, or None if vl-convert is not installed."""
    with _lock:
        if not _bundles:
            _bundles.append(_bundled())
        return _bundles[0]


def _bundled() -> bytes | None:
    if importlib.util.find_spec("vl_convert") is None:
        return None
    command = [sys.executable, "-I", "-c", _BUNDLE]
    return subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=_SECONDS).stdout
