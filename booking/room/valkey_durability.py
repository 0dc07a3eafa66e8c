"""Whether a Valkey keeps what it has acknowledged, and how to wait for that; a server that may forget is refused.

`WAITAOF` (Valkey, Redis 7.2) answers once a write is synced to disk, also with `appendfsync everysec`. A server without
it must sync by itself before it answers: `appendfsync always`.
Source: valkey.io/commands/waitaof, valkey.io/topics/persistence, valkey.io/topics/lru-cache.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from booking.room.store import StoreFailedError
from booking.room.valkey_link import Command, LinkLostError, ValkeyLink, facts_of_info

SYNCED_WITHIN_MS: Final = 5000
_SETTINGS = ("appendonly", "appendfsync", "no-appendfsync-on-rewrite", "maxmemory-policy")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Wait:
    """What is asked after each write, and what its answer must say."""

    command: Command | None = None
    local: int = 0
    replicas: int = 0

    def check(self, answer: Any) -> None:  # noqa: ANN401 - two numbers, or one
        """Whether the write is where it must be.

        Raises:
            LinkLostError: not yet; asking again may help.
        """
        local, replicas = answer if isinstance(answer, list) else (self.local, answer)
        if local < self.local:
            raise LinkLostError(f"the write is not synced to disk after {SYNCED_WITHIN_MS / 1000:.0f} s")
        if replicas < self.replicas:
            raise LinkLostError(f"{replicas} of {self.replicas} replicas have the write")


async def waits_for(link: ValkeyLink, replicas: int, *, accept_loss: bool) -> Wait:
    """How to wait on this server until a write is durable.

    Raises:
        StoreFailedError: it may forget, naming each setting that says so; not with `accept_loss`.
        LinkLostError: the server is away.
    """
    (raw,) = await link.ask(("INFO",))
    info = facts_of_info(raw)
    settings = await _settings(link, info)
    has_waitaof = await link.optional("WAITAOF", 0, 0, 0) is not None
    faults = list(_faults(info, settings, has_waitaof=has_waitaof))
    if faults and not accept_loss:
        raise StoreFailedError(f"this server may forget what it was told: {'; '.join(faults)}")
    for fault in faults:
        log.warning("the store may lose what people were told, which was accepted: %s", fault)
    syncs = has_waitaof and settings["appendonly"] == "yes" and settings.get("appendfsync") != "no"
    if syncs:
        return Wait(("WAITAOF", 1, replicas, SYNCED_WITHIN_MS), 1, replicas)
    return Wait(("WAIT", replicas, SYNCED_WITHIN_MS), 0, replicas) if replicas else Wait()


async def _settings(link: ValkeyLink, info: Mapping[str, str]) -> dict[str, str]:
    """What INFO tells is told by every server; the rest by those that let us read their configuration."""
    told: dict[str, str] = {}
    for name in _SETTINGS:
        answer = await link.optional("CONFIG", "GET", name)
        if answer:
            told[name] = answer[1].decode()
    told["appendonly"] = "yes" if info.get("aof_enabled") == "1" else "no"
    return {"maxmemory-policy": info.get("maxmemory_policy", ""), **told}


def _faults(info: Mapping[str, str], settings: Mapping[str, str], *, has_waitaof: bool) -> Iterator[str]:
    if settings["appendonly"] != "yes":
        yield "appendonly is no (set it to yes)"
        return
    if info.get("aof_last_write_status", "ok") != "ok":
        yield "aof_last_write_status is err (its disk is full or broken)"
    if settings["maxmemory-policy"].startswith("allkeys"):
        yield f"maxmemory-policy is {settings['maxmemory-policy']} (set it to noeviction)"
    if settings.get("no-appendfsync-on-rewrite") == "yes":
        yield "no-appendfsync-on-rewrite is yes (set it to no)"
    syncs = settings.get("appendfsync")
    if syncs == "no":
        yield "appendfsync is no (set it to always, or everysec)"
    elif syncs is None and not has_waitaof:
        yield "appendfsync cannot be read (allow CONFIG GET)"
    elif syncs != "always" and not has_waitaof:
        version = info.get("valkey_version") or info.get("redis_version", "")
        yield f"appendfsync is {syncs} (set it to always: version {version} has no WAITAOF)"
