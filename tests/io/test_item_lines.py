"""Plain lines of JSONL without Python's JSON: the same items, or none at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import wellput
from wellput import _native
from wellput.agreement.panel import names_of
from wellput.api.output_values import documents_of, item_tags
from wellput.core.errors import Problems
from wellput.core.evalset import BLOCK_ITEMS, Batch, Item
from wellput.core.plain_block import PlainBlock, batch_of
from wellput.engine.blocks import block_statistics
from wellput.io.files import InputFile
from wellput.io.item_lines import line_blocks
from wellput.io.jsonl import json_values
from wellput.io.records import RecordReader
from wellput.metrics.registry import create_all

names = st.sampled_from(["A", "B", "a b", "ü", "original", ""])
texts = st.text(max_size=12) | st.sampled_from(["a\nb", '"', "\\", "\ud800", "\U0001f600", "\x00"])
records = st.fixed_dictionaries(
    {"id": st.text(max_size=3) | st.integers(-(10**20), 10**20) | st.none() | st.floats()},
    optional={
        "source": texts | st.none() | st.integers(),
        "context": texts | st.none(),
        "references": st.lists(texts, max_size=3) | st.none() | texts,
        "outputs": st.dictionaries(names, texts | st.none(), max_size=3) | st.none(),
        "document": texts | names | st.none() | st.integers() | st.booleans() | st.floats(),
        "tags": st.dictionaries(
            names, texts | st.none() | st.integers() | st.booleans(), max_size=3
        )
        | st.none()
        | texts,
        "tree": st.none(),
        "note": texts,
    },
)
# Pieces of JSON put together at random: most of it is wrong, and some of it nearly right.
pieces = st.sampled_from(
    [*'{}[]:," \t\r', *['\\', 'e-0123.Aé'], '"id"', '"outputs"', '"references"',
     '"source"', '"id": 1', '"outputs": {"A": "b"}', 'null', 'true', '"\\u00e9"', '"\\ud83d\\ude00"',
     '"\\udc00"', '"\\x"', '"A"', "-0", "01", "1e3", "NaN", '"document"', '"tags"',
     '"tags": {"A": 7, "d": ""}', '"document": "x"']
)  # fmt: skip


def by_python(text: str) -> tuple[list[Item], int]:
    """The items as Python's JSON gives them, and the number of complaints."""
    problems = Problems("f")
    reader = RecordReader(problems)
    values = json_values(enumerate(text.split("\n"), start=1), problems)
    items = [reader.item(number, value) for number, value in values]
    return [item for item in items if item is not None], problems.total


def check(text: str) -> bool:
    """Whether the lines are plain; if they are, they are what Python reads, without complaints."""
    columns = _native.plain_columns(text.encode(errors="surrogatepass"))
    if columns is None:
        return False
    assert by_python(text) == (list(PlainBlock(*columns)), 0)
    return True


@given(st.lists(records, max_size=5), st.booleans())
def test_records(rows: list[object], is_ascii: bool) -> None:
    check("\n".join(json.dumps(row, ensure_ascii=is_ascii) for row in rows))


@given(st.lists(pieces, max_size=12))
def test_wild_lines(parts: list[str]) -> None:
    check("".join(parts))
    check('{"id": "1", ' + "".join(parts) + "}")


@pytest.mark.parametrize(
    ("line", "is_plain"),
    [
        ('{"id": "1", "references": ["a"], "outputs": {"A": "b", "B": null}}', True),
        ('\t{ "id" : 7 ,"outputs":{ } , "references" : [ ] , "source" : null } \r', True),
        ('{"id": "\\u00fc\\n\\ud83d\\ude00"}', True),
        ("", True),
        ("  \t", True),
        ('{"id": "1"}\n\n{"id": "2"}\n', True),
        ('{"id": "1", "outputs": {"A": "\\ud800"}}', False),  # half a character: Python's business
        ('{"id": "1", "id": "2"}', False),
        ('{"id": "1", "outputs": {"A": "a", "A": "b"}}', False),
        ('{"id": ""}', False),
        ('{"id": -0}', False),
        ('{"id": 1.0}', False),
        ('{"id": "1", "tree": "x"}', False),
        ('{"id": "1", "document": "d\\u00e9", "tags": {"a": "x", "b": null, "c": ""}}', True),
        ('{"id": "1", "document": 7, "tags": {"a": -12}}\n{"id": 2, "tags": {}}', True),
        ('{"id": "1", "document": "", "tags": null}', True),
        ('{"id": "1", "document": true}', False),
        ('{"id": "1", "document": 7.0}', False),
        ('{"id": "1", "document": ["d"]}', False),
        ('{"id": "1", "document": "d", "document": "d"}', False),
        ('{"id": "1", "tags": {"a": false}}', False),
        ('{"id": "1", "tags": {"a": "x", "a": "y"}}', False),
        ('{"id": "1", "tags": {"": "x"}}', False),
        ('{"id": "1", "tags": ["a"]}', False),
        ('{"id": "1", "tags": {"a": -0}}', False),
        ('{"id": "1", "outputs": {"A": {}}}', False),
        ('{"id": "1"} x', False),
        ('{"id": "1\t"}', False),
        ("\u2003", False),
    ],
)
def test_what_is_plain(line: str, is_plain: bool) -> None:
    assert check(line) == is_plain


