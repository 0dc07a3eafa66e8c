"""Where secrets of providers come from, and where they never go."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError, PasswordSetError

from booking.payments import secrets, stripe_events
from booking.payments.secrets import MissingSecretError, read_secret, variable_of
from booking.services.providers import add_provider_arguments, check_secrets, webhook_endpoints


class Ring(KeyringBackend):
    priority = 1

    def __init__(self, kept: dict[str, str], *, locked: bool = False) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.kept, self.locked = kept, locked

    def get_password(self, service: str, username: str) -> str | None:
        if self.locked:
            raise KeyringLocked
        return self.kept.get(username) if service == "taquilla" else None

    def set_password(self, service: str, username: str, password: str) -> None:
        raise PasswordSetError("nothing of ours writes a secret")

    def delete_password(self, service: str, username: str) -> None:
        raise PasswordDeleteError("nothing of ours takes a secret away")


@pytest.fixture(autouse=True)
def nothing_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_taken", {})
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    monkeypatch.setattr(keyring, "get_password", Ring({}).get_password)


def test_a_credential_of_the_service_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stripe-key").write_text("sk_credential\n")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    monkeypatch.setenv("TAQUILLA_STRIPE_KEY", "sk_environment")
    assert read_secret("stripe-key") == "sk_credential"


def test_a_variable_is_taken_out_of_the_environment_and_still_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAQUILLA_STRIPE_KEY", " sk_environment ")
    assert [read_secret("stripe-key") for _ in range(2)] == ["sk_environment"] * 2
    assert "TAQUILLA_STRIPE_KEY" not in os.environ


def test_the_keyring_comes_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring, "get_password", Ring({"stripe-key": "sk_keyring"}).get_password)
    assert read_secret("stripe-key") == "sk_keyring"


@pytest.mark.parametrize("locked", [True, False])
def test_a_secret_that_nobody_gave_is_missed_by_name(monkeypatch: pytest.MonkeyPatch, locked: bool) -> None:
    monkeypatch.setattr(keyring, "get_password", Ring({}, locked=locked).get_password)
    with pytest.raises(MissingSecretError, match=r"\$TAQUILLA_STRIPE_KEY"):
        read_secret("stripe-key")


@pytest.mark.parametrize("name", ["", "../key", "Key", "a b"])
def test_only_names_of_secrets_are_looked_for(name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        read_secret(name)


def test_no_secret_has_an_option_on_the_command_line() -> None:
    parser = ArgumentParser()
    add_provider_arguments(parser)
    assert not [word for word in parser.format_help().split() if "key" in word.lower() or "secret" in word.lower()]


def test_stripe_without_its_secrets_is_found_out_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = ArgumentParser()
    add_provider_arguments(parser)
    chosen = parser.parse_args(["--provider", "stripe"])
    with pytest.raises(MissingSecretError):
        check_secrets(chosen)
    with pytest.raises(MissingSecretError):
        webhook_endpoints(chosen)
    monkeypatch.setenv(variable_of("stripe-webhook-secret"), "whsec_old whsec_new")
    endpoints = webhook_endpoints(chosen)
    assert endpoints["stripe"].secrets == (b"whsec_old", b"whsec_new")
    assert "whsec" not in repr(endpoints)
    assert webhook_endpoints(parser.parse_args(["--sandbox-url", "http://127.0.0.1:1"])) == {}
    assert stripe_events.endpoint(b"s").header == b"stripe-signature"
