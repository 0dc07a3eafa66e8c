"""A web server in a thread that says the same few things to everybody, and remembers what it was sent."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def small_site(answers: Mapping[str, str], sent: list[bytes]) -> Iterator[str]:
    """Serves `answers` by path on loopback; bodies that come are added to `sent`. Yields its base URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            sent.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            body = answers.get(self.path)
            content = (body or "").encode()
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", "text/javascript" if self.path.endswith(".js") else "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="small-site")
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
