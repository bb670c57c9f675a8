"""The rules of the suite: the order of tests, and the message about skipped tests."""

from __future__ import annotations

import pytest

from tests.order import ordered
from tests.programs import PROGRAMS, Program, needs, require, skipped_line

TESTS = ["a.1", "a.2", "a.3", "b.1", "b.2", "c.1", "c.2", "c.3"]


def in_order(order: str) -> list[str]:
    return ordered(TESTS, order, module_of=lambda name: name[0])


def test_orders() -> None:
    assert in_order("written") == TESTS
    assert in_order("reversed") == ["c.3", "c.2", "c.1", "b.2", "b.1", "a.3", "a.2", "a.1"]
    with pytest.raises(pytest.UsageError, match="not 'shuffled'"):
        in_order("shuffled")


def test_a_seed_shuffles_modules_and_the_tests_in_each() -> None:
    orders = [in_order(f"shuffled:{seed}") for seed in range(40)]
    assert orders == [in_order(f"shuffled:{seed}") for seed in range(40)]
    modules = ["".join(dict.fromkeys(name[0] for name in order)) for order in orders]
    assert set(modules) == {"abc", "acb", "bac", "bca", "cab", "cba"}
    assert {tuple(name for name in order if name[0] == "b") for order in orders} == {
        ("b.1", "b.2"),
        ("b.2", "b.1"),
    }
    for order, of in zip(orders, modules, strict=True):
        assert sorted(order) == TESTS
        assert [name[0] for name in order] == sorted((n[0] for n in TESTS), key=of.index)


def test_a_missing_program_skips_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(PROGRAMS, "a", Program("a", ("liba5", "a-en"), lambda: False))
    monkeypatch.setitem(PROGRAMS, "b", Program("b", ("b",), lambda: True))
    require("b")
    with pytest.raises(pytest.skip.Exception, match=r"^needs a: apt-get install liba5 a-en$"):
        require("b", "a")


def test_a_program_that_nobody_knows_cannot_be_needed() -> None:
    with pytest.raises(AssertionError, match=r"not in tests/programs\.py: \{'cromium'\}"):
        needs("chromium", "cromium")


def test_one_line_says_what_was_skipped() -> None:
    chromium, links = PROGRAMS["chromium"].reason, PROGRAMS["link grammar"].reason
    assert skipped_line([]) is None
    assert skipped_line(["limits of Linux"]) == (
        "Skipped tests: 1 for other reasons (pytest -rs lists them)."
    )
    assert skipped_line([links, f"('a.py', 1, 'Skipped: {chromium}')", "no /dev/full", links]) == (
        "Skipped tests: 1 needs chromium, 2 need link grammar, 1 for other reasons "
        "(pytest -rs lists them). To run them: "
        "apt-get install chromium liblink-grammar5 link-grammar-dictionaries-en"
    )
