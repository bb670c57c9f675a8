"""Tables 4 to 6 of Kauchak & Barzilay (2006) on other data: BLEU on references that each method
rewrites, compared with people over documents, systems and segments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from benchmarks.agreement.human_data import HumanData
from benchmarks.papers.paraphrase.correlation import counts, human_table, tables, with_references
from wellput.agreement.analysis import AgreementOptions, agree
from wellput.agreement.correlations import document_values, draw_documents
from wellput.agreement.result import AgreementLevel, AgreementResult
from wellput.core.estimates import ScoreTable
from wellput.language.paraphrase.corpus_index import CorpusIndex
from wellput.language.paraphrase.methods import make_paraphraser, paraphrase_options
from wellput.language.paraphrase.references import Paraphraser
from wellput.language.paraphrase.training import learn_classifiers_for

METRIC = "bleu:ref_length=shortest"
METHODS = ("wordnet", "contextwn", "context", "lsa", "brown")
DOCUMENT_SIZE, DOCUMENTS, SEED = 300, 10, 1


def method_paraphrasers(data: HumanData, index: CorpusIndex) -> dict[str, Paraphraser]:
    """The methods, all on single words; `contextwn` is learned from the index for the words of the data."""
    made = {}
    for name in METHODS:
        if name == "contextwn":
            made[name] = contextwn(data, index)
        else:
            options = paraphrase_options(name, words_only=True)
            made[name] = replace(make_paraphraser(options), method=name)
    return made


def contextwn(data: HumanData, index: CorpusIndex) -> Paraphraser:
    options = paraphrase_options("contextwn", words_only=True)
    learned = learn_classifiers_for(data.evalset, options, index, seed=12345)
    return replace(make_paraphraser(options, classifiers=learned), method="contextwn")


@dataclass(frozen=True)
class MethodRow:
    """One method on one set. `p_*` are paired tests against the original references; `wins` are the
    documents where the method has the higher r."""

    method: str
    bleu: float
    made: int
    r: float
    delta: float
    wins: int
    p_t: float
    p_t_contextwn: float
    system: tuple[float, float]
    segment: tuple[float, float]


def experiment(
    data: HumanData, question: str, paraphrasers: Mapping[str, Paraphraser], n_references: int
) -> list[MethodRow]:
    """A row for each method, the original references first."""
    own = with_references(data, n_references)
    found = tables(own, [METRIC], paraphrasers)[METRIC]
    human = human_table(own, question, found["none"])
    by_document = documents_of(found, human)
    levels = {level: differences(found, own, question, level) for level in ("system", "segment")}
    rows = []
    for name, table in found.items():
        values, plain = by_document[name], by_document["none"]
        systems = [float(table.aggregate(row.sum(axis=0))) for row in table.statistics]
        rows.append(
            MethodRow(
                name,
                float(np.mean(systems)),
                0 if name == "none" else counts(paraphrasers[name], own)[0],
                float(values.mean()),
                float((values - plain).mean()),
                int((values > plain).sum()),
                paired_p(values, plain),
                paired_p(values, by_document["contextwn"]),
                levels["system"].get(name, (0.0, np.nan)),
                levels["segment"].get(name, (0.0, np.nan)),
            )
        )
    return rows


def documents_of(
    found: Mapping[str, ScoreTable], human: ScoreTable
) -> dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """By method, Pearson's r over systems in each document."""
    cells = human.present & found["none"].present
    size = min(DOCUMENT_SIZE, int(cells.any(axis=0).sum()) // 2)
    drawn = draw_documents(cells, size=size, documents=DOCUMENTS, seed=SEED)
    return {
        name: document_values(table, human, cells, drawn, "pearson")
        for name, table in found.items()
    }


def paired_p(first: np.ndarray, second: np.ndarray) -> float:
    return (
        float("nan")
        if np.array_equal(first, second)
        else float(stats.ttest_rel(first, second).pvalue)
    )


def differences(
    found: Mapping[str, ScoreTable], data: HumanData, question: str, level: AgreementLevel
) -> dict[str, tuple[float, float]]:
    """By method, r minus that of the original references, and the p of `wellput agree`."""
    named = {name: replace(table, scorer=name) for name, table in found.items()}
    judged = [one for one in data.judgments if one.question == question]
    options = AgreementOptions(level=level, normalization="none", correction="none")
    return dict(_against_none(agree(named, judged, options)))


def _against_none(result: AgreementResult) -> Iterator[tuple[str, tuple[float, float]]]:
    for one in result.differences:
        if one.metrics[0] == "none":
            yield one.metrics[1], (-one.delta, one.p_value)
