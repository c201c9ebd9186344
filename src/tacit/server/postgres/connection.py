"""One connection: who asks, and then statements, by the simple and by the extended protocol.

    simple     Q                 a text of statements; each is run, and its rows follow
    extended   P B D E C H S     prepare, give parameters, describe, run, close, flush, and synchronise: after an error
                                 messages are skipped until then

The state of the protocol is this object's alone, and so are prepared statements and portals; what is run is the
desk's, on a thread.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import codec, copying, errors
from .codec import Field, ProtocolError
from .errors import SqlError
from .results import Bound, Result
from .session import Session
from .statements import Statement, split
from .wire import Wire

if TYPE_CHECKING:
    from .visit import Visit

MESSAGE_SECONDS = 10.0  # for a message that has begun to arrive
_MOST_NAMES, _MOST_CHARACTERS = 1000, 1 << 20  # of prepared statements, and of their texts together
_MOST_PORTALS = 8
_LONG = 2000  # characters of a text that is divided on a thread
_FLUSHED = 1 << 16  # bytes that are sent before a client asks for them
_EXTENDED = "PBDECHS"
_IGNORED = "dcf"  # data of a copy that nobody waits for
_SESSION = {"set", "reset", "begin", "commit", "rollback", "savepoint", "release", "discard", "deallocate"}
_SESSION |= {"unlisten", "close"}


@dataclass
class Prepared:
    """A statement that was prepared; None is an empty one."""

    statement: Statement | None
    size: int
    given: tuple[int, ...]
    described: tuple[tuple[int, ...], tuple[Field, ...]] | None = None


@dataclass
class Portal:
    """A prepared statement with its parameters, and as much of its result as was not sent yet."""

    prepared: Prepared
    bound: Bound
    result: Result | None = None
    sent: int = field(default=0)


class Connection:
    """The messages of one connection, once it is known who asks."""

    def __init__(self, wire: Wire, visit: Visit, session: Session, longest: int) -> None:
        self.wire, self.visit, self.session, self._longest = wire, visit, session, longest
        self._prepared: dict[str, Prepared] = {}
        self._portals: dict[str, Portal] = {}
        self._out, self._skipping = bytearray(), False

    async def serve(self) -> None:
        """Answer messages until the client leaves."""
        while True:
            kind, body = await self._message()
            if kind == "X":
                return
            if kind == "Q":
                self._skipping = False
                await self._simple(codec.text(body))
            elif kind in _EXTENDED:
                await self._extended(kind, body)
            elif kind not in _IGNORED:
                raise ProtocolError(f"a message of type {kind!r} is not expected")

    async def _message(self) -> tuple[str, bytes]:
        first = await self.wire.read(1)
        try:
            async with asyncio.timeout(MESSAGE_SECONDS):
                length = int.from_bytes(await self.wire.read(4), "big") - 4
                if not 0 <= length <= self._longest:
                    raise ProtocolError(f"a message may have at most {self._longest} bytes")
                return chr(first[0]), await self.wire.read(length)
        except TimeoutError:
            raise ProtocolError("a message did not arrive in time") from None

    async def _send(self, *messages: bytes, flush: bool = False) -> None:
        for message in messages:
            self._out += message
        if flush or len(self._out) > _FLUSHED:
            self.wire.write(bytes(self._out))
            self._out.clear()
            await self.wire.drain()

    async def _fail(self, error: SqlError) -> None:
        self.session.fail()
        await self._send(errors.encoded(error))

    # The simple protocol.

    async def _simple(self, text: str) -> None:
        self._portals.pop("", None)
        try:
            statements = await self._split(text)
            for statement in statements:
                result = await self._run(statement, Bound())
                await self._send(*map(errors.notice, result.notices))
                if statement.copied:
                    await self._copy(result, statement.copied)
                elif result.fields:
                    await self._send(codec.row_description(result.fields, (0,) * len(result.fields)))
                    await self._rows(result, 0, len(result.rows))
                await self._send(codec.complete(_tag(statement, result)))
            if not statements:
                await self._send(codec.EMPTY)
        except SqlError as error:
            await self._fail(error)
        await self._send(codec.ready(self.session.state), flush=True)

    async def _rows(self, result: Result, first: int, last: int) -> None:
        for at in range(first, last, 1000):
            await self._send(codec.rows(result.rows[at : min(at + 1000, last)]))

    async def _copy(self, result: Result, form: str) -> None:
        await self._send(codec.copy_out(len(result.fields), int(form == "binary")))
        for message in copying.copied(result.rows, form):
            await self._send(message)
        await self._send(codec.COPY_DONE)

    # The extended protocol.

    async def _extended(self, kind: str, body: bytes) -> None:
        if kind == "S":
            self._skipping = False
            if self.session.state == b"I":
                self._portals.clear()
            await self._send(codec.ready(self.session.state), flush=True)
            return
        if kind == "H":
            await self._send(flush=True)
            return
        if self._skipping:
            return
        try:
            match kind:
                case "P":
                    await self._parse(codec.parse(body))
                case "B":
                    await self._bind(codec.bind(body))
                case "D":
                    await self._describe(codec.named(body))
                case "E":
                    await self._execute(codec.execute(body))
                case "C":
                    await self._close(codec.named(body))
        except SqlError as error:
            self._skipping = True
            await self._fail(error)

    async def _parse(self, asked: codec.Parse) -> None:
        if asked.name and asked.name in self._prepared:
            raise SqlError("42P05", "A statement of this name is prepared already.")
        statements = await self._split(asked.sql)
        if len(statements) > 1:
            raise SqlError("42601", "A prepared statement is a single one.")
        statement = statements[0] if statements else None
        self._prepared.pop(asked.name, None)
        kept = sum(each.size for each in self._prepared.values()) + len(asked.sql)
        if len(self._prepared) >= _MOST_NAMES or kept > _MOST_CHARACTERS:
            raise SqlError("54000", "Too many statements are prepared.", "Close some of them, or connect again.")
        self._prepared[asked.name] = Prepared(statement, len(asked.sql), asked.types)
        await self._send(codec.PARSED)

    async def _bind(self, asked: codec.Bind) -> None:
        prepared = self._statement(asked.statement)
        types = prepared.given if prepared.described is None else prepared.described[0]
        bound = Bound(asked.values, types, codec.spread(asked.formats, len(asked.values)), asked.results)
        if prepared.described is not None and len(types) != len(asked.values):
            raise SqlError("08P01", f"The statement has {len(types)} parameters, and {len(asked.values)} were given.")
        if asked.portal and asked.portal in self._portals:
            raise SqlError("42P03", "A portal of this name is open already.")
        if len(self._portals) >= _MOST_PORTALS:
            raise SqlError("54000", "Too many portals are open.", "Close some of them.")
        self._portals[asked.portal] = Portal(prepared, bound)
        await self._send(codec.BOUND)

    async def _describe(self, asked: codec.Named) -> None:
        formats: tuple[int, ...] = ()
        if asked.kind == "S":
            prepared = self._statement(asked.name)
        else:
            portal = self._portal(asked.name)
            prepared, formats = portal.prepared, portal.bound.results
        if prepared.described is None and (statement := prepared.statement) is not None:
            self.session.enter(statement.kind)
            who, desk = self.visit.who, self.visit.desk
            prepared.described = await self.visit.work(
                "describe", lambda: desk.describe(who, statement, prepared.given, self.session), self.session
            )
        types, fields = prepared.described or ((), ())
        shown = codec.row_description(fields, codec.spread(formats, len(fields))) if fields else codec.NO_DATA
        await self._send(codec.parameter_types(types) if asked.kind == "S" else b"", shown)

    async def _execute(self, asked: codec.Execute) -> None:
        portal = self._portal(asked.portal)
        statement = portal.prepared.statement
        if statement is None:
            await self._send(codec.EMPTY)
            return
        if portal.result is None:
            portal.result = await self._run(statement, portal.bound)
            await self._send(*map(errors.notice, portal.result.notices))
        result, count = portal.result, len(portal.result.rows)
        if statement.copied:
            await self._copy(result, statement.copied)
        elif result.fields:
            last = count if asked.most <= 0 else min(count, portal.sent + asked.most)
            await self._rows(result, portal.sent, last)
            portal.sent = last
            if asked.most > 0 and last < count:
                await self._send(codec.SUSPENDED)
                return
        portal.result, portal.sent = Result(result.tag, result.fields), 0  # what was sent is let go of
        await self._send(codec.complete(_tag(statement, result)))

    async def _close(self, asked: codec.Named) -> None:
        names: dict[str, Prepared] | dict[str, Portal] = self._prepared if asked.kind == "S" else self._portals
        names.pop(asked.name, None)
        await self._send(codec.CLOSED)

    def _statement(self, name: str) -> Prepared:
        if name not in self._prepared:
            raise SqlError("26000", "There is no prepared statement of this name.")
        return self._prepared[name]

    def _portal(self, name: str) -> Portal:
        if name not in self._portals:
            raise SqlError("34000", "There is no portal of this name.")
        return self._portals[name]

    # What both do.

    async def _split(self, text: str) -> list[Statement]:
        tables, longest = self.visit.tables, self.visit.longest
        if len(text) > longest:
            raise SqlError("54000", f"A statement may have at most {longest} characters.")
        if len(text) <= _LONG:
            return split(text, tables)
        return await self.visit.work("read", lambda: split(text, tables), self.session)

    async def _run(self, statement: Statement, bound: Bound) -> Result:
        session, desk, who = self.session, self.visit.desk, self.visit.who
        session.enter(statement.kind)
        if statement.kind in _SESSION:
            result = self._housekeeping(statement)
            await self._send(*(codec.parameter(name, value) for name, value in result.reported))
            return result
        route = "explain" if statement.explained else statement.kind
        return await self.visit.work(route, lambda: desk.run(who, statement, bound, session), session)

    def _housekeeping(self, statement: Statement) -> Result:
        """What changes nothing but this connection."""
        session, text, kind = self.session, statement.text, statement.kind
        match kind:
            case "set":
                changed = session.run_set(text)
                return Result("SET", reported=() if changed is None else (changed,))
            case "reset":
                return Result("RESET", reported=tuple(session.run_reset(text)))
            case "discard":
                what = text.split()[-1].upper()
                if what != "ALL":  # plans and temporary tables, of which there are none
                    return Result(f"DISCARD {what}"[:40])
                self._prepared.clear()
                return Result("DISCARD ALL", reported=tuple(session.reset_all()))
            case "deallocate":
                name = text.split()[-1].strip('"')
                if name.lower() == "all":
                    self._prepared.clear()
                elif self._prepared.pop(name, None) is None:
                    raise SqlError("26000", "There is no prepared statement of this name.")
                return Result("DEALLOCATE")
            case "unlisten" | "close":
                return Result("UNLISTEN" if kind == "unlisten" else "CLOSE CURSOR ALL")
        return Result(session.transaction(kind, text))


def _tag(statement: Statement, result: Result) -> str:
    """What a client is told that was done."""
    if statement.copied:
        return f"COPY {len(result.rows)}"
    return "EXPLAIN" if statement.explained else result.tag
