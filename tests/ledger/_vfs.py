"""SQLite's own system of files, with an ear at every write, sync, creation and removal; it may be told to fail.

The library that Python itself uses is given a copy of its default `sqlite3_vfs` in which `xOpen` hands out files whose
`xWrite`, `xTruncate` and `xSync` are first noted.  That the directory is synced is noted by the system call itself.
"""

import _sqlite3
import contextlib
import ctypes as c
import os
from functools import partial

import pytest

POINTER, INT, TEXT = c.c_void_p, c.c_int, c.c_char_p
OPEN = c.CFUNCTYPE(INT, POINTER, POINTER, POINTER, INT, POINTER)  # it keeps the name, so that is passed as it is
DELETE = c.CFUNCTYPE(INT, POINTER, TEXT, INT)
WRITE = c.CFUNCTYPE(INT, POINTER, POINTER, INT, c.c_int64)
TRUNCATE = c.CFUNCTYPE(INT, POINTER, c.c_int64)
SYNC = c.CFUNCTYPE(INT, POINTER, INT)
DIRECTORY = c.CFUNCTYPE(INT, TEXT, POINTER)
SET_CALL = c.CFUNCTYPE(INT, POINTER, TEXT, POINTER)
GET_CALL = c.CFUNCTYPE(POINTER, POINTER, TEXT)
OK, FULL, IOERR_WRITE, IOERR_FSYNC = 0, 13, 778, 1034


class Methods(c.Structure):
    """`sqlite3_io_methods`"""

    _fields_ = [
        ("version", INT),
        *((name, POINTER) for name in ("close", "read", "write", "truncate", "sync")),
        *((f"other{i}", POINTER) for i in range(13)),
    ]


class System(c.Structure):
    """`sqlite3_vfs`"""

    _fields_ = [
        ("version", INT),
        ("size", INT),
        ("longest", INT),
        ("next", POINTER),
        ("name", TEXT),
        ("data", POINTER),
        ("open", POINTER),
        ("delete", POINTER),
        *((f"other{i}", POINTER) for i in range(11)),
        ("set_call", POINTER),
        ("get_call", POINTER),
        ("next_call", POINTER),
    ]


def address(callback):
    return c.cast(callback, POINTER).value


class Recording:
    """What is done to files: (what, path, ...), in order.  `fail` maps the number of a write or sync to its result."""

    def __init__(self):
        self.log, self.paths, self.methods, self.keep = [], {}, {}, []
        self.calls, self.fail = 0, {}

    def note(self, *event):
        self.log.append(event)

    def _failing(self):
        self.calls += 1
        return self.fail.get(self.calls, OK)

    def _method(self, kind, original, do):
        call = kind(original)
        self.keep.append(kind(lambda file, *rest: do(call, file, *rest)))
        return address(self.keep[-1])

    def _write(self, call, file, data, size, at):
        if failed := self._failing():
            return IOERR_WRITE if failed == IOERR_FSYNC else failed
        if path := self.paths.get(file):
            self.note("write", path, at, c.string_at(data, size))
        return call(file, data, size, at)

    def _truncate(self, call, file, size):
        if path := self.paths.get(file):
            self.note("truncate", path, size)
        return call(file, size)

    def _sync(self, call, file, flags):
        if self._failing():
            return IOERR_FSYNC
        done = call(file, flags)
        if path := self.paths.get(file):
            self.note("sync", path)
        return done

    def _open(self, call, name, file, *rest):
        path = name and os.fsdecode(c.string_at(name))
        before = path and os.path.exists(path)
        done = call(name, file, *rest)
        if done == OK:
            if path and not before:
                self.note("create", path)
            self.paths[file] = path
            held = c.cast(file, c.POINTER(POINTER))
            held[0] = c.addressof(self._heard(held[0]))
        return done

    def _heard(self, methods):
        if methods not in self.methods:
            copy = Methods.from_buffer_copy(c.string_at(methods, c.sizeof(Methods)))
            copy.write = self._method(WRITE, copy.write, self._write)
            copy.truncate = self._method(TRUNCATE, copy.truncate, self._truncate)
            copy.sync = self._method(SYNC, copy.sync, self._sync)
            self.methods[methods] = copy
        return self.methods[methods]

    def _delete(self, call, original, name, sync):
        self.note("unlink", os.fsdecode(name))
        return call(original, name, sync)

    @contextlib.contextmanager
    def listening(self):
        """While this lasts, every connection that is opened is heard."""
        library = c.CDLL(getattr(_sqlite3, "__file__", None))
        try:
            find, register, unregister = (
                getattr(library, f"sqlite3_vfs_{x}") for x in ("find", "register", "unregister")
            )
        except AttributeError:
            pytest.skip("this Python does not show the SQLite that it uses")
        find.restype, find.argtypes = POINTER, [TEXT]
        register.argtypes, unregister.argtypes = [POINTER, INT], [POINTER]
        original = find(None)
        system = System.from_buffer_copy(c.string_at(original, c.sizeof(System)))
        opens, deletes = OPEN(system.open), DELETE(system.delete)
        mine = OPEN(lambda _, *rest: self._open(partial(opens, original), *rest))
        removal = DELETE(lambda _, *rest: self._delete(deletes, original, *rest))
        system.name, system.open, system.delete = b"heard", address(mine), address(removal)
        set_call, get_call = SET_CALL(system.set_call), GET_CALL(system.get_call)
        directory = DIRECTORY(get_call(original, b"openDirectory"))

        def synced(name, out):  # SQLite opens a directory only to sync it
            self.note("sync directory", os.path.dirname(os.fsdecode(name)))
            return directory(name, out)

        hook = DIRECTORY(synced)
        set_call(original, b"openDirectory", address(hook))
        register(c.byref(system), 1)
        try:
            yield self
        finally:
            unregister(c.byref(system))
            register(original, 1)
            set_call(original, b"openDirectory", None)
