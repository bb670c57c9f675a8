"""Counted nouns, and that messages use them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import wellput
from wellput.core.errors import counted

NOUNS = re.compile(
    r" (judges|items|systems|judgments|answers|trials|segments|choices|ratings|runs|partitions|"
    r"proposals|sentences|resamples|outputs|pairs|metrics)\b"
)
ROOMS = ("reporting", "cli", "agreement", "studies", "engine")
# The text says it in another way if the number is 1, or the number is never 1.
NEVER_ONE = {
    "len(several) items",
    "total runs",  # more than are shown
    "MAX_TRIALS trials",
    "n_metrics metrics",
    "n_outputs items",
    "len(slots) trials",  # a plan within judges has several
    "plan.per_item judgments",  # more than there are judges
    "shown_items.total items",  # more than are drawn
    "ranking.n_judges judges",
    "ranking.n_items items",
    "len(candidates) metrics",
    "len(leaders) systems",
    "n_behind systems",
    "len(ranking.systems) systems",
    "n pairs",
    "len(compared) metrics",
    "n_all metrics",
    "MIN_SHARED_UNITS trials",
    "MIN_SYSTEMS systems",
    "MIN_SEQUENTIAL_JUDGES judges",
    "MIN_SEQUENTIAL_ITEMS items",
    "plan.per_item judges",  # more than there are
    "test.min_trials trials",  # at least 2
    "direction outputs",  # words, not numbers
    "verb outputs",
    "self.url answers",
}


def test_one_and_many() -> None:
    assert counted(1, "item") == "1 item"
    assert counted(0, "item") == "0 items"
    assert counted(12345, "judged output") == "12,345 judged outputs"
    assert counted(1, "entry", "entries") == "1 entry"
    assert counted(2, "entry", "entries") == "2 entries"


def test_messages_use_counted() -> None:
    """A number directly before a plural would sometimes say "1 items"."""
    root = Path(wellput.__file__).parent
    found = {}
    for room in ROOMS:
        assert (root / room).is_dir()
        for path in (root / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                for what in _plurals(node):
                    found[what] = f"{path.relative_to(root)}:{getattr(node, 'lineno', 0)}"
    assert not {what: place for what, place in found.items() if what not in NEVER_ONE}


def _plurals(node: ast.AST) -> list[str]:
    """`expression noun` for each number before a plural in an f-string."""
    if not isinstance(node, ast.JoinedStr):
        return []
    found = []
    for value, text in zip(node.values, node.values[1:], strict=False):
        is_number = isinstance(value, ast.FormattedValue) and _is_number(value)
        if is_number and isinstance(text, ast.Constant) and (noun := NOUNS.match(str(text.value))):
            assert isinstance(value, ast.FormattedValue)
            found.append(f"{ast.unparse(value.value)} {noun[1]}")
    return found


def _is_number(value: ast.FormattedValue) -> bool:
    """Whether it may be a number: not a literal, a nested f-string or a conditional text."""
    return not isinstance(value.value, ast.Constant | ast.JoinedStr | ast.IfExp)
