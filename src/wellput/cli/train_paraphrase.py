"""`wellput train paraphrase`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

import click

from wellput.cli.engine_options import cluster_options
from wellput.cli.options import making_options, refuse_stdin_twice, show
from wellput.core.errors import InputError
from wellput.reporting.table import Report, Table

if TYPE_CHECKING:
    from wellput.core.mapping import MapParts
    from wellput.language.paraphrase.corpus_index import CorpusIndex
    from wellput.language.paraphrase.model import ParaphraseModel
    from wellput.language.paraphrase.training import Training

F = TypeVar("F", bound=Callable[..., Any])
BLOCK = 1 << 14


def context_options(function: F) -> F:
    """How the classifiers are learned."""
    count = click.IntRange(min=1)
    for option in reversed(
        (
            click.option(
                "--learner",
                type=click.Choice(["boosting", "logistic"]),
                default="boosting",
                show_default=True,
                help="Boosted stumps, as in the paper, or logistic regression.",
            ),
            click.option(
                "--rounds",
                type=count,
                default=100,
                show_default=True,
                help="Stumps of a classifier.",
            ),
            click.option(
                "--smoothing",
                type=click.FloatRange(min=0, min_open=True),
                default=5.0,
                show_default=True,
                metavar="X",
                help="Of a stump's votes, in examples (BoosTexter's: 1).",
            ),
            click.option(
                "--penalty",
                type=click.FloatRange(min=0, min_open=True),
                default=1.0,
                show_default=True,
                help="Of logistic regression, on squared weights.",
            ),
            click.option(
                "--min-occurrences",
                type=click.IntRange(min=2),
                default=20,
                show_default=True,
                metavar="N",
                help="Rarer words get no classifier.",
            ),
            click.option(
                "--max-occurrences",
                type=count,
                default=20_000,
                show_default=True,
                metavar="N",
                help="Of more frequent words so many occurrences are used.",
            ),
            click.option(
                "--negatives",
                type=click.FloatRange(min=0, min_open=True),
                default=5.0,
                show_default=True,
                metavar="X",
                help="Places without the word, for each with it (the paper's: 1).",
            ),
            click.option(
                "--ngrams",
                type=click.IntRange(0, 4),
                default=0,
                show_default=True,
                metavar="N",
                help="Also n-grams anywhere in the sentence, up to this length.",
            ),
        )
    ):
        function = option(function)
    return function


def neighbor_options(function: F) -> F:
    """LSA and Brown classes; the defaults are the paper's."""
    count = click.IntRange(min=1)
    for option in reversed(
        (
            click.option(
                "--vocabulary",
                type=click.IntRange(2, 60_000),
                default=20_000,
                show_default=True,
                help="Words with a vector and a class, the most frequent.",
            ),
            click.option(
                "--features", type=count, default=1000, show_default=True, help="Words LSA counts."
            ),
            click.option(
                "--window",
                type=count,
                default=15,
                show_default=True,
                help="Words on either side that LSA counts in.",
            ),
            click.option(
                "--dimensions", type=count, default=100, show_default=True, help="Of LSA vectors."
            ),
            click.option(
                "--classes",
                type=click.IntRange(0, 60_000),
                default=1000,
                show_default=True,
                help="Brown classes; 0 for none.",
            ),
        )
    ):
        function = option(function)
    return function


@click.command(
    epilog="""\b
Examples:
  wellput train paraphrase news.txt.gz -o news.wpm
  wellput train paraphrase news.txt --classes 0 --min-occurrences 100 -o news.wpm
  wellput train paraphrase news.txt --engine ray --index index.wpm -o news.wpm
  wellput paraphrase evalset.jsonl --model news.wpm -o rewritten.jsonl
"""
)
@click.argument("corpus", nargs=-1)
@click.option("--index", metavar="FILE", help="Read the corpus index FILE, or write it (.wpm).")
@click.option(
    "--judged",
    metavar="FILE.jsonl",
    help="Judged substitutions to learn the context filter from (default: the shipped weights).",
)
@click.option(
    "--encoder",
    metavar="NAME",
    help="Learn the neural filter as well, with this encoder of the Hugging Face library.",
)
@click.option("--wordnet", metavar="PATH", help="A WordNet (default: the first one found).")
@context_options
@neighbor_options
@cluster_options
@click.option("-o", "output", required=True, metavar="MODEL", help="Write the model (.wpm).")
@making_options
def command(
    corpus: Sequence[str],
    index: str | None,
    judged: str | None,
    encoder: str | None,
    wordnet: str | None,
    output: str,
    engine: str,
    address: str | None,
    format: str,
    seed: int,
    threads: int | None,
    **choices: Any,
) -> None:
    """Train what paraphrasing needs: classifiers of contexts, LSA, Brown classes.

    CORPUS is text with a sentence on each line. Without it, --index names an index made before.
    """
    from wellput.cli.progress import progress_of
    from wellput.io import check_distinct, check_writable
    from wellput.language.paraphrase.embeddings import TransformerEncoder
    from wellput.language.paraphrase.judged import read_judged
    from wellput.language.paraphrase.training import train_model
    from wellput.language.wordnet import open_wordnet

    refuse_stdin_twice(*corpus)
    indices = [index] if index is not None else []
    made = [output, *(indices if corpus else [])]
    for path in made:
        check_writable(path)
    check_distinct(made, [*corpus, *([judged] if judged else []), *([] if corpus else indices)])
    if encoder is not None and judged is None:
        raise InputError("--encoder is for learning from --judged substitutions: give both.")
    if not corpus and index is None:
        raise InputError("Nothing to learn from: give text files, or --index FILE.")
    if engine == "ray" and "-" in corpus:
        raise InputError("--engine ray reads files, not standard input.")
    known = open_wordnet(wordnet)
    verdicts = read_judged(judged) if judged else []
    how = _training(choices)
    with _mapping(engine, address, threads) as map_parts:
        indexed = _index(corpus, index, map_parts if engine == "ray" else None)
        with progress_of("learning words") as on_progress:
            model = train_model(
                indexed,
                how,
                wordnet=known,
                seed=seed,
                judged=verdicts,
                shipped=None if verdicts else _shipped_model(),
                encoder=TransformerEncoder(encoder) if encoder else None,
                card={"words": len(indexed), "judged": len(verdicts), "seed": seed, **choices},
                map_parts=map_parts,
                on_progress=on_progress,
            )
    model.save(output)
    show(model_report(model, indexed), format, "-")


