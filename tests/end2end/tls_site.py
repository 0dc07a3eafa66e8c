"""Other people's hosts, played by one TLS server on loopback: browsers are told that it is them."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

Answer = str | Callable[[bytes], str]
"""What is answered at an address: always the same, or by the body that came."""


@dataclass
class TlsSite:
    """`answers` by `host/path` without the query. What is not there, or is `away`, gets a 503."""

    answers: dict[str, Answer]
    port: int = 0
    away: set[str] = field(default_factory=set)
    asked: list[tuple[str, bytes]] = field(default_factory=list)

    def flags(self, *hosts: str) -> tuple[str, ...]:
        """What makes Chromium come here for these hosts, and believe the certificate."""
        rules = ",".join(f"MAP {host} 127.0.0.1:{self.port}" for host in hosts)
        return f"--host-resolver-rules={rules}", "--ignore-certificate-errors"

    def bodies(self, address: str) -> list[bytes]:
        """The bodies that came to an address."""
        return [body for where, body in self.asked if where == address]

    def _answer(self, address: str, body: bytes) -> str | None:
        if body or address not in self.away:
            self.asked.append((address, body))
        answer = None if address in self.away else self.answers.get(address)
        return answer(body) if callable(answer) else answer


@contextmanager
def tls_site(folder: Path, answers: Mapping[str, Answer]) -> Iterator[TlsSite]:
    """The site, on a free port, until the end of the context."""
    site = TlsSite(dict(answers))
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(site))
    server.daemon_threads = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_certificate(folder))
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    site.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="tls-site")
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(site: TlsSite) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            path = self.path.partition("?")[0]
            content = site._answer(f"{self.headers.get('Host', '').partition(':')[0]}{path}", body)
            self.send_response(503 if content is None else 200)
            self.send_header("Content-Type", _kind(path))
            self.send_header("Content-Length", str(len((content or "").encode())))
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()
            self.wfile.write((content or "").encode())

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def _kind(path: str) -> str:
    if path.endswith(".js") or path == "/v3/":
        return "text/javascript"
    return "text/html" if path.endswith(".html") else "application/json"


def _certificate(folder: Path) -> Path:
    """A key and a certificate that it has signed itself, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "stand-in")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1)).sign(key, hashes.SHA256())
    )  # fmt: skip
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = folder / "stand-in.pem"
    path.write_bytes(secret + made.public_bytes(serialization.Encoding.PEM))
    return path
