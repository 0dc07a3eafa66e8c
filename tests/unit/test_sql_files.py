"""Rules for the files of SQL that no database would tell us of."""

from __future__ import annotations

import re
from collections import Counter
from importlib.resources import files

import pytest

from booking import sql

_HEAD = re.compile(r"^CREATE OR REPLACE FUNCTION\s+(\w+)\s*\(", re.MULTILINE)
QUERIES = sorted(one.name.removesuffix(".sql") for one in (files(sql) / "queries").iterdir())


def signatures(text: str) -> list[str]:
    """`name(type, type)` of each function that a file defines."""
    found = []
    for head in _HEAD.finditer(text):
        depth, end = 1, head.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        arguments = re.split(r",(?![^(]*\))", re.sub(r"--.*", "", text[head.end() : end - 1]))
        types = [
            re.sub(r"\s+DEFAULT\s.*", "", one.strip(), flags=re.DOTALL).partition(" ")[2].strip()
            for one in arguments
            if one.strip() and not one.strip().startswith("OUT ")
        ]
        found.append(f"{head[1]}({', '.join(types)})")
    return found


def test_each_function_is_defined_in_one_place() -> None:
    """The later file would win, and whoever changes the earlier one changes nothing."""
    defined = Counter(name for file in sql.functions() for name in signatures(file.text))
    assert len(defined) > 100
    assert [name for name, times in defined.items() if times > 1] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CREATE OR REPLACE FUNCTION a(p_x int DEFAULT coalesce(1, 2), p_y text[]) RETURNS", ["a(int, text[])"]),
        ("CREATE OR REPLACE FUNCTION a(\n    p_x numeric(3, 1), -- why, so\n OUT y int\n)", ["a(numeric(3, 1))"]),
        ("CREATE OR REPLACE FUNCTION a() RETURNS\nCREATE OR REPLACE FUNCTION b (p_x uuid)", ["a()", "b(uuid)"]),
    ],
)
def test_a_function_is_known_by_its_name_and_types(text: str, expected: list[str]) -> None:
    assert signatures(text) == expected


@pytest.mark.parametrize("name", QUERIES)
def test_no_query_calls_a_function_once_for_each_of_its_columns(name: str) -> None:
    """`SELECT (f(x)).*` is that: what the second call answers is a replay of the first."""
    assert not re.search(r"\)\s*\)\s*\.\s*\*", sql.query(name))
