"""Whatever the bytes are, a reader gives a value or an InputError, never another exception."""

from __future__ import annotations

import contextlib
import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Judgment
from wellput.io import (
    format_tree,
    open_lines,
    parse_tree,
    read_constituents,
    read_evalset,
    read_judgments,
    read_mqm,
    read_segments,
    read_trees,
    write_evalset,
    write_judgments,
)

TREE = parse_tree("# text = go!\n1\tgo\t_\t_\t_\t_\t0\t_\t_\t_\n2\t!\t_\t_\t_\t_\t1\t_\t_\t_")
EVALSET = EvalSet(
    [Item("1", {"A": "x", "B": "y"}, ("go!", "b"), (TREE, None)), Item("2", {"A": "", "B": "z"})]
)
RATINGS = [Judgment("j", "1", "A", "q", 2.5, {"note": 'a "b"'})]
READERS: dict[str, Callable[[Path], object]] = {
    **dict.fromkeys(["e.jsonl", "e.csv", "e.tsv", "e.parquet"], read_evalset),
    **dict.fromkeys(["j.jsonl", "j.csv", "j.tsv", "j.parquet"], read_judgments),
    "m.tsv": read_mqm,
    "s.csv": lambda path: list(read_segments(path)),
    "t.conllu": lambda path: list(read_trees(path)),
    "t.mrg": lambda path: list(read_constituents(path)),
    "t.txt": lambda path: list(open_lines(references=[], outputs={"A": path}).blocks()),
    "t.txt.gz": lambda path: list(open_lines(references=[], outputs={"A": path}).blocks()),
}


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A good file for each reader."""
    folder = tmp_path_factory.mktemp("good")
    for name in READERS:
        if name.startswith("e."):
            write_evalset(EVALSET, folder / name)
        elif name.startswith("j."):
            write_judgments(RATINGS, folder / name)
    texts = {
        "m.tsv": "system\trater\tcategory\tseverity\tseg_id\nA\tr\tStyle\tMinor\t1\n",
        "s.csv": "system,item,metric,score\nA,1,bleu,0.5\n",
        "t.conllu": format_tree(TREE),
        "t.mrg": "(S (NP (DT the)))\n",
        "t.txt": "a\nb\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "t.txt.gz").write_bytes(gzip.compress(b"a\nb\n" * 100))
    return {name: (folder / name).read_bytes() for name in READERS}


@pytest.mark.parametrize("name", READERS)
def test_the_good_files_are_good(tmp_path: Path, good: dict[str, bytes], name: str) -> None:
    (tmp_path / name).write_bytes(good[name])
    READERS[name](tmp_path / name)


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_damaged_files_give_clear_messages(
    tmp_path_factory: pytest.TempPathFactory, good: dict[str, bytes], name: str, data: st.DataObject
) -> None:
    content = good[name]
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(content))] * 2)))
    insert = data.draw(
        st.binary(max_size=8)
        | st.text(max_size=8).map(lambda text: text.encode(errors="surrogatepass"))
        | st.sampled_from([b"\n", b"\t", b'"', b",", b"null", b"{}", b"[]", b"-1", b"\r", b"\x00"])
    )
    path = tmp_path_factory.mktemp("damaged") / name
    path.write_bytes(content[:start] + insert + content[end:])
    with contextlib.suppress(InputError):
        READERS[name](path)
