"""What the commands that make something of displays say of it: one small table each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wellput.reporting.table import Report, Table

if TYPE_CHECKING:
    from wellput.displays.conversion import Conversion
    from wellput.displays.example_corpus import ExampleCorpus
    from wellput.displays.previewing import Preview
    from wellput.displays.selection import Selection

NOT_WRITTEN = "not written"


def example_summary(made: ExampleCorpus) -> Report:
    """How the example corpus was made."""
    value = made.values()
    rows = [[name, NOT_WRITTEN if each is None else str(each)] for name, each in value.items()]
    table = Table(["corpus", ""], rows, is_prose=True)
    return Report([table], value, tuple(value), [value])


def conversion_summary(made: Conversion) -> Report:
    """What was written."""
    value = made.values()
    rows = [
        ["file", value["file"] or NOT_WRITTEN],
        ["items", str(value["items"])],
        ["systems", ", ".join(value["systems"])],
    ]
    table = Table(["written", ""], rows, is_prose=True)
    return Report([table], value, ("file", "items"), [value])


def selection_summary(made: Selection) -> Report:
    """How many displays each strategy chose, and how often it had to shorten a context."""
    rows = []
    for name, displays in made.displays.items():
        shortened = sum(made.backed_off.get(name, {}).values())
        share = "" if name not in made.backed_off else f"{shortened / made.nodes:.1%}"
        per_sentence = displays / len(made.evalset)
        rows.append([name, f"{displays:,}", f"{per_sentence:.2f}", share])
    notes = [
        f"{len(made.evalset):,} sentences, {made.nodes:,} nodes, seed {made.seed}. "
        f"Context: {', '.join(made.context) or 'none'}.",
    ]
    columns = ["system", "displays", "per sentence", "contexts shortened"]
    table = Table(columns, rows, notes=notes)
    return Report([table], made.values(), ("system", "displays", "nodes"), made.records())


def preview_summary(made: Preview) -> Report:
    """What the page shows, and where it is."""
    value = made.values()
    cells = [str(made.sentences), ", ".join(made.systems), value["output"] or NOT_WRITTEN]
    table = Table(["sentences", "systems", "page"], [cells], is_prose=True)
    return Report([table], value, list(value), [{**value, "systems": cells[1]}])
