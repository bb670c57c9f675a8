"""The commands `wellput train english`, `fluency`, `lm`, `parser`, `realizer` and `fergus`. The command
`wellput train paraphrase` is in `train_paraphrase`.

Each command imports what it needs when it is called.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from wellput.cli.lazy_group import LazyGroup
from wellput.cli.options import basic_options, show_summary_of
from wellput.text.tokenizers import NATIVE_TOKENIZERS

TRAINING_COMMANDS: dict[str, tuple[str, str]] = {
    "english": (
        "wellput.cli.train:train_english",
        "All models of English that wellput comes with.",
    ),
    "fluency": ("wellput.cli.train:train_fluency", "The fluency metrics from text."),
    "lm": ("wellput.cli.train:train_lm", "An n-gram model from text."),
    "parser": ("wellput.cli.train:train_parser", "A tagger and a parser from trees."),
    "realizer": (
        "wellput.cli.train:train_realizer",
        "The realizers of any language from a treebank.",
    ),
    "fergus": ("wellput.cli.train:train_fergus", "The realizer FERGUS from a treebank."),
    "paraphrase": (
        "wellput.cli.train_paraphrase:command",
        "A paraphrase model from text: classifiers, LSA, Brown classes.",
    ),
}


@click.group(
    cls=LazyGroup,
    members=TRAINING_COMMANDS,
    epilog="\b\nExample:\n  wellput train lm corpus.txt --order 3 -o english.wlm",
)
def command() -> None:
    """Train a model from text or trees."""


@click.command(
    epilog="""\b
Example:
  wellput train english --treebank en_ewt-ud-train.conllu --treebank en_atis-ud-train.conllu \\
    --dev en_ewt-ud-dev.conllu --text gutenberg/ --text sotu/ \\
    --real apart/ --source other/ -o english/
"""
)
@click.option(
    "--treebank",
    multiple=True,
    required=True,
    metavar="FILE",
    help="A treebank to learn from, CoNLL-U. Can be repeated.",
)
@click.option(
    "--dev",
    required=True,
    metavar="FILE",
    help="Trees to tune and measure on, CoNLL-U.",
)
@click.option(
    "--text",
    multiple=True,
    metavar="PATH",
    help="More text for the n-gram model: a file, a folder or a tar archive of .txt. Can be repeated.",
)
@click.option(
    "--real",
    multiple=True,
    metavar="PATH",
    help="Text to train fluency on, as good sentences. It must differ from all other text. Can be "
    "repeated.",
)
@click.option(
    "--source",
    multiple=True,
    metavar="PATH",
    help="Text to train fluency on, from which bad sentences are made. Can be repeated.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="FILE",
    help="Make only this file and the files that it needs. Can be repeated.",
)
@click.option(
    "--restart", is_flag=True, help="Make all files again, even those that are up to date."
)
@click.option("-o", "path", required=True, metavar="FOLDER", help="Write models into FOLDER.")
@basic_options
def train_english(format: str, path: str, **options: Any) -> None:
    """Make all models of English that wellput comes with.

    Each file gets a card that says what it was made from. A file that was made from the same input is
    not made again, so a stopped training can be resumed. The same input gives the same files.
    """
    from wellput.api.train import english
    from wellput.cli.progress import say

    def on_step(file: str, about: str) -> None:
        if sys.stderr.isatty():
            say(f"making {file}: {about}")

    show_summary_of(
        lambda on_phase: english(**options, path=path, on_phase=on_phase, on_step=on_step),
        format,
        path,
    )


@click.command(
    epilog="""\b
Example:
  wellput train fluency --text corpus.txt -o my-fluency/
  wellput score --hyp A=a.txt -m fluency:model=my-fluency/
  wellput train fluency --text news.txt --features paper --treebank wsj.conllu -o gleu/
  wellput score --hyp A=a.txt -m gleu-fluency:features=paper,model=gleu/
  wellput train fluency --treebank UD_Welsh-CCG/ -o welsh/
  wellput score --hyp A=a.txt -m fluency:model=welsh/
