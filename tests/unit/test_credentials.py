"""The keyring, or none: told, usable for this session, never a plain file (D9)."""

from __future__ import annotations

import asyncio
import threading
import time

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail, null
from keyring.backends.chainer import ChainerBackend
from keyring.errors import InitError, KeyringLocked, PasswordDeleteError

from app.core.session import CredentialStorage
from app.journal.credentials import CredentialVault, KeptCredential

CREDENTIAL = KeptCredential("carla", "refresh-secret")


class MemoryKeyring(KeyringBackend):
    """Works."""

    priority = 1

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def delete_password(self, service: str, username: str) -> None:
        if self.kept.pop((service, username), None) is None:
            raise PasswordDeleteError("nothing kept")


class SystemKeyring(MemoryKeyring):
    """Looks like the desktop's own store."""


SystemKeyring.__module__ = "keyring.backends.SecretService"


class BrokenKeyring(MemoryKeyring):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def set_password(self, service: str, username: str, password: str) -> None:
        raise self.error

    def get_password(self, service: str, username: str) -> str | None:
        raise self.error


class PromptingKeyring(MemoryKeyring):
    """Waits for a prompt that nobody sees."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0
        self.release = threading.Event()

    def get_password(self, service: str, username: str) -> str | None:
        self.asked += 1
        self.release.wait(10)
        return None

    def set_password(self, service: str, username: str, password: str) -> None:
        self.asked += 1
        self.release.wait(10)


async def test_working_keyring_keeps_and_forgets() -> None:
    backend = MemoryKeyring()
    vault = CredentialVault("http://host device", backend=backend)
    assert await vault.save(CREDENTIAL) is CredentialStorage.KEYRING
    assert await vault.load() == CREDENTIAL
    assert await CredentialVault("another device", backend=backend).load() is None
    await vault.forget()
    await vault.forget()
    assert await vault.load() is None
    assert vault.storage is CredentialStorage.KEYRING


async def test_no_backend_means_this_session_only_and_says_so() -> None:
    vault = CredentialVault("a")  # the test run sets the `fail` backend
    assert isinstance(keyring.get_keyring(), fail.Keyring)
    assert await vault.save(CREDENTIAL) is CredentialStorage.NO_KEYRING
    assert vault.storage.session_only
    assert await vault.load() is None


@pytest.mark.parametrize(
    ("error", "storage"),
    [
        (KeyringLocked("locked"), CredentialStorage.KEYRING_LOCKED),
        (InitError("no daemon"), CredentialStorage.NO_KEYRING),
        (RuntimeError("no D-Bus"), CredentialStorage.NO_KEYRING),
        (EOFError("a prompt on a terminal that is none"), CredentialStorage.NO_KEYRING),
    ],
)
async def test_keyring_that_fails_says_how(error: Exception, storage: CredentialStorage) -> None:
    vault = CredentialVault("a", backend=BrokenKeyring(error))
    assert await vault.save(CREDENTIAL) is storage
    assert await vault.load() is None


async def test_silent_keyring_is_given_up_and_not_asked_again() -> None:
    backend = PromptingKeyring()
    vault = CredentialVault("a", backend=backend, timeout_s=0.05)
    begun = time.monotonic()
    assert await vault.save(CREDENTIAL) is CredentialStorage.KEYRING_SILENT
    assert await vault.load() is None
    assert time.monotonic() - begun < 2.0
    assert backend.asked == 1
    backend.release.set()


class UntrustedChain(ChainerBackend):
    """Offers a plain-text file first, as some set-ups do."""

    members: tuple[KeyringBackend, ...] = ()

    @property
    def backends(self) -> list[KeyringBackend]:
        return list(self.members)


async def test_chain_is_looked_through_for_the_systems_own_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chainer may pick a plain file or prompt on a terminal: only the system's store in it is used."""
    plain, system = MemoryKeyring(), SystemKeyring()
    chain = UntrustedChain()  # type: ignore[no-untyped-call]
    monkeypatch.setattr(UntrustedChain, "members", (plain, system))
    monkeypatch.setattr(keyring, "get_keyring", lambda: chain)
    vault = CredentialVault("a")
    assert await vault.save(CREDENTIAL) is CredentialStorage.KEYRING
    assert plain.kept == {}
    assert len(system.kept) == 1


@pytest.mark.parametrize("backend", [MemoryKeyring(), null.Keyring()])  # type: ignore[no-untyped-call]
async def test_store_that_is_not_the_systems_is_not_trusted(
    backend: KeyringBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyring, "get_keyring", lambda: backend)
    vault = CredentialVault("a")
    assert await vault.save(CREDENTIAL) is CredentialStorage.NO_KEYRING
    assert getattr(backend, "kept", {}) == {}


async def test_broken_entry_counts_as_none() -> None:
    backend = MemoryKeyring()
    backend.set_password("taquilla", "a", "not json")
    assert await CredentialVault("a", backend=backend).load() is None


def test_token_does_not_show_in_a_repr() -> None:
    assert "refresh-secret" not in repr(CREDENTIAL)


async def test_renewed_tokens_are_kept_in_their_order() -> None:
    """Two refreshes shortly after one another: the last one's token is the one that works."""

    class FirstIsSlow(MemoryKeyring):
        def set_password(self, service: str, username: str, password: str) -> None:
            if "one" in password:
                time.sleep(0.02)
            super().set_password(service, username, password)

    vault = CredentialVault("a", backend=FirstIsSlow())
    await asyncio.gather(vault.save(KeptCredential("carla", "one")), vault.save(KeptCredential("carla", "two")))
    kept = await vault.load()
    assert kept is not None
    assert kept.refresh_token == "two"
