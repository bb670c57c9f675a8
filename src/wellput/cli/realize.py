"""The command `wellput realize` and its options; `wellput.api.realize` does the work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from wellput.cli.options import basic_options, show_summary_of
from wellput.core.errors import InputError
from wellput.core.work import OnPhase

if TYPE_CHECKING:
    from wellput.engine.realization import RealizationResult

INPUT_FORMS = ("words", "labels", "lemmas")
CHOOSERS = ("exact", "top-down", "alone")
REALIZER_MODELS = ("learned", "fergus+", "fergus", "lr")


@click.command(
    epilog="""\b
Examples:
  wellput realize trees.conllu
  wellput realize trees.conllu --input words --evaluate
  wellput realize trees.conllu --model fergus --lattice out.fst --explain
  wellput realize trees.conllu --models my-fergus/ --model fergus --evaluate
  wellput realize trees.json --nbest 5 --format json
  wellput realize trees.conllu --nbest 5 -o nbest.jsonl
"""
)
@click.argument("trees", metavar="TREES")
@click.option(
    "--input",
    type=click.Choice(INPUT_FORMS),
    default="words",
    show_default=True,
    help="What of each word the realizer uses. words: the inflected word; labels: also its relation "
    "and tag; lemmas: relation and tag, and lemma and features instead of the inflected word.",
)
@click.option(
    "--model",
    type=click.Choice(REALIZER_MODELS),
    default=REALIZER_MODELS[0],
    show_default=True,
    help="learned: the best model; fergus: the model of Bangalore, Rambow & Whittaker (2000); fergus+: "
    "fergus with weights on word order; lr: the baseline of that paper.",
)
@click.option(
    "--models",
    metavar="FOLDER",
    help="The models, made by wellput train realizer, fergus or english (default: the shipped ones, of "
    "English).",
)
@click.option(
    "--grammar",
    default="induced",
    show_default=True,
    metavar="NAME",
    help="The grammar of fergus: induced, or xtag:DIR with the folder of the XTAG English grammar.",
)
@click.option(
    "--chooser",
    type=click.Choice(CHOOSERS),
    default=CHOOSERS[0],
    show_default=True,
    help="How fergus chooses supertags. exact: the best for the whole tree; top-down: as in Bangalore, "
    "Rambow & Whittaker (2000); alone: for each word by itself.",
)
@click.option(
    "--from-text", is_flag=True, help="TREES is text, one sentence per line: parse it first."
)
@click.option(
    "--insert",
    metavar="KINDS",
    help="Add what the input leaves out: punctuation, function (words), or punctuation,function.",
)
@click.option(
    "--nbest",
    type=click.IntRange(min=1),
    metavar="N",
    help="Show the N best sentences of each tree.",
)
@click.option(
    "--lattice",
    metavar="FILE",
    help="Write the lattice as OpenFst text, with FILE.syms; for several trees FILE.1, FILE.2, …",
)
@click.option(
    "--evaluate",
    is_flag=True,
    help="Compare with the word order of TREES, and with the baseline lr.",
)
@click.option("--explain", is_flag=True, help="Show each tree's supertags, lattice and path.")
@click.option(
    "--evalset",
    metavar="FILE",
    help="Write an evalset with the sentences as the outputs of a system.",
)
@click.option(
    "-o",
    "path",
    metavar="SENTENCES",
    help="Write the sentences, one line per tree; a .jsonl file has all of --nbest, for wellput "
    "rerank.",
)
@basic_options
def command(format: str, path: str | None, explain: bool, **options: Any) -> None:
    """Realize sentences from unordered dependency trees: choose the order of the words.

    TREES is a CoNLL-U file, whose word order is used only by --evaluate, or a JSON or JSONL file. A
    node in JSON is {"word": …, "children": […]}; with "words" or "synset" instead of "word" the
    realizer chooses the word. Tokens of the sentences are separated by one space.
    """
    from wellput.api.realize import realize

    if explain and format != "table":
        raise InputError("--explain needs --format table.")
    # With -o -, standard output has the sentences, and the summary is normally not shown. With these
    # options it is shown after the sentences: that is the effect of the path None below.
    shows_more = explain or options["evaluate"] or options["nbest"] or format != "table"
    warnings: list[str] = []

    def realized(on_phase: OnPhase) -> RealizationResult:
        result = realize(**options, explain=explain, path=path, on_phase=on_phase)
        warnings.append(result.warning)
        return result

    show_summary_of(realized, format, None if shows_more else path)
    if any(warnings):  # on standard error, because standard output may have the sentences
        click.echo(warnings[0], err=True)
