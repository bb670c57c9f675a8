"""What `wellput parse` says about the trees it wrote."""

from __future__ import annotations

from wellput.core.counted import counted
from wellput.language.sentence_parsing import Summary
from wellput.reporting.table import Report, Table


def parse_report(summary: Summary) -> Report:
    """One row: sentences, words, the log probability of a word, sentences in several fragments."""
    is_weighed = summary.weighed_words > 0
    per_word = summary.log_probability / summary.weighed_words if is_weighed else None
    record = {
        "lines": summary.lines,
        "sentences": summary.sentences,
        "words": summary.words,
        "log_probability_per_word": per_word,
        "fragmented": summary.fragmented if is_weighed else None,
    }
    cells = [
        f"{summary.sentences:,}",
        f"{summary.words:,}",
        "–" if per_word is None else f"{per_word:.3f}",
        f"{summary.fragmented:,}" if is_weighed else "–",
    ]
    empty = summary.lines - summary.sentences
    notes = []
    if empty:
        have = "has" if empty == 1 else "have"
        lines = counted(summary.lines, "line")
        notes.append(f"{empty:,} of {lines} {have} no words, and no tree.")
    if not is_weighed:
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
