"""The examples in docstrings print what they show."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import wellput

PACKAGE = Path(wellput.__file__).parent
MODULES = [
    ".".join(["wellput", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(
        ".__init__"
    )
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_true(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0
