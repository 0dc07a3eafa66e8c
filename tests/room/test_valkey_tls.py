"""A Valkey over TLS: known by its certificate, and knowing the room by its own. The wheel's server speaks no TLS, so a
door of TLS stands before it, as with many managed ones."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from booking.embedded.valkey import Valkey
from booking.room.event_room import RoomFacts
from booking.room.settings import Settings
from booking.room.store import Batch, StoreFailedError
from tests.room.stores import new_place, opened


def certificate(folder: Path, name: str, address: str) -> tuple[Path, Path]:
    """A certificate that has signed itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))]), critical=False)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    public, secret = folder / f"{name}.pem", folder / f"{name}.key"
    public.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return public, secret


@asynccontextmanager
async def tls_door(server: Valkey, own: tuple[Path, Path], clients: Path) -> AsyncIterator[int]:
    """Its port: what comes in over TLS goes on to the server's socket."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(clients))
    context.load_cert_chain(*own)
    context.verify_mode = ssl.CERT_REQUIRED

    async def link(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_unix_connection(str(server.socket))
        ways = ((reader, inner_writer), (inner_reader, writer))
        await asyncio.gather(*(_copy(*way) for way in ways), return_exceptions=True)

    listener = await asyncio.start_server(link, "127.0.0.1", 0, ssl=context)
    try:
        yield listener.sockets[0].getsockname()[1]
    finally:
        listener.close()
        await listener.wait_closed()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()


async def test_both_sides_are_known_by_their_certificates(valkey: Valkey, tmp_path: Path) -> None:
    ours, theirs = certificate(tmp_path, "room", "127.0.0.1"), certificate(tmp_path, "server", "127.0.0.1")
    stranger = certificate(tmp_path, "stranger", "127.0.0.1")
    prefix = new_place(valkey).prefix
    async with tls_door(valkey, theirs, clients=ours[0]) as port:
        known = f"valkeys://127.0.0.1:{port}/0?prefix={prefix}"
        mine = f"&certificate={ours[0]}&key={ours[1]}"
        store = await opened(f"{known}&ca={theirs[0]}{mine}")
        await store.write(Batch(RoomFacts(7, 1.0, b"seed", Settings())))
        assert len((await store.load()).rooms) == 1
        await store.close()
        for text in (
            f"{known}{mine}",  # the system knows no such authority
            f"{known}&ca={stranger[0]}{mine}",
            f"{known}&ca={theirs[0]}",  # nobody knows us
            f"{known}&ca={theirs[0]}&certificate={stranger[0]}&key={stranger[1]}",
        ):
            with pytest.raises(StoreFailedError, match="no answer"):
                await opened(text, patience_s=0.1)


async def test_another_host_s_certificate_is_refused(valkey: Valkey, tmp_path: Path) -> None:
    ours, theirs = certificate(tmp_path, "room", "127.0.0.1"), certificate(tmp_path, "server", "192.0.2.1")
    async with tls_door(valkey, theirs, clients=ours[0]) as port:
        with pytest.raises(StoreFailedError, match="certificate"):
            await opened(
                f"valkeys://127.0.0.1:{port}?ca={theirs[0]}&certificate={ours[0]}&key={ours[1]}", patience_s=0.1
            )
