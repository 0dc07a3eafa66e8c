"""The verb `bench`: lists the benches, finds them by name, and says what is wrong use."""

from __future__ import annotations

import sys
from pathlib import Path
from uuid import uuid4

import pytest

from tests.bench import __main__ as bench


def test_alone_it_lists_the_benches(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main([]) == bench.DONE
    out = capsys.readouterr().out
    assert all(f"  {name} " in out for name in bench.BENCHES)


@pytest.mark.parametrize(("name", "words"), [("seatmap", "Did you mean 'seat-map'?"), ("xyz", "there is no bench")])
def test_an_unknown_name_is_wrong_use(name: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main([name]) == bench.WRONG_USE
    assert words in capsys.readouterr().err


def test_a_bench_that_is_not_in_this_copy_is_wrong_use(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(bench.BENCHES, "gone", "not there")
    assert bench.main(["gone"]) == bench.WRONG_USE
    assert "not in this copy" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("import sys; print(sys.argv[1:]); sys.exit(3)", 3),
        ("import sys; print(sys.argv[1:])", 0),
        ("import sys; print(sys.argv[1:]); sys.exit('words')", 1),
        ("import sys; print(sys.argv[1:]); sys.exit()", 0),
    ],
)
def test_a_bench_gets_the_other_words_and_its_exit_code_is_ours(
    body: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"bench_{uuid4().hex}"  # Python keeps what it has found under a name
    package = tmp_path / name
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(body)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(bench, "module_of", lambda _: name)
    monkeypatch.setattr(sys, "argv", ["bench"])
    assert bench.main(["feed", "--json", "7"]) == code
    assert "['--json', '7']" in capsys.readouterr().out
