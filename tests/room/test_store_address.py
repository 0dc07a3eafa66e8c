"""How a store is named: what operators may write, and what is refused with the reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from booking.room.command import _parse
from booking.room.store_address import Endpoint, SqliteAddress, Tls, ValkeyAddress, parse_address

LOCAL = (Endpoint("127.0.0.1", 6379),)


@pytest.mark.parametrize(
    ("text", "address", "shown"),
    [
        ("valkey://127.0.0.1", ValkeyAddress(LOCAL), "valkey://127.0.0.1:6379/0 (prefix main)"),
        ("redis://127.0.0.1:6379/3", ValkeyAddress(LOCAL, database=3), "valkey://127.0.0.1:6379/3 (prefix main)"),
        (
            "valkey://room@a:1,[::1]:2/?db=4&prefix=m-1&replicas=2",
            ValkeyAddress((Endpoint("a", 1), Endpoint("::1", 2)), "room", 4, "m-1", 2),
            "valkey://a:1,[::1]:2/4 (prefix m-1)",
        ),
        ("rediss://h", ValkeyAddress((Endpoint("h"),), tls=Tls()), "valkeys://h:6379/0 (prefix main)"),
        ("valkeys://h", ValkeyAddress((Endpoint("h"),), tls=Tls()), "valkeys://h:6379/0 (prefix main)"),
        (
            "unix:///run/a%20b.sock?db=1",
            ValkeyAddress((Endpoint(path="/run/a b.sock"),), database=1),
            "unix:///run/a b.sock (prefix main)",
        ),
        ("unix://me@/run/s", ValkeyAddress((Endpoint(path="/run/s"),), "me"), "unix:///run/s (prefix main)"),
        ("sqlite:some/file", SqliteAddress(Path("some/file")), "some/file"),
    ],
)
def test_what_may_be_written(text: str, address: object, shown: str) -> None:
    found = parse_address(text)
    assert found == address
    assert str(found) == shown


def test_the_default_is_in_the_folder() -> None:
    assert parse_address("sqlite", Path("data")) == SqliteAddress(Path("data/room.sqlite"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("sqlite", "--data"),
        ("sqlite:", "is needed"),
        ("postgres://h", "is needed"),
        ("127.0.0.1:6379", "is needed"),
        ("valkey://user:secret@h", "leave the password out"),
        ("valkey://:secret@h", "leave the password out"),
        ("unix://:secret@/run/s", "leave the password out"),
        ("valkey://", "a host, or host:port, is needed, not ''"),
        ("valkey://a,,b", "a host, or host:port, is needed, not ''"),
        ("valkey://h:0", "a host, or host:port, is needed, not 'h:0'"),
        ("valkey://h:port", "a host, or host:port, is needed, not 'h:port'"),
        ("valkey://h:70000", "a host, or host:port, is needed"),
        ("valkey://h/x", "db must be a whole number from 0 to 65535, not 'x'"),
        ("valkey://h/-1", "db must be"),
        ("valkey://h/²", "db must be"),
        ("valkey://h?replicas=17", "replicas must be a whole number from 0 to 16"),
        ("valkey://h?prefix=", "prefix must be"),
        ("valkey://h?prefix=a}b", "prefix must be"),
        ("valkey://h?timeout=3", "unknown option timeout; there are ca, certificate, db, key, prefix, replicas"),
        ("valkey://h?db=1&db=2", "an option is named twice"),
        ("valkey://h#x", "nothing can follow #"),
        ("valkey://h?ca=/etc/hostname", "ca goes with valkeys:// only"),
        ("valkeys://h?ca=/no/such/file", "ca: there is no file '/no/such/file'"),
        ("valkeys://h?key=/etc/hostname", "certificate and key go together"),
        ("unix://host/run/s", "unix:///PATH is needed"),
        ("unix://", "unix:///PATH is needed"),
    ],
)
def test_what_may_not_be_written(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        parse_address(text)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "--store: the store in SQLite lies in the folder that --data names"),
        (["--store", "valkey://a:b@h"], "--store: leave the password out"),
        (["--data", "d", "--copy-from", "nonsense"], "--copy-from: sqlite, sqlite:FILE"),
        (["--data", "d", "--copy-from", "sqlite"], "--copy-from and --store are the same store"),
        (["--data", "d", "--copy-password-file", "f"], "--copy-password-file goes with --copy-from"),
    ],
)
def test_the_command_says_which_option_is_wrong(
    arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TAQUILLA_ROOM_STORE", raising=False)
    with pytest.raises(SystemExit) as ended:
        _parse(arguments)
    assert ended.value.code == 2
    assert reason in capsys.readouterr().err


def test_the_store_may_be_named_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAQUILLA_ROOM_STORE", "unix:///run/s")
    assert _parse([]).store.address == ValkeyAddress((Endpoint(path="/run/s"),))
