"""What paraphrased references change, with the shipped model: `python -m benchmarks paraphrase INDEX`.

INDEX is the corpus index that the model was trained from (`wellput train paraphrase --index`). Writes
docs/results/paraphrase.md. Needs a WordNet.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from benchmarks.agreement import human_data
from benchmarks.pages import write_page
from benchmarks.papers.paraphrase.correlation import (
    RandomFilter,
    counts,
    document_experiment,
    human_table,
    segment_changes,
    tables,
    with_filter,
    with_references,
)
from benchmarks.papers.paraphrase.filters import ranking, swords_queries
from benchmarks.papers.paraphrase.limits import Limits, limits_section, other_ways
from benchmarks.papers.paraphrase.substitutions import in_form, swords_dev
from wellput.core.metric import Floats
from wellput.language.models.tagger import Tagger
from wellput.language.models.wordnet import open_wordnet
from wellput.language.paraphrase.context_filter import ContextFilter
from wellput.language.paraphrase.corpus_index import CorpusIndex, index_corpus
from wellput.language.paraphrase.filters import (
    BigramFilter,
    ClassifierFilter,
    NoFilter,
    RelativeFilter,
)
from wellput.language.paraphrase.methods import (
    PARAPHRASE_METHODS,
    ParaphraseOptions,
    make_paraphraser,
)
from wellput.language.paraphrase.model import ParaphraseModel
from wellput.language.paraphrase.training import judged_queries
from wellput.language.shipped import PARAPHRASE_FILE, shipped

SETS = (
    (human_data.da2016, "adequacy"),
    (human_data.simplicity_da, "meaning"),
    (human_data.mqm, "MQM"),
    (human_data.sfres, "quality"),
)
METRICS = ("bleu", "chrf", "ssa")
INTRODUCTION = """\
# Paraphrased references

Does a metric agree better with people if references are paraphrased first? [`wellput paraphrase`](../commands/paraphrase.md) replaces words of a reference by synonyms from the system's output, and its *filters* decide which replacements fit the sentence.
On WMT21 cs-en (news translated from Czech), paraphrasing raises the correlation of BLEU with people; on four other data sets the correlations hardly change. The default filter `context` is best at telling right replacements from wrong ones. But metrics agree with people
no better if `context` filters the replacements than if all of WordNet's proposals are used.

The page of the command explains the methods, filters and options that the tables name. Their models were trained on books of Gutenberg, State of the Union speeches and the training part of EWT (English Web Treebank); `context` was
also trained on CoInCo, where people named substitutes for words in sentences; sentences that are in SWORDS, too, were left out. The features of `context` were chosen on the development part (dev) of SWORDS, where people judged substitutes, so its results
there are better than they would be on other data. Its threshold was set so that 70% of CoInCo's right substitutes pass; at that time we had already seen first results on the other data sets of this page."""


