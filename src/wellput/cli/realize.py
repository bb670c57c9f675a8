"""`wellput realize`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from wellput.cli.options import emit, making_options, show
from wellput.core.counted import counted
from wellput.core.errors import InputError

if TYPE_CHECKING:
    from wellput.core.tree import Tree
    from wellput.engine.result import ScoreResult
    from wellput.language.realize.inputs import InputKind
    from wellput.language.realize.inserting import Insertion
    from wellput.language.realize.realizer import Realizer, Source
    from wellput.language.realize.systems import Realized

INPUTS = ("words", "labels", "lemmas")
MODELS = ("learned", "fergus+", "fergus", "lr")
INSERTIONS = ("punctuation", "function")
BASELINE = "lr"
JSON = (".json", ".jsonl")
TEXT = ".txt"


@click.command(
    epilog="""\b
Examples:
  wellput realize trees.conllu
  wellput realize trees.conllu --input words --evaluate
  wellput realize trees.conllu --model fergus --lattice out.fst --explain
  wellput realize trees.json --nbest 5 --format json
  wellput realize trees.conllu --nbest 5 -o nbest.jsonl
"""
)
@click.argument("trees", metavar="TREES")
@click.option(
    "--input",
    "kind",
    type=click.Choice(INPUTS),
    default="words",
    show_default=True,
    help="What the realizer may know: inflected words, their relations and tags too, or these and "
    "lemmas with features in the place of words.",
)
@click.option(
    "--model",
    type=click.Choice(MODELS),
    default=MODELS[0],
    show_default=True,
    help="learned is the best; fergus is the paper's, fergus+ also weighs orders, lr is the paper's "
    "baseline.",
)
@click.option(
    "--grammar",
    default="induced",
    show_default=True,
    metavar="NAME",
    help="induced, or xtag:DIR, the folder of the XTAG English grammar.",
)
@click.option("--from-text", is_flag=True, help="TREES is text, a sentence a line: parse it first.")
@click.option(
    "--insert",
    metavar="KINDS",
    help="Put in what the input leaves out: punctuation, function (words), or both with a comma.",
)
@click.option(
    "--nbest", type=click.IntRange(min=1), metavar="N", help="Show the N best of each tree."
)
@click.option(
    "--lattice",
    metavar="FILE",
    help="Write the lattice as OpenFst text, with FILE.syms; of several trees FILE.1, FILE.2, …",
)
@click.option("--evaluate", is_flag=True, help="Score against the order in the file, LR beside it.")
@click.option("--explain", is_flag=True, help="Show each tree's supertags, lattice and path.")
@click.option("--evalset", metavar="FILE", help="Write an evalset with the sentences as a system.")
@click.option(
    "-o",
    "output",
    metavar="SENTENCES",
    help="Write the sentences, one line a tree; a .jsonl has all of --nbest, for wellput rerank.",
)
@making_options
def command(
    trees: str,
    kind: str,
    model: str,
    grammar: str,
    from_text: bool,
    insert: str | None,
    nbest: int | None,
    lattice: str | None,
    evaluate: bool,
    explain: bool,
    evalset: str | None,
    output: str | None,
    format: str,
    seed: int,
    threads: int | None,
) -> None:
    """Realize sentences from unordered dependency trees.

    TREES is CoNLL-U, whose order is used only to --evaluate; or JSON or JSONL, a node being
    {"word": …, "children": […]} with "words" or "synset" where the word is to be chosen. Tokens
    are separated by one space.
    """
    from wellput.cli.progress import progress_of
    from wellput.core.cores import available_cores
    from wellput.io import check_distinct, check_table, check_text, check_writable
    from wellput.language.realize.realizer import Realizer
    from wellput.language.realize.synsets import Synsets
    from wellput.reporting.realize import explained, realize_report

    if explain and format != "table":
        raise InputError("--explain is for reading: it goes with --format table.")
    if lattice is not None and model == "learned":
        raise InputError("The learned realizer has no lattice: --lattice goes with --model fergus.")
    if kind == "lemmas" and model != "learned":
        raise InputError(f"Only the learned realizer inflects lemmas, {model} does not.")
    symbols = None if lattice is None else f"{lattice}.syms"
    targets = [path for path in (output, lattice, symbols, evalset) if path is not None]
    for target in targets:
        check_writable(target)
    if output is not None:
        check_text(output, allowed=[".jsonl"])
    if evalset is not None:
        check_table(evalset)
    check_distinct(targets, [trees])
    cores = threads or available_cores()
    input_kind = cast("InputKind", kind)
    ordered, sources = _sources(
        trees, input_kind, cores, is_text=from_text, needs_order=evaluate or evalset is not None
    )
    realizer = Realizer.load(model=model, grammar=grammar, insert=_insertions(insert))
    with progress_of("realizing trees") as on_progress:
        realized = realizer.realize_all(
            sources,
            kind=input_kind,
            n_best=nbest or 1,
            threads=cores,
            members=Synsets(),
            on_progress=on_progress,
        )
    if lattice is not None:
        _write_lattices(realized, lattice)
    if output is not None:
        is_list = output.endswith(".jsonl")
        emit(_nbest_lines(realized, ordered) if is_list else _lines(realized), output)
    if evalset is not None:
        _write_evalset(realized, ordered, model, evalset)
    evaluation = (
        _evaluated(realizer, realized, ordered, input_kind, seed, cores) if evaluate else None
    )
    before = "".join(explained(one) + "\n" for one in realized) if explain else ""
    is_plain = format == "table" and nbest is None and evaluation is None
    if is_plain and (explain or output is None):
        emit(before or _lines(realized), "-")
    elif is_plain and output != "-":
        click.echo(f"{counted(len(realized), 'sentence')} written to {output}.")
    elif not is_plain:
        report = realize_report(realized, model=model, evaluation=evaluation)
        show(report, format, "-", before=before)


def _insertions(names: str | None) -> list[Insertion]:
    chosen = [name.strip() for name in names.split(",")] if names is not None else []
    if wrong := [name for name in chosen if name not in INSERTIONS]:
        raise InputError(
            f"--insert takes {' and '.join(INSERTIONS)}, separated by a comma, not {wrong[0]!r}."
        )
    return cast("list[Insertion]", chosen)


def _sources(
    path: str, kind: InputKind, threads: int, *, is_text: bool, needs_order: bool
) -> tuple[list[Tree], Sequence[Source] | Iterator[Source]]:
    """The trees that have an order, and all that is to be realized."""
    from wellput.io import read_trees
    from wellput.io.files import InputFile
    from wellput.language.realize.json_inputs import read_inputs
    from wellput.language.realize.synsets import Synsets

    if is_text:
        trees = _parsed(path, threads)
        return trees, trees
    if InputFile(path).suffix in JSON:
        if needs_order:
            raise InputError(
                f"{path} has no order to compare with: --evaluate and --evalset need CoNLL-U or text."
            )
        return [], read_inputs(path, Synsets(), kind=kind)
    if InputFile(path).suffix == TEXT:
        raise InputError(f"{path} looks like text: add --from-text to have it parsed.")
    trees = list(read_trees(path))
    return trees, trees


def _parsed(path: str, threads: int) -> list[Tree]:
    """The trees of the sentences of a text."""
    from wellput.io.files import InputFile, check_readable
    from wellput.language.sentence_parsing import SentenceParser

    file = InputFile(path)
    check_readable(file)
    parsing = SentenceParser.load("english", is_weighed=False)
    parsed = parsing.parse(list(file.lines()), threads=threads)
    if not parsed:
        raise InputError(f"{file.name} has no sentence to parse.")
    return [sentence.tree for sentence in parsed]


def _lines(realized: Sequence[Realized]) -> str:
    return "".join(one.best[0].text + "\n" for one in realized)


def _nbest_lines(realized: Sequence[Realized], trees: Sequence[Tree]) -> str:
    """For `rerank`; the order of a tree in the file is the reference."""
    from wellput.io.nbest import Candidates, nbest_line

    orders = [" ".join(word.form for word in tree.words) for tree in trees]
    found = [
        Candidates(
            id=str(place + 1),
            texts=tuple(own.text for own in one.best),
            references=tuple(orders[place : place + 1]),
        )
        for place, one in enumerate(realized)
    ]
    return "".join(nbest_line(own) + "\n" for own in found)


def _write_lattices(realized: Sequence[Realized], path: str) -> None:
    from wellput.language.realize.openfst import openfst_text, symbols_text

    lattices = [one.lattice for one in realized if one.lattice is not None]
    for place, lattice in enumerate(lattices, 1):
        emit(openfst_text(lattice), path if len(lattices) == 1 else f"{path}.{place}")
    emit(symbols_text(lattices), f"{path}.syms")


def _write_evalset(
    realized: Sequence[Realized], trees: Sequence[Tree], system: str, path: str
) -> None:
    from wellput.core.evalset import EvalSet
    from wellput.core.tree import Tree
    from wellput.io import write_evalset

    plain = [Tree(tree.words) for tree in trees]
    references = [" ".join(word.form for word in tree.words) for tree in trees]
    outputs = {system: [one.best[0].text for one in realized]}
    write_evalset(EvalSet.of(outputs, references, trees=plain), Path(path))


def _evaluated(
    realizer: Realizer,
    realized: Sequence[Realized],
    trees: Sequence[Tree],
    kind: InputKind,
    seed: int,
    threads: int,
) -> ScoreResult:
    """The sentences, and those of the baseline, against the order in the file."""
    from wellput.engine.realization import evaluate_order
    from wellput.language.realize.realizer import Realizer

    outputs = {realizer.system.name: [one.best[0].text for one in realized]}
    if BASELINE not in outputs and kind != "lemmas":
        baseline = Realizer.load(model=BASELINE).realize_all(trees, kind=kind, threads=threads)
        outputs = {BASELINE: [one.best[0].text for one in baseline], **outputs}
    return evaluate_order(
        outputs,
        trees,
        baseline=BASELINE if len(outputs) > 1 else None,
        seed=seed,
        threads=threads,
    )
