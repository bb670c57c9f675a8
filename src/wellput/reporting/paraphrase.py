"""What `wellput paraphrase` shows: how many substitutions there are, or each of them."""

from __future__ import annotations

from wellput.core.counted import counted
from wellput.language.paraphrase.result import ParaphraseResult
from wellput.reporting.table import Report, Table, number

COLUMNS = (
    "item", "system", "reference", "word", "replacement", "source", "probability", "kept",
)  # fmt: skip


def paraphrase_report(result: ParaphraseResult) -> Report:
    """What was proposed and what was kept; each of them if asked for."""
    value = result.values()
    proposed = len(result.substitutions)
    if not result.explain:
        table = Table(
            ["substitutions", ""],
            [["proposed", f"{proposed:,}"], ["kept", f"{result.kept:,}"]],
            notes=[result.signature],
            caption="Substitutions",
        )
        return Report([table], value, list(value), [value])
    rows = [
        [
            s.item,
            s.system,
            str(s.reference),
            s.word,
            s.replacement,
            s.source,
            number(s.probability, 2) if s.probability == s.probability else "unknown",
            "kept" if s.kept else "refused",
        ]
        for s in result.substitutions
    ]
    notes = [f"{result.kept:,} of {counted(proposed, 'proposal')} kept.", result.signature]
    table = Table(list(COLUMNS), rows, notes=notes, is_prose=True, caption="Substitutions")
    return Report([table], value, COLUMNS, result.records())