def line(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def header(*cells: str) -> list[str]:
    return [line(*cells), line("---", *["---:"] * (len(cells) - 1))]


def filter_section(index: CorpusIndex, model: ParaphraseModel) -> Iterator[str]:
    queries, is_right = swords_queries(open_wordnet(), index)
    yield "## Which replacements are right: SWORDS dev"
    yield ""
    yield (
        f"The data are {len(queries):,} WordNet synonyms for the words that SWORDS asks about; only synonyms that occur 20 times "
        "or more in the training text are used. "
        f"{is_right.mean():.1%} are right (half the people or more accepted them). *AUC*: how often a right "
        "synonym gets a higher probability than a wrong one (0.5 is chance). *Precision*: the share of right "
        "synonyms among those that are kept, if the threshold lets 80% or 50% of the right ones pass."
    )
    yield ""
    yield from header("`--filter`", "AUC", "precision at recall .8", "precision at recall .5")

    def row(name: str, scores: Floats) -> str:
        found = ranking(is_right, scores)
        return line(name, *(f"{value:.3f}" for value in found))

    yield row(
        "`none`, ranked by how often the word has a sense that it shares with the synonym (WordNet's counts)",
        NoFilter().probabilities(queries),
    )
    yield row("`classifier`", ClassifierFilter(model.classifiers).probabilities(queries))
    both = RelativeFilter(model.classifiers, model.bigrams)
    yield row("`classifier --relative`", both.probabilities(queries))
    yield row("`lm`", BigramFilter(model.bigrams).probabilities(queries))
    if model.combination is not None:
        chosen = ContextFilter(model.knowledge, model.combination)
        yield row("`context`, the default", chosen.probabilities(queries))
    yield ""


def accuracy_section() -> Iterator[str]:
    yield "## How many of a method's replacements are right"
    yield ""
    yield (
        "How many of the substitutes in SWORDS dev each method would use, and how many of these are right. "
        "SWORDS has only few of the words that `lsa` and `brown` propose, mostly good ones, so these two rows are "
        "too favorable."
    )
    yield ""
    yield from header("`--method`", "replacements", "right")
    wordnet = open_wordnet()
    judged = in_form([one for one, _ in swords_dev()], wordnet, Tagger.load(shipped("tagger.wpm")))
    as_listed = [replace(one, tag=None) for one, _ in swords_dev()]
    for name, both in PARAPHRASE_METHODS.items():
        rewriter = make_paraphraser(ParaphraseOptions(*both)).rewriter
        substitutions = judged if both[0] == "wordnet" else as_listed
        queries, is_right = judged_queries(substitutions, rewriter.source)
        made = rewriter.filter.probabilities(queries) >= rewriter.min_probability
        yield line(name, f"{made.sum():,}", f"{is_right[made].mean():.1%}")
    yield ""


def segment_sections() -> Iterator[str]:
    yield "## Agreement with people on segments, one reference"
    yield ""
    yield (
        "- *kept*: the replacements that the filter `context` keeps, of those that WordNet proposes.\n"
        "- *r*: Pearson's correlation of the metric's scores with people's ratings over all judged outputs, with the original references.\n"
        "- *change*: by how much r changes if the references are rewritten with all of WordNet's proposals (`wordnet`), "
        "with those that `context` keeps, or with as many proposals drawn at random; in brackets a 95% interval by a paired "
        "bootstrap over items.\n\n"
        "The data are translations (DA2016, MQM zh-en), simplified sentences "
        "(Simplicity-DA) and sentences of systems that talk about restaurants (SFRES); `ssa` is simple string accuracy."
    )
    yield ""
    names = ("wordnet", "context", "random")
    yield from header(
        "data, what people rated", "metric", "kept", "r",
        "change, `wordnet`", "change, `context`", "change, random",
    )  # fmt: skip
    plain, context = (
        make_paraphraser(ParaphraseOptions(filter="none")),
        make_paraphraser(ParaphraseOptions()),
    )
    others = other_ways()
    against: dict[str, list[tuple[float, ...]]] = {metric: [] for metric in METRICS}
    limits: dict[tuple[str, str], Limits] = {}
    for read, question in SETS:
        data = with_references(read(), 1)
        kept, proposed = counts(context, data)
        chance = with_filter(plain, RandomFilter(kept / max(proposed, 1)), "random")
        methods = {"wordnet": plain, "context": context, "random": chance, **others}
        for metric, found in tables(data, METRICS, methods).items():
            human = human_table(data, question, found["none"])
            changes = segment_changes({name: found[name] for name in ("none", *names)}, human)
            cells = [
                f"{d:+.4f} [{a:+.4f}, {b:+.4f}]" for _, d, a, b in (changes[name] for name in names)
            ]
            both = {"none": found["wordnet"], "context": found["context"]}
            against[metric].append(segment_changes(both, human)["context"][1:])
            limits[data.name, metric] = Limits(found, human)
            yield line(
                f"{data.name}, {question}", metric, f"{kept:,} of {proposed:,}",
                f"{changes['none'][0]:.4f}", *cells,
            )  # fmt: skip
    yield ""
    yield (
        "The difference of the two changes, `context` minus `wordnet`, for each data set [95% interval], and the "
        "mean over the four:"
    )
    yield ""
    yield from header("metric", "mean", *(data for data, metric in limits if metric == METRICS[0]))
    for metric, differences in against.items():
        each = (f"{delta:+.4f} [{low:+.4f}, {high:+.4f}]" for delta, low, high in differences)
        mean = np.mean([difference[0] for difference in differences])
        yield line(metric, f"{mean:+.4f}", *each)
    yield ""
    yield from limits_section(limits)


def document_section(pair: str = "cs-en") -> Iterator[str]:
    data = human_data.wmt21(pair)
    yield f"## The experiment of Kauchak & Barzilay (2006): {data.name}"
    yield ""
    yield (
        f"Ten *documents* of 300 segments were drawn from the outputs of {len(data.evalset.systems)} systems. In each document "
        "the systems' BLEU (with the shortest reference for the brevity penalty) is correlated with their mean rating. "
        "*r* is the mean of Pearson's r over documents, and Δr the gain over the original references (method *none*); *BLEU* is "
        "the mean over systems. The p-value is of a paired t-test over documents."
    )
    for n in (1, 2):
        yield ""
        yield f"**{n} reference{'s' * (n > 1)}**"
        yield ""
        yield from header(
            "`--method`",
            "BLEU",
            "replacements",
            "r",
            "Δr",
            "documents with a gain, of 10",
            "p",
        )
        some = with_references(data, n)
        methods = {
            name: make_paraphraser(ParaphraseOptions(*both))
            for name, both in PARAPHRASE_METHODS.items()
        }
        (found,) = tables(some, ["bleu:ref_length=shortest"], methods).values()
        results = document_experiment(found, human_table(some, "DA", found["none"]))
        for name, result in results.items():
            made = f"{counts(methods[name], some)[0]:,}" if name in methods else ""
            won = str(result.won) if name in methods else ""
            p_value = f"{result.p_value:.3f}" if name in methods else ""
            yield line(
                name,
                f"{result.score:.2f}",
                made,
                f"{result.r:.4f}",
                f"{result.delta:+.4f}",
                won,
                p_value,
            )
    yield ""


def speed_section(corpus: CorpusIndex) -> Iterator[str]:
    yield "## Speed, one core"
    yield ""
    yield from header("what", "processor time, s", "rate")
    sentences = [
        " ".join(corpus.words[n] for n in corpus.tokens[int(a) : int(b)])
        for a, b in zip(corpus.starts[:50_000], corpus.starts[1:50_001], strict=True)
    ]
    began = time.process_time()
    index_corpus([sentences])
    spent = time.process_time() - began
    per_million = f"{spent / len(sentences) * 1e6:.0f} s per million sentences"
    yield line(f"indexing {len(sentences):,} sentences", f"{spent:.1f}", per_million)
    data = with_references(human_data.mqm(), 1)
    paraphraser = make_paraphraser(ParaphraseOptions())
    pairs = sum(len(item.outputs) for item in data.evalset)
    for name in ("for the first time", "again, with WordNet's answers in memory"):
        began = time.process_time()
        paraphraser.rewrite_items(data.evalset.items)
        spent = time.process_time() - began
        yield line(
            f"rewriting the references of {pairs:,} outputs (MQM zh-en), {name}",
            f"{spent:.1f}",
            f"{pairs / spent:,.0f} outputs a second",
        )
    yield ""


def main() -> None:
    arguments = sys.argv[1:]
    if not arguments:
        sys.exit(__doc__)
    index = CorpusIndex.load(arguments[0])
    model = ParaphraseModel.load(shipped(PARAPHRASE_FILE))
    lines = [INTRODUCTION, ""]
    for section in (
        filter_section(index, model),
        accuracy_section(),
        segment_sections(),
        speed_section(index),
        document_section(),
    ):
        for text in section:
            lines.append(text)
            print(text, flush=True)
    write_page("paraphrase", "\n".join(lines))
