"""What `wellput parse` says about the trees it wrote."""

from __future__ import annotations

from wellput.core.counted import counted
from wellput.language.sentence_parsing import ParseResult
from wellput.reporting.table import Report, Table


def parse_report(result: ParseResult) -> Report:
    """One row: sentences, words, the log probability of a word, sentences in several fragments."""
    [record] = result.records()
    lines, sentences = record["lines"], record["sentences"]
    per_word, fragmented = record["log_probability_per_word"], record["fragmented"]
    cells = [
        f"{sentences:,}",
        f"{record['words']:,}",
        "–" if per_word is None else f"{per_word:.3f}",
        "–" if fragmented is None else f"{fragmented:,}",
    ]
    empty = lines - sentences
    notes = []
    if empty:
        have = "has" if empty == 1 else "have"
        notes.append(f"{empty:,} of {counted(lines, 'line')} {have} no words, and no tree.")
    if per_word is None:
        notes.append(
            "No log probabilities: no head-driven model beside this parser, or no line short enough."
        )
    table = Table(
        ("sentences", "words", "log p a word", "in fragments"),
        [cells],
        notes=notes,
        caption="What was parsed",
    )
    return Report([table], record, tuple(record), [record])