def test_text_that_is_not_utf8_is_not_plain() -> None:
    assert _native.plain_columns(b'{"id": "1", "source": "\xff"}') is None
    assert _native.plain_columns(b'{"id": "1", "source": "\xc3\xa9"}') is not None


def test_a_system_that_comes_and_goes() -> None:
    lines = [{"id": 1, "outputs": {"B": "x"}}, {"id": 2, "outputs": {"A": "y", "B": None}}]
    columns = _native.plain_columns("\n".join(map(json.dumps, lines)).encode())
    assert columns is not None
    block = PlainBlock(*columns)
    assert block.outputs == {"B": ["x", None], "A": [None, "y"]}
    assert block[1] == Item("2", {"A": "y"})
    assert batch_of("A", block) == Batch.of("A", list(block))
    assert [item.id for item in block[0:2]] == ["1", "2"]


@given(st.lists(st.tuples(st.text(min_size=1, max_size=3), texts), min_size=1, max_size=5))
def test_a_batch_of_columns_is_the_batch_of_the_items(rows: list[tuple[str, str]]) -> None:
    ids, outputs = zip(*rows, strict=True)
    n = len(rows)
    block = PlainBlock(list(ids), {"A": list(outputs)}, [("r",)] * n, [None] * n, ["c"] * n)
    assert batch_of("A", block, threads=3) == Batch.of("A", list(block), threads=3)


def test_lines_without_documents_and_tags_have_no_such_columns() -> None:
    columns = _native.plain_columns(b'{"id": 1, "document": null, "tags": {}}')
    assert columns is not None
    assert columns[5:] == (None, None)


def test_equal_tags_are_made_once() -> None:
    lines = [{"id": n, "tags": {"domain": "news", "n": n // 2}} for n in range(4)]
    columns = _native.plain_columns("\n".join(map(json.dumps, lines)).encode())
    assert columns is not None
    tags = PlainBlock(*columns).tags
    assert tags == [{"domain": "news", "n": str(n // 2)} for n in range(4)]
    assert tags[0] is tags[1] and tags[1] is not tags[2]


def test_plain_columns_keep_documents_and_tags(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    lines = [
        {"id": n, "outputs": {"A": "x"}, "document": f"d{n // 3}", "tags": {"domain": "ab"[n % 2]}}
        for n in range(6)
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    source = wellput.open_evalset(path)
    (block,) = source.blocks()
    assert isinstance(block, PlainBlock)
    assert documents_of(source) == {str(n): f"d{n // 3}" for n in range(6)}
    assert names_of(source).documents == documents_of(source)
    assert item_tags(source, "domain") == {str(n): "ab"[n % 2] for n in range(6)}
    kept = block_statistics(block, create_all("length"), keep_rows=True)
    assert list(kept.documents) == [f"d{n // 3}" for n in range(6)]
    assert [own["domain"] for own in kept.tags] == list("ababab")


def fnv1a(text: str) -> int:
    """As Fowler, Noll and Vo have it; `a` is af63dc4c8601ec8c in their list of test values."""
    value = 0xCBF29CE484222325
    for byte in text.encode(errors="surrogatepass"):
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


@given(st.lists(texts))
def test_hashes(values: list[str]) -> None:
    assert fnv1a("a") == 0xAF63DC4C8601EC8C
    assert _native.text_hashes(values).tolist() == list(map(fnv1a, values))


def numbered(n: int) -> Iterator[str]:
    for i in range(n):
        yield json.dumps({"id": i}) + ("\n\n" if i % 1000 == 0 else "\n")


def test_blocks_are_cut_by_items_not_by_lines(tmp_path: Path) -> None:
    n = 2 * BLOCK_ITEMS + 10
    path = tmp_path / "e.jsonl"
    path.write_text("\ufeff" + "".join(numbered(n)), encoding="utf-8")
    blocks = list(line_blocks(InputFile(path)))
    assert [block.span.items for block in blocks] == [BLOCK_ITEMS, BLOCK_ITEMS, 10]
    assert [block.span.first_item for block in blocks] == [1, BLOCK_ITEMS + 1, 2 * BLOCK_ITEMS + 1]
    # Ids count from 0; a blank line follows each thousandth.
    assert [block.span.first_line for block in blocks] == [1, BLOCK_ITEMS + 6, 2 * BLOCK_ITEMS + 10]
    assert blocks[0].span.start == 3  # behind the byte order mark
    assert blocks[-1].span.stop == path.stat().st_size
    for block in blocks:
        assert [again.data for again in line_blocks(InputFile(path), block.span)] == [block.data]
