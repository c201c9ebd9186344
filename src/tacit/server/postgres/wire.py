"""One connection as a stream of bytes: what arrives is awaited, and TLS is begun on request.

What is read is bounded: beyond `_AHEAD` bytes that nobody has asked for the client is not read from.  A client that
takes nothing of what is written to it is shown out.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import cast

_AHEAD = 1 << 17  # bytes that are kept before they are asked for
_SLOW = 60.0  # seconds for a client to take what is written to it


class Gone(Exception):
    """The client is gone."""


class Wire(asyncio.Protocol):
    """The bytes of one connection."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._arrived, self._buffer, self._needed = asyncio.Event(), bytearray(), 1
        self._drained = asyncio.Event()
        self._drained.set()
        self._lost, self._ended, self._paused = False, False, False
        self.transport: asyncio.Transport | None = None
        self.tls = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport; after a TLS handshake this is the encrypted one."""
        self.transport = cast(asyncio.Transport, transport)
        if (plain := transport.get_extra_info("socket")) is not None:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # a client that vanished is noticed

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if len(self._buffer) >= self._needed:
            self._arrived.set()
        if len(self._buffer) > max(_AHEAD, self._needed) and not self._paused and self.transport is not None:
            self.transport.pause_reading()
            self._paused = True

    def eof_received(self) -> bool:
        """Answer what was sent, and then leave, as the client will send no more."""
        self._ended = True
        self._arrived.set()
        return not self.tls

    def connection_lost(self, exc: Exception | None) -> None:
        """Wake up whoever waits."""
        self._lost = self._ended = True
        self._arrived.set()
        self._drained.set()

    def pause_writing(self) -> None:
        self._drained.clear()

    def resume_writing(self) -> None:
        self._drained.set()

    @property
    def address(self) -> str:
        """Where the client is."""
        peer = None if self.transport is None else self.transport.get_extra_info("peername")
        return str(peer[0]) if peer else "unknown"

    async def read(self, count: int) -> bytes:
        """The next so many bytes."""
        self._needed = count
        while len(self._buffer) < count:
            if self._ended:
                raise Gone
            self._arrived.clear()
            if self._paused and self.transport is not None:
                self.transport.resume_reading()
                self._paused = False
            await self._arrived.wait()
        found = bytes(self._buffer[:count])
        del self._buffer[:count]
        self._needed = 1
        if self._paused and len(self._buffer) <= _AHEAD and self.transport is not None:
            self.transport.resume_reading()
            self._paused = False
        return found

    def write(self, data: bytes) -> None:
        """Send bytes, in the order in which they are written."""
        if self._lost or self.transport is None:
            raise Gone
        self.transport.write(data)

    async def drain(self) -> None:
        """Wait until most of what was written is taken."""
        try:
            async with asyncio.timeout(_SLOW):
                await self._drained.wait()
        except TimeoutError:
            self.abort()
            raise Gone from None
        if self._lost:
            raise Gone

    async def start_tls(self, context: ssl.SSLContext) -> None:
        """Agree to TLS, and begin it; what was sent ahead of the handshake was not encrypted, and nobody reads it."""
        if self._buffer or self.transport is None:
            raise Gone
        self.transport.write(b"S")
        try:
            encrypted = await self._loop.start_tls(self.transport, self, context, server_side=True)
        except (OSError, ssl.SSLError):
            raise Gone from None
        if encrypted is None:
            raise Gone
        self.transport, self.tls = encrypted, True

    def close(self) -> None:
        """End the connection once what was written is sent."""
        if self.transport is not None and not self.transport.is_closing():
            self.transport.close()

    def abort(self) -> None:
        """End the connection now."""
        if self.transport is not None:
            self.transport.abort()
