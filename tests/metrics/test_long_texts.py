"""Texts of thousands of words in one line: their scores are right, and their memory is bounded."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein

from wellput import _native
from wellput.core.errors import InputError
from wellput.core.evalset import Batch, EvalSet
from wellput.core.metric import Floats
from wellput.engine.score import score_source
from wellput.metrics.alignments import wrong_treelets
from wellput.metrics.base import BaseMetric
from wellput.metrics.registry import create


def row_of(name: str, output: Sequence[str], reference: Sequence[str]) -> list[float]:
    batch = Batch.from_texts([" ".join(output)], [[" ".join(reference)]])
    row: list[float] = create(name).statistics(batch)[0].tolist()
    return row


def words(n: int) -> list[str]:
    return [f"w{number}" for number in range(n)]


def noisy(text: Sequence[str], rng: random.Random) -> list[str]:
    """The text with a fifth of its words lost and a fifth replaced by others of the text."""
    kept = [word for word in text if rng.random() > 0.2]
    return [word if rng.random() > 0.2 else rng.choice(text) for word in kept]


def common_words(reference: Sequence[str], output: Sequence[str]) -> tuple[int, int]:
    """The hits of rouge-lsum for two lines, by the whole table of lengths as in rouge-score, and the
    length of the longest common subsequence."""
    number = {word: i for i, word in enumerate({*reference, *output})}
    columns = np.array([number[word] for word in output])
    table = np.zeros((len(reference) + 1, len(output) + 1), np.int32)
    for i, word in enumerate(reference, start=1):
        diagonal = np.where(columns == number[word], table[i - 1, :-1] + 1, 0)
        table[i, 1:] = np.maximum.accumulate(np.maximum(table[i - 1, 1:], diagonal))
    i, j = len(reference), len(output)
    common: list[str] = []
    while i and j:
        if reference[i - 1] == output[j - 1]:
            i, j = i - 1, j - 1
            common.append(reference[i])
        elif table[i, j - 1] > table[i - 1, j]:
            j -= 1
        else:
            i -= 1
    hits = Counter(common) & Counter(output)
    return hits.total(), int(table[-1, -1])


@pytest.mark.parametrize("n_kinds", [3, 500, 100_000])
def test_rouge_of_long_lines_is_that_of_the_whole_table(n_kinds: int) -> None:
    rng = random.Random(7)
    reference = [f"w{rng.randrange(n_kinds)}" for _ in range(2500)]
    for output in (noisy(reference, rng), rng.choices(reference, k=2000)):
        hits, length = common_words(reference, output)
        assert row_of("rouge-lsum", output, reference)[2] == pytest.approx(hits / 2500)
        assert row_of("rouge-l", output, reference)[2] == pytest.approx(length / 2500)


def test_rouge_lsum_of_lines_whose_table_has_several_pieces() -> None:
    text = words(20_000)
    # The longest common subsequence is the longer of the two parts that changed places.
    output = [*text[12_000:], *text[:12_000]]
    assert row_of("rouge-lsum", output, text)[2] == pytest.approx(0.6)
    assert row_of("rouge-lsum", text, text)[2] == 1


def test_error_rates_of_long_texts_are_those_of_rapidfuzz() -> None:
    rng = random.Random(7)
    reference = words(12_000)
    output = noisy([*reference[4000:], *reference[:4000]], rng)
    expected: Counter[str] = Counter()
    for step in Levenshtein.opcodes(reference, output):
        length = max(step.src_end - step.src_start, step.dest_end - step.dest_start)
        expected[step.tag] += length
    counts = [expected[tag] for tag in ("replace", "insert", "delete")]
    assert row_of("wer", output, reference)[:3] == counts


def test_alignment_of_texts_whose_table_has_several_pieces() -> None:
    text = words(8600)
    output = [*text[5000:], *text[:5000]]  # 3,600 words have moved
    batch = Batch.from_texts([" ".join(output)], [[" ".join(text)]])
    _, _, substitutions, insertions, deletions, moves = _native.string_errors(
        batch.texts, batch.references, "none", (3, 3, 4), 1
    )[0]
    assert (substitutions, insertions, deletions, moves) == (0, 3600, 3600, 3600)


def test_treelets_of_a_tree_as_deep_as_it_is_long() -> None:
    # Searching the whole sentence for the daughters of each word would be 6 · 10^7 steps.
    text = words(8000)
    output = ["x", *text[1:-2], text[-1], text[-2]]
    heads = list(range(-1, len(text) - 1))
    wrong, _, unmatched = wrong_treelets(text, heads, output, (3, 3, 4), with_moves=True)
    assert [(one.head, one.members) for one in wrong] == [(0, [0, 1]), (7998, [7998, 7999])]
    assert unmatched == []


def test_markup_is_replaced_once_for_each_place() -> None:
    # Each of the 400,000 replacements would move the rest of the text, two megabytes.
    text = "a &quot;b&lt;" * 200_000
    [tokens] = _native.tokenize([text], "13a", 1)
    assert tokens == ["a", '"', "b", "<"] * 200_000
    [tokens] = _native.tokenize(["<skipped>x&amp;lt;y-\nz &gt; &quot"], "13a", 1)
    assert tokens == ["x", "<", "yz", ">", "&", "quot"]


def test_ter_looks_only_at_words_that_are_near() -> None:
    # Comparing each word with all equal ones of the other text would be 10^11 steps.
    text = ["a"] * 400_000
    text[::5] = ["b"] * 80_000
    output = [*text[:200_000], "c", *text[200_000:]]
    assert row_of("ter", output, text) == [1, 400_000]


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
@pytest.mark.parametrize(
    ("call", "n_words", "mebibytes"),
    [
        ("_native.rouge_l_statistics([output], [[text]], 1)", 50_000, 100),
        ("_native.wer_statistics([output], [[text]], 'none', 1)", 30_000, 60),
        ("_native.rouge_lsum_statistics([output], [[text]], 1)", 30_000, 60),
        ("_native.string_errors([output], [[text]], 'none', (3, 3, 4), 1)", 13_000, 28),
    ],
)
def test_memory_does_not_grow_with_the_product_of_the_lengths(
    call: str, n_words: int, mebibytes: int
) -> None:
    program = (
        "import numpy, re, resource\n"
        "from wellput import _native\n"
        f"text = [f'w{{i}}' for i in range({n_words})]\n"
        "text, output = ' '.join(text), ' '.join(text[::-1])\n"
        "in_use = int(re.search(r'VmSize:\\s+(\\d+)', open('/proc/self/status').read())[1])\n"
        f"limit = (in_use << 10) + ({mebibytes} << 20)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit))\n"
        f"print({call}.shape[0])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("1\n", "")


@pytest.mark.skipif(
    sys.platform != "linux" or "libasan" in Path("/proc/self/maps").read_text(),
    reason="limits of Linux, which leave the address sanitizer no memory",
)
def test_a_kernel_without_memory_says_for_which_item() -> None:
    program = (
        "import numpy, re, resource\n"
        "from wellput import _native\n"
        "texts = ['a b', ' '.join(map(str, range(1_000_000)))]\n"
        "in_use = int(re.search(r'VmSize:\\s+(\\d+)', open('/proc/self/status').read())[1])\n"
        "limit = (in_use << 10) + (16 << 20)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit))\n"
        "try:\n"
        "    _native.bleu_statistics(texts, [[text] for text in texts], '13a', 4, False, 1)\n"
        "except _native.TooLarge as error:\n"
        "    print(error.args, isinstance(error, MemoryError))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("(1,) True\n", "")


class Greedy(BaseMetric):
    """A metric that never has enough memory for the second item."""

    family = "greedy"

    def statistics(self, batch: Batch) -> Floats:
        raise _native.TooLarge(1)

    def score(self, statistics: Floats) -> Floats:
        raise NotImplementedError


def test_an_item_that_does_not_fit_into_memory_is_named() -> None:
    items = EvalSet.of({"S": ["a", "b" * 1200]}, references=["a", "b"])
    expected = r"Item 2: there is not enough memory for greedy of the output of S.*1,200 characters"
    with pytest.raises(InputError, match=expected):
        score_source(items, [Greedy()])
