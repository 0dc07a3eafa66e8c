"""The server's settings and who may connect, as the text of its three configuration files."""

from __future__ import annotations

from collections.abc import Mapping

SUPERUSER = "taquilla"
IDENT_MAP = "taquilla"

# Meant for one machine that also runs the API, the workers and a console. Lock waits are logged after 200 ms,
# which is also when a deadlock is looked for: a seat lock is held for a millisecond or two.
BASE_SETTINGS: Mapping[str, str] = {
    "max_connections": "120",
    "shared_buffers": "128MB",
    "work_mem": "8MB",
    "maintenance_work_mem": "64MB",
    "max_wal_size": "1GB",
    "shared_preload_libraries": "pg_stat_statements",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] %a: ",
    "log_checkpoints": "off",
    "log_lock_waits": "on",
    "deadlock_timeout": "200ms",
    "track_io_timing": "on",
}

# For throw-away clusters alone: nothing survives a power cut, and nothing has to.
THROWAWAY_SETTINGS: Mapping[str, str] = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "64MB",
    "autovacuum_naptime": "10min",
}


def settings_text(*groups: Mapping[str, str]) -> str:
    """postgresql.conf out of groups of settings, the later ones winning."""
    merged: dict[str, str] = {}
    for group in groups:
        merged.update(group)
    lines = [f"{name} = {_quoted(value)}" for name, value in merged.items()]
    return "\n".join(["# Written anew at each start.", *lines, ""])


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


def peer_access_text() -> str:
    """pg_hba.conf where the kernel says who is at the other end of the socket."""
    return f"local all all peer map={IDENT_MAP}\n"


def password_access_text() -> str:
    """pg_hba.conf where there is no peer: a password, over loopback only."""
    return "host all all 127.0.0.1/32 scram-sha-256\n"


def ident_text(own_name: str) -> str:
    """pg_ident.conf: our own operating-system user may be any role of this private cluster."""
    name = own_name.replace('"', '""')
    return f'{IDENT_MAP} "{name}" all\n'
