"""How long a feed waits for a client that takes no frame."""

from __future__ import annotations

SEND_PATIENCE_S = 10.0
