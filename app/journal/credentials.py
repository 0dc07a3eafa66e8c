"""The refresh token in the system keyring; without a usable one it lives for this session only, as is said (D9, R35).

Only stores that a system vendor keeps are used. A chainer is looked through, never asked as a whole: it may pick a file
in plain text or prompt on a terminal. Each call runs on a thread of its own with a time-out, because a locked store may
wait for a prompt that nobody sees; one that was silent once is not asked again. Tokens are never logged.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

import keyring
from keyring.backend import KeyringBackend
from keyring.backends import chainer
from keyring.errors import KeyringLocked, NoKeyringError, PasswordDeleteError

from app.core.session import CredentialStorage

SERVICE: Final = "taquilla"
TIMEOUT_S: Final = 3.0
_TRUSTED: Final = tuple(
    f"keyring.backends.{name}" for name in ("SecretService", "kwallet", "macOS", "Windows", "libsecret")
)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class KeptCredential:
    """Who was signed in, and the refresh token that opens the next session."""

    name: str
    refresh_token: str

    def __repr__(self) -> str:
        return f"KeptCredential(name={self.name!r})"


class CredentialVault:
    """`account` names the server and the device, so that several consoles of one person do not mix.

    `backend` None finds the system's; one that is given is used as it is.
    `storage` says where credentials are kept, as far as that was tried.
    """

    def __init__(self, account: str, *, backend: KeyringBackend | None = None, timeout_s: float = TIMEOUT_S) -> None:
        self._account = account
        self._backend = backend
        self._timeout_s = timeout_s
        self.storage = CredentialStorage.NOT_ASKED
        self._turn = asyncio.Lock()

    async def save(self, credential: KeptCredential) -> CredentialStorage:
        """Keep the credential in place of the last one; says where it is kept."""
        secret = json.dumps({"name": credential.name, "refresh_token": credential.refresh_token})
        await self._try(lambda store: store.set_password(SERVICE, self._account, secret))
        return self.storage

    async def load(self) -> KeptCredential | None:
        """What was kept; None when nothing was, or when it cannot be read."""
        secret = await self._try(lambda store: store.get_password(SERVICE, self._account))
        try:
            kept = json.loads(secret or "")
            return KeptCredential(str(kept["name"]), str(kept["refresh_token"]))
        except (ValueError, KeyError, TypeError):
            return None

    async def forget(self) -> None:
        """Remove what was kept."""
        await self._try(self._delete)

    def _delete(self, store: KeyringBackend) -> None:
        try:
            store.delete_password(SERVICE, self._account)
        except PasswordDeleteError:
            return  # nothing was kept

    async def _try(self, use: Callable[[KeyringBackend], T]) -> T | None:
        """`use` on a thread; None, and the reason in `storage`, when the keyring cannot be used."""
        async with self._turn:  # a renewed token must not be overwritten by the one before it
            return await self._try_now(use)

    async def _try_now(self, use: Callable[[KeyringBackend], T]) -> T | None:
        if self.storage is CredentialStorage.KEYRING_SILENT:
            return None
        try:
            answer = await _on_own_thread(lambda: use(self._usable()), self._timeout_s)
        except TimeoutError:
            self.storage = CredentialStorage.KEYRING_SILENT
        except NoKeyringError:
            self.storage = CredentialStorage.NO_KEYRING
        except KeyringLocked:
            self.storage = CredentialStorage.KEYRING_LOCKED
        except Exception:  # noqa: BLE001  # backends raise whatever their desktop libraries raise
            self.storage = CredentialStorage.NO_KEYRING
        else:
            self.storage = CredentialStorage.KEYRING
            return answer
        return None

    def _usable(self) -> KeyringBackend:
        """Found on the worker thread: looking for backends may already talk to the desktop."""
        if self._backend is not None:
            return self._backend
        backend = keyring.get_keyring()
        candidates = backend.backends if isinstance(backend, chainer.ChainerBackend) else [backend]
        for candidate in candidates:
            if type(candidate).__module__ in _TRUSTED:
                return candidate
        raise NoKeyringError("no system keyring")


async def _on_own_thread(work: Callable[[], T], timeout_s: float) -> T:
    """Run `work` on a daemon thread; one that never ends is left behind and keeps nothing waiting."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(answer: T | None, error: Exception | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(answer)  # type: ignore[arg-type]  # None only when T is None

    def run() -> None:
        answer: T | None = None
        failure: Exception | None = None
        try:
            answer = work()
        except Exception as error:  # noqa: BLE001  # carried to the awaiting side, whatever it is
            failure = error
        try:
            loop.call_soon_threadsafe(settle, answer, failure)
        except RuntimeError:
            return  # the loop is gone, and nobody waits

    threading.Thread(target=run, name="keyring", daemon=True).start()
    async with asyncio.timeout(timeout_s):
        return await done
