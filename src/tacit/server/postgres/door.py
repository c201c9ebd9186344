"""The PostgreSQL door: accepts connections, finds out who they are, and lets them ask.

    TLS        begun on request, if the service has a certificate
    password   a token, sent as it is: the store has its hash alone, of which no challenge can be made.  So it is asked
               for over TLS, on this machine, or where `service.plain` says that something else encrypts
    database   the name of a data set
    user       the name of the person whom the token was issued to

A request to cancel may reach another process than the one that is asked; it is handed on by a socket in the folder of
the shadow, which is named for the process.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from ...core.randomness import SYSTEM
from ...ledger.names import skeleton
from .. import log
from ..access import Action
from ..config import Settings, loopback
from ..errors import NotFound, Unauthenticated
from ..http.door import Door as HttpDoor
from . import codec, errors
from .codec import ProtocolError
from .connection import Connection
from .desk import Desk, Who
from .errors import SqlError
from .session import Session
from .shadow import Cluster, Shadow
from .visit import Visit
from .wire import Gone, Wire

CONNECTIONS = 1000  # open at a time in one process
START_SECONDS = 10.0  # until a connection has said who it is
_LONGEST_START, _LONGEST_PASSWORD = 8192, 1024  # bytes
_MOST_REQUESTS = 4  # for encryption, before the session is asked for
_KEY = struct.Struct("!ii")
_FIXED = {"server_encoding": "UTF8", "integer_datetimes": "on", "is_superuser": "off", "IntervalStyle": "postgres"}
_FIXED |= {"in_hot_standby": "off", "default_transaction_read_only": "on"}
_WRONG = "The user and the token do not belong together, or the token is not valid."
_NO_SET = "There is no such data set, or you may not see it."
_TLS = "A token must not be read on the way."


class Door:
    """All connections of one process."""

    def __init__(self, door: HttpDoor, settings: Settings, cluster: Cluster) -> None:
        self._door, self._settings, self._cluster = door, settings, cluster
        self._shadow = Shadow(cluster)
        self._desk = Desk(door.service, self._shadow)
        self._context = _context(settings)
        self._open: dict[int, Visit] = {}  # by the secrets of their keys
        self._tasks: set[asyncio.Task[None]] = set()
        self._count = 0

    @asynccontextmanager
    async def listening(self, at: socket.socket) -> AsyncIterator[None]:
        """Accept connections at a socket within the block."""
        loop = asyncio.get_running_loop()
        handed_on = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        handed_on.bind(self._place(os.getpid()))
        loop.add_reader(handed_on, self._handed_on, handed_on)
        server = await loop.create_server(self._accepted, sock=at)
        try:
            yield
        finally:
            server.close()
            loop.remove_reader(handed_on)
            handed_on.close()
            for task in list(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await asyncio.to_thread(self._shadow.close)

    def _accepted(self) -> Wire:
        wire = Wire()
        task = asyncio.get_running_loop().create_task(self._serve(wire))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return wire

    async def _serve(self, wire: Wire) -> None:
        secret = None
        self._count += 1
        try:
            async with asyncio.timeout(START_SECONDS):
                visit, session = await self._begun(wire)
                secret = self._keyed(visit)
                wire.write(self._welcome(session, visit, secret))
            await Connection(wire, visit, session, self._door.caps.body).serve()
        except SqlError as error:
            self._last_words(wire, error)
        except ProtocolError as error:
            self._last_words(wire, SqlError("08P01", f"This is not PostgreSQL's protocol: {error}."))
        except asyncio.CancelledError:
            self._last_words(wire, SqlError("57P01", "The service ends."))
            raise
        except (Gone, TimeoutError):
            pass
        except Exception as error:
            log.event("mistake", route="postgres", kind=type(error).__name__)
        finally:
            self._count -= 1
            if secret is not None:
                visit.cancel()
                del self._open[secret]
            wire.close()

    def _last_words(self, wire: Wire, error: SqlError) -> None:
        with suppress(Gone):
            wire.write(errors.encoded(error, "FATAL"))

    async def _begun(self, wire: Wire) -> tuple[Visit, Session]:
        """Who asks, and the session that they ask for."""
        asked = await self._start(wire)
        if self._count > CONNECTIONS:
            raise SqlError("53300", "The service has too many connections. Connect again later.")
        if not (wire.tls or loopback(wire.address) or self._settings.service.plain):
            raise SqlError("28000", _TLS, "Connect with sslmode=require.")
        parameters = asked.parameters
        if parameters.get("replication", "false") not in ("false", "off", "no", "0"):
            raise SqlError("0A000", "There is nothing to replicate here.")
        unknown = [name for name in parameters if name.startswith("_pq_.")]
        if asked.code != codec.VERSION or unknown:
            wire.write(codec.newest_version(unknown))
        user = parameters.get("user", "")
        visit = Visit(self._door, self._desk, wire.address)
        wire.write(codec.CLEARTEXT_PASSWORD)
        who = Who(await self._password(wire), parameters.get("database") or user)
        visit.person, visit.tables = await visit.work("login", lambda: self._known(who, user))
        visit.who = who
        return visit, Session(parameters)

    async def _start(self, wire: Wire) -> codec.Startup:
        for _ in range(_MOST_REQUESTS):
            length = int.from_bytes(await wire.read(4), "big") - 4
            if not 4 <= length <= _LONGEST_START:
                raise Gone  # of which nothing is understood
            asked = codec.startup(await wire.read(length))
            match asked.code:
                case codec.CANCEL if asked.key is not None:
                    self.cancel(*asked.key)
                    raise Gone
                case codec.TLS if self._context is not None and not wire.tls:
                    await wire.start_tls(self._context)
                case codec.TLS | codec.GSS:
                    wire.write(b"N")
                case code if code >> 16 == codec.VERSION >> 16:
                    return asked
                case _:
                    raise SqlError("0A000", "Only version 3 of the protocol is spoken here.")
        raise ProtocolError("no session was asked for")

    async def _password(self, wire: Wire) -> str:
        if await wire.read(1) != b"p":
            raise ProtocolError("a password was expected")
        length = int.from_bytes(await wire.read(4), "big") - 4
        if not 0 <= length <= _LONGEST_PASSWORD:
            raise ProtocolError("a password may not be that long")
        return codec.text(await wire.read(length))

    def _known(self, who: Who, user: str) -> tuple[str, frozenset[str]]:
        """The name of who asks, and the tables of the data set; on a thread."""
        login = self._desk.service.authenticate(who.token)
        if login is None or skeleton(login.person.name) != skeleton(user[:200]):
            raise SqlError("28P01", _WRONG, "Give your name as the user, and the token as the password.")
        try:
            access = self._desk.access(who, Action.SCHEMA)
        except (NotFound, Unauthenticated):
            raise SqlError("3D000", _NO_SET, "Give the name of a data set as the database.") from None
        return login.person.name, self._desk.layout(access).names

    def _keyed(self, visit: Visit) -> int:
        """The secret by which what a connection has under way can be cancelled."""
        while (secret := int(SYSTEM.words(1)[0]) & 0x7FFFFFFF) in self._open:
            pass
        self._open[secret] = visit
        return secret

    def _welcome(self, session: Session, visit: Visit, secret: int) -> bytes:
        facts = {"server_version": self._cluster.version, **_FIXED, "session_authorization": visit.person}
        told = [codec.parameter(name, value) for name, value in (*facts.items(), *session.reported)]
        return b"".join([codec.AUTHENTICATED, *told, codec.key(os.getpid(), secret), codec.ready(session.state)])

    def cancel(self, process: int, secret: int) -> None:
        """Cancel what a connection has under way, be it another process's."""
        if process == os.getpid():
            if secret in self._open:
                self._open[secret].cancel()
            return
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            sender.sendto(_KEY.pack(process, secret), self._place(process))

    def _handed_on(self, at: socket.socket) -> None:
        """Take a request to cancel that another process handed on."""
        with suppress(OSError, struct.error):
            process, secret = _KEY.unpack(at.recv(_KEY.size))
            if process == os.getpid():
                self.cancel(process, secret)

    def _place(self, process: int) -> str:
        return str(self._cluster.folder / f"cancel.{process}")


def _context(settings: Settings) -> ssl.SSLContext | None:
    certificate, key = settings.service.certificate, settings.service.private_key
    if certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context