"""
)
@click.option(
    "--text",
    multiple=True,
    metavar="PATH",
    help="Text by people: a file, a folder or a tar archive of .txt. Optional with --treebank: more "
    "text of that language. Can be repeated.",
)
@click.option(
    "--gleu/--no-gleu",
    default=None,
    help="Also train gleu-fluency (default: if the link grammar library is installed).",
)
@click.option(
    "--features",
    type=click.Choice(["own", "paper"]),
    default="own",
    show_default=True,
    help="paper: train only gleu-fluency, with the features of Mutton et al. (2007).",
)
@click.option(
    "--treebank",
    multiple=True,
    metavar="PATH",
    help="The folder of a treebank, or CoNLL-U files, of any language: train fluency for that "
    "language. With --features paper: train its parsers on these trees. Can be repeated.",
)
@click.option("-o", "path", required=True, metavar="FOLDER", help="Write models into FOLDER.")
@basic_options
def train_fluency(format: str, path: str, **options: Any) -> None:
    """Fit fluency to text of your kind, or train it for another language.

    --text fits fluency and gleu-fluency to English text. Half of it serves as good sentences. From the
    other half, worse sentences of known quality are made. No judgments are needed. The parser and the
    n-gram models stay the shipped ones.

    With --treebank, all models are of the treebank's language. The parser is taken from FOLDER, or
    trained first. gleu-fluency is for English only.
    """
    from wellput.api.train import fluency

    show_summary_of(lambda on_phase: fluency(**options, path=path, on_phase=on_phase), format, path)


@click.command(
    epilog="""\b
Examples:
  wellput train lm corpus.txt --order 3 -o english.wlm
  wellput train lm part1.txt.gz part2.txt.xz --order 5 --min-count 2 -o english.arpa.gz
  wellput train lm corpus.txt --prune 1e-7 --compact -o small.wlm
  wellput train lm huge.txt.xz --work counts/ -o english.wlm
  wellput score --hyp A=a.txt -m perplexity:model=english.wlm
"""
)
@click.argument("corpus", nargs=-1, required=True)
@click.option(
    "--order",
    type=click.IntRange(1, 20),
    default=3,
    show_default=True,
    help="Words in the longest n-grams.",
)
@click.option(
    "--min-count",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Treat words seen less than N times as unknown.",
)
@click.option(
    "--memory-mb",
    type=click.IntRange(min=1),
    default=1024,
    show_default=True,
    metavar="N",
    help="Memory for counting, in MB; counts that need more go to temporary files.",
)
@click.option(
    "--tokenize",
    type=click.Choice(NATIVE_TOKENIZERS),
    default="none",
    show_default=True,
    help="Tokenizer of the text.",
)
@click.option("--lowercase", is_flag=True, help="Lower-case the text.")
@click.option(
    "--prune",
    type=click.FloatRange(min=0, max=1),
    metavar="THRESHOLD",
    help="Leave out n-grams whose removal raises perplexity by less than this share, such as 1e-7.",
)
@click.option(
    "--compact",
    is_flag=True,
    help="Write a small .wlm file: numbers are rounded to 8 bits.",
)
@click.option(
    "--work",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Keep counts in FOLDER; the same command resumes from them.",
)
@click.option(
    "-o",
    "path",
    required=True,
    metavar="MODEL",
    help="Write the model to MODEL, .arpa (.gz, .xz) or .wlm.",
)
@basic_options
def train_lm(format: str, path: str, **options: Any) -> None:
    """Train an n-gram model: interpolated modified Kneser-Ney.

    CORPUS is text with a sentence on each line. The same text gives the same file. A summary is
    printed.
    """
    from wellput.api.train_lm import lm

    show_summary_of(lambda on_phase: lm(**options, path=path, on_phase=on_phase), format, path)


@click.command(
    epilog="""\b
