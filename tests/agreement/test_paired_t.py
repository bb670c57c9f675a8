"""Student's paired test of two metrics over documents."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_rel

import wellput
from wellput.agreement.correlations import cells_of_all, document_values, draw_documents
from wellput.agreement.panel import panels
from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet
from wellput.core.judgment import Judgment

WORDS = [f"w{n}" for n in range(12)]


def judged() -> tuple[EvalSet, list[Judgment]]:
    """Systems that keep ever fewer words of the reference, and ratings that follow them roughly."""
    rng = np.random.default_rng(3)
    outputs: dict[str, list[str | None]] = {}
    ratings = []
    for quality, system in enumerate("ABCDE"):
        texts: list[str | None] = []
        for item in range(1, 41):
            kept = int(np.clip(10 - quality + rng.integers(-3, 4), 1, 12))
            texts.append(" ".join([*WORDS[:kept], *["x"] * int(rng.integers(0, 4))]))
            ratings.append(Judgment("Kim", str(item), system, "quality", kept + rng.normal(0, 2)))
        outputs[system] = texts
    return EvalSet.of(outputs, [" ".join(WORDS)] * 40), ratings


def test_two_metrics_are_compared_over_documents_as_by_scipy() -> None:
    evalset, ratings = judged()
    found = wellput.agree(
        evalset, ratings, "bleu,length", level="document", document_size=20, documents=6,
        test="paired-t", correction="none", seed=9, threads=1,
    )  # fmt: skip
    [difference] = found.differences
    tables = wellput.score(evalset, "bleu,length", keep_rows=True, threads=1).tables
    human = panels(ratings, evalset.systems, [item.id for item in evalset])["quality"].table()
    cells = cells_of_all(list(tables.values()), human)
    drawn = draw_documents(cells, size=20, documents=6, seed=9)
    bleu, length = (
        document_values(tables[name], human, cells, drawn, "pearson") for name in ("bleu", "length")
    )
    expected = ttest_rel(bleu, length)
    low, high = expected.confidence_interval(0.95)
    assert difference.test == "paired-t"
    assert difference.delta == pytest.approx(float((bleu - length).mean()))
    assert difference.p_value == pytest.approx(float(expected.pvalue))
    assert (difference.low, difference.high) == pytest.approx((float(low), float(high)))


def test_it_is_for_documents_only() -> None:
    evalset, ratings = judged()
    with pytest.raises(InputError, match="level='document'"):
        wellput.agree(evalset, ratings, "bleu,length", test="paired-t")
