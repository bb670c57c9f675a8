"""`wellput displays`: one file per subcommand, loaded when called."""

from __future__ import annotations

import click

from wellput.cli.lazy_group import LazyGroup

MEMBERS: dict[str, tuple[str, str]] = {
    "example": (
        "wellput.cli.displays_example:command",
        "Write an example corpus, synthetic throughout.",
    ),
    "convert": (
        "wellput.cli.displays_convert:command",
        "Read ELAN, TextGrid and OpenCCG files; write BML.",
    ),
    "select": (
        "wellput.cli.displays_select:command",
        "Choose displays for sentences, as rules or a corpus have it.",
    ),
    "evaluate": (
        "wellput.cli.displays_evaluate:command",
        "Score schedules against the original ones, and each other.",
    ),
    "preview": (
        "wellput.cli.displays_preview:command",
        "See and hear the head perform schedules.",
    ),
}


@click.group(
    cls=LazyGroup,
    members=MEMBERS,
    epilog="""\b
Example:
  wellput displays example -o corpus.jsonl
  wellput displays select corpus.jsonl --strategy rule,majority,weighted -o all.jsonl
  wellput displays evaluate all.jsonl
""",
)
def command() -> None:
    """Choose facial displays for a talking head, judge them, and see them."""
