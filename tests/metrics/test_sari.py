"""SARI against EASSE's counts, written plainly, and values that EASSE itself gives."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellput.core.evalset import Batch
from wellput.metrics.registry import create
from wellput.metrics.sari import Sari

SOURCES = ["About 95 species are currently accepted.", "The cat perched on the mat."]
OUTPUTS = ["About 95 you now get in.", "The cat sat on the mat."]
REFERENCES = [
    [
        "About 95 species are currently known.",
        "About 95 species are now accepted.",
        "95 species are now accepted.",
    ],
    ["The cat sat on the mat.", "A cat sat on a mat.", "The cat sat."],
]


def test_as_easse() -> None:
    # easse.sari of EASSE at commit 6a4352e (2023), with sacreBLEU's 13a:
    # corpus_sari(SOURCES, OUTPUTS, references), get_corpus_sari_operation_scores(...), corpus_sari of
    # either sentence, and with use_f1_for_deletion=False
    metric = Sari()
    rows = metric.statistics(Batch.from_texts(OUTPUTS, REFERENCES, sources=SOURCES))
    total = rows.sum(axis=0)
    assert float(metric.score(total)) == pytest.approx(48.156878709016176, abs=1e-9)
    parts = [float(metric.components(total)[name]) for name in ("added", "kept", "deleted")]
    assert parts == pytest.approx([31.636321195144724, 45.20676691729324, 67.62754801461057])
    assert metric.score(rows).tolist() == pytest.approx([31.350246975246975, 64.11045943304008])
    by_precision = create("sari:deletion=precision")
    assert float(by_precision.score(total)) == pytest.approx(47.10245794224122, abs=1e-9)


def ngrams(text: str, n: int) -> Counter[tuple[str, ...]]:
    words = text.split()
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def times(counts: Counter[tuple[str, ...]], k: int) -> Counter[tuple[str, ...]]:
    return Counter({gram: k * count for gram, count in counts.items()})


def counted(source: str, output: str, references: list[str]) -> list[float]:
    """The nine counts of each order, as the paper defines them."""
    row: list[float] = []
    for n in range(1, 5):
        before, after = ngrams(source, n), ngrams(output, n)
        wanted = sum((ngrams(text, n) for text in references), Counter())
        k = len(references)
        added, should_add = set(after) - set(before), set(wanted) - set(before)
        row += [len(added & should_add), len(added), len(should_add)]
        for by_output, by_references in (
            (times(before, k) & times(after, k), times(before, k) & wanted),
            (times(before, k) - times(after, k), times(before, k) - wanted),
        ):
            both = by_output & by_references
            row += [both.total(), by_output.total(), by_references.total()]
    return row


sentences = st.lists(st.sampled_from(["a", "b", "c", "d", "é", "中"]), max_size=7).map(" ".join)


@given(source=sentences, output=sentences, references=st.lists(sentences, min_size=1, max_size=3))
def test_counts(source: str, output: str, references: list[str]) -> None:
    metric = Sari(tokenize="none", lowercase=False)
    rows = metric.statistics(Batch.from_texts([output], [references], sources=[source]))
    np.testing.assert_array_equal(rows[0], counted(source, output, references))


def test_signature() -> None:
    assert create("SARI").signature() == "case:lc|tok:13a|deletion:f1"