def _mapping(
    engine: str, address: str | None, threads: int | None
) -> AbstractContextManager[MapParts]:
    from wellput.core.cores import available_cores
    from wellput.core.mapping import map_here
    from wellput.engine.ray_cluster import mapping_on_cluster

    if engine == "ray":
        return mapping_on_cluster(address, threads or available_cores())
    return nullcontext(map_here)


def _index(corpus: Sequence[str], path: str | None, map_parts: MapParts | None) -> CorpusIndex:
    from wellput.language.paraphrase.corpus_index import CorpusIndex

    indexed = corpus_index(corpus or [path or ""], map_parts)
    if not corpus or path is None:
        return indexed
    indexed.save(path)
    return CorpusIndex.load(path)  # mapped, and by workers as well


def corpus_index(corpus: Sequence[str], map_parts: MapParts | None = None) -> CorpusIndex:
    """The index of text files, or the one that a single .wpm file holds. With `map_parts` parts of the
    files are read by whoever it gives them to."""
    from wellput.cli.progress import progress_of
    from wellput.io.files import InputFile, check_readable
    from wellput.io.text_parts import text_parts
    from wellput.language.paraphrase.corpus_index import CorpusIndex, index_corpus, index_parts

    if len(corpus) == 1 and corpus[0].endswith(".wpm"):
        return CorpusIndex.load(corpus[0])
    files = [InputFile(name) for name in corpus]
    check_readable(*files)
    with progress_of("indexing sentences") as on_progress:
        if map_parts is not None:
            return index_parts(text_parts(corpus), map_parts=map_parts, on_progress=on_progress)
        return index_corpus(
            (block for file in files for block in file.line_blocks(BLOCK)), on_progress=on_progress
        )


def _training(choices: dict[str, Any]) -> Training:
    from wellput.language.paraphrase.context_training import ContextTraining
    from wellput.language.paraphrase.lsa import LsaTraining
    from wellput.language.paraphrase.training import Training

    same = (
        "learner", "rounds", "smoothing", "penalty", "min_occurrences", "max_occurrences", "negatives",
    )  # fmt: skip
    return Training(
        contexts=ContextTraining(
            bag_order=choices["ngrams"], **{name: choices[name] for name in same}
        ),
        lsa=LsaTraining(
            **{name: choices[name] for name in ("vocabulary", "features", "window", "dimensions")}
        ),
        classes=choices["classes"],
    )


def _shipped_model() -> ParaphraseModel | None:
    """For the weights of its filters, where it is installed."""
    from wellput.language.paraphrase.methods import SHIPPED
    from wellput.language.paraphrase.model import ParaphraseModel
    from wellput.language.shipped import FOLDER

    path = FOLDER / SHIPPED
    return ParaphraseModel.load(path) if path.is_file() else None


def model_report(model: ParaphraseModel, index: CorpusIndex) -> Report:
    """What was learned from how much."""
    record = {
        "sentences": len(index.starts) - 1,
        "words": len(index),
        "classifiers": len(model.classifiers.words),
        "vectors": len(model.vectors.words),
        "classes": 0 if model.clusters is None else int(model.clusters.max()) + 1,
        "pairs": len(model.bigrams.pairs),
        "has_context_filter": model.combination is not None,
        "sha256": model.fingerprint,
    }
    shown = [name for name in record if name not in ("has_context_filter", "sha256")]
    notes = [] if model.combination else ["No judged substitutions: there is no context filter."]
    rows = [[name, f"{record[name]:,}"] for name in shown]
    table = Table(["learned", ""], rows, notes=notes, caption="What the paraphraser learned")
    return Report([table], record, list(record), [record])
