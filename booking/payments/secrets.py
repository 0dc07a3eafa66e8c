"""Secrets of providers: given to the service by who runs it, never on a command line, in a log, or in a file of ours.

Looked for in this order: a systemd credential (`LoadCredential=stripe-key:/path`, a file below $CREDENTIALS_DIRECTORY
that only the service can read), an environment variable (TAQUILLA_STRIPE_KEY; it is taken out of the environment, so
that no child process inherits it), the system keyring (service `taquilla`, user `stripe-key`).
"""

from __future__ import annotations

import os
import re
from pathlib import Path

SERVICE = "taquilla"
_NAME = re.compile(r"[a-z][a-z0-9-]{0,40}")
_LONGEST = 4096


class MissingSecretError(Exception):
    """A secret that is needed was not given; the text says how to give it, and nothing else."""

    code = "missing-secret"


def read_secret(name: str) -> str:
    """The secret of this name, without white space around it.

    Raises:
        MissingSecretError: nobody gave it, or it is empty.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"not the name of a secret: {name}")
    found = _from_credentials(name) or _from_environment(name) or _from_keyring(name)
    if not found:
        raise MissingSecretError(
            f"the secret {name!r} is not given: as the systemd credential {name}, as ${variable_of(name)}, or in the "
            f"system keyring (service {SERVICE!r}, user {name!r})"
        )
    return found


def variable_of(name: str) -> str:
    """`TAQUILLA_STRIPE_KEY` for `stripe-key`."""
    return f"TAQUILLA_{name.upper().replace('-', '_')}"


def _from_credentials(name: str) -> str:
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    if not folder:
        return ""
    try:
        return (Path(folder) / name).read_text("utf-8")[:_LONGEST].strip()
    except OSError:
        return ""


def _from_environment(name: str) -> str:
    given = os.environ.pop(variable_of(name), "")[:_LONGEST].strip()
    if given:
        _taken[name] = given
    return _taken.get(name, "")


_taken: dict[str, str] = {}
"""What was taken out of the environment: asked for again, it is still known."""


def _from_keyring(name: str) -> str:
    import keyring
    from keyring.errors import KeyringError

    try:
        return (keyring.get_password(SERVICE, name) or "").strip()
    except KeyringError:
        return ""