Examples:
  wellput train parser train.conllu --dev dev.conllu -o my-parser
  wellput parse sentences.txt --parser my-parser
  wellput train parser --treebank UD_Welsh-CCG/ -o welsh/
  wellput parse sentences.txt --models welsh/
"""
)
@click.argument("trees", nargs=-1, metavar="[TREES.conllu]...")
@click.option(
    "--treebank",
    multiple=True,
    metavar="PATH",
    help="Instead of TREES: the folder of a Universal Dependencies repository of any language, or "
    "CoNLL-U files. XPOS may be missing; how to split text into words is learned, too. Can be "
    "repeated.",
)
@click.option(
    "--dev",
    metavar="FILE",
    help="Trees to measure accuracy on, and to calibrate probabilities with.",
)
@click.option(
    "--epochs",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="How often to go through all trees.",
)
@click.option(
    "-o",
    "path",
    required=True,
    metavar="FOLDER",
    help="Write tagger.wpm and parser.wpm (with --treebank also tokenizer.wpm) into this folder, which "
    "is made if missing.",
)
@basic_options
def train_parser(format: str, path: str, **options: Any) -> None:
    """Train a tagger and a dependency parser from treebanks in CoNLL-U.

    The same trees and the same seed give the same files. The accuracy on --dev is printed, and recorded
    in the models.
    """
    from wellput.api.train import parser

    show_summary_of(lambda on_phase: parser(**options, path=path, on_phase=on_phase), format, path)


@click.command(
    epilog="""\b
Examples:
  wellput train realizer --treebank UD_Welsh-CCG/ -o welsh/
  wellput realize trees.conllu --models welsh/
"""
)
@click.option(
    "--treebank",
    multiple=True,
    required=True,
    metavar="PATH",
    help="The folder of a Universal Dependencies repository of any language, or CoNLL-U files. Can be "
    "repeated.",
)
@click.option(
    "--dev",
    multiple=True,
    metavar="FILE",
    help="Trees to tune on (default: the development files of the folder, or one tree in ten). Can be "
    "repeated.",
)
@click.option(
    "--text",
    multiple=True,
    metavar="FILE",
    help="More text for the n-gram model, a sentence on each line. Can be repeated.",
)
@click.option("-o", "path", required=True, metavar="FOLDER", help="Write models into FOLDER.")
@basic_options
def train_realizer(format: str, path: str, **options: Any) -> None:
    """Train the realizers of any language from a treebank in CoNLL-U.

    Makes the models of wellput realize --models FOLDER: learned, fergus, fergus+ and lr. Files for
    testing in the folder of a treebank are not read.
    """
    from wellput.api.train import realizer

    show_summary_of(
        lambda on_phase: realizer(**options, path=path, on_phase=on_phase), format, path
    )


@click.command(
    epilog="""\b
Examples:
  wellput train fergus train.conllu -o my-fergus/
  wellput convert wsj_*.mrg -o wsj.conllu
  wellput train fergus wsj.conllu --dev dev.conllu -o my-fergus/
  wellput realize trees.conllu --models my-fergus/ --model fergus
  wellput realize trees.conllu --models my-fergus/ --model fergus --insert punctuation,function
"""
)
@click.argument("trees", nargs=-1, required=True, metavar="TREES.conllu...")
@click.option("--dev", metavar="FILE", help="Trees on which to tune fergus+.")
@click.option(
    "-o",
    "path",
    required=True,
    metavar="FOLDER",
    help="Write tree.wpm, ngrams.wlm, realizer.wpm and completer.wpm into FOLDER.",
)
@basic_options
def train_fergus(format: str, path: str, **options: Any) -> None:
    """Train the realizer FERGUS and its baseline LR from a treebank.

    TREES are dependency trees in CoNLL-U with relations and parts of speech. The same trees and the
    same seed give the same files. A summary is printed.
    """
    from wellput.api.train import fergus

    show_summary_of(lambda on_phase: fergus(**options, path=path, on_phase=on_phase), format, path)
