"""`wellput train`: one file per model, loaded when called."""

from __future__ import annotations

import click

from wellput.cli.lazy_group import LazyGroup

MODELS: dict[str, tuple[str, str]] = {
    "english": (
        "wellput.cli.train_english:command",
        "All models of English that wellput comes with.",
    ),
    "fluency": ("wellput.cli.train_fluency:command", "The fluency metrics from text."),
    "lm": ("wellput.cli.train_lm:command", "An n-gram model from text."),
    "parser": ("wellput.cli.train_parser:command", "A tagger and a parser from trees."),
    "tree": ("wellput.cli.train_tree:command", "A tree model from a treebank."),
    "paraphrase": (
        "wellput.cli.train_paraphrase:command",
        "Classifiers of contexts, LSA and Brown classes from text.",
    ),
}


@click.group(
    cls=LazyGroup,
    members=MODELS,
    epilog="\b\nExample:\n  wellput train lm corpus.txt --order 3 -o english.wlm",
)
def command() -> None:
    """Train a model from text or trees."""
