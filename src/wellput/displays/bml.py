"""Schedules as BML 1.0 (Behavior Markup Language), so that other agents can play them.

Speech has a sync point before each word and one behind the last; every motion refers to those of its
first and last word. Nods and brows have lexemes of BML's core; for the others there are only action
units of the Facial Action Coding System: 44 squint, 51 and 52 head turned, 53 up, 55 and 56 tilted
(lexemes and numbers from memory).
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from wellput.core.displays import extents_of, span_ends, words_of
from wellput.core.errors import InputError
from wellput.core.evalset import Item, Schedule

NAMESPACE = "http://www.bml-initiative.org/bml/bml-1.0"

ELEMENTS: dict[str, tuple[str, dict[str, str]]] = {
    "nd=d": ("head", {"lexeme": "NOD"}),
    "nd=u": ("faceFacs", {"au": "53"}),
    "bw=u": ("faceLexeme", {"lexeme": "RAISE_BROWS"}),
    "bw=d": ("faceLexeme", {"lexeme": "LOWER_BROWS"}),
    "sq": ("faceFacs", {"au": "44"}),
    "ln=l": ("faceFacs", {"au": "55"}),
    "ln=r": ("faceFacs", {"au": "56"}),
    "tn=l": ("faceFacs", {"au": "51"}),
    "tn=r": ("faceFacs", {"au": "52"}),
}


def bml_of(item: Item, system: str) -> ElementTree.Element:
    """One sentence as a `<bml>` block."""
    schedule = item.outputs.get(system)
    if item.derivation is None or schedule is None or isinstance(schedule, str):
        raise InputError(f"Item {item.id} has no display schedule of {system}.")
    block = ElementTree.Element("bml", {"xmlns": NAMESPACE, "id": f"bml-{item.id}"})
    speech = ElementTree.SubElement(block, "speech", {"id": "speech", "start": "0"})
    text = ElementTree.SubElement(speech, "text")
    words = words_of(item.derivation)
    for place, word in enumerate([*words, ""]):
        ElementTree.SubElement(text, "sync", {"id": f"w{place}"}).tail = (
            f"{word} " if word else None
        )
    extents = extents_of(item.derivation)
    for number, (key, motion) in enumerate(_motions(schedule), start=1):
        first, last = span_ends(key)
        name, attributes = ELEMENTS[motion]
        times = {
            "start": f"speech:w{extents[first][0]}",
            "end": f"speech:w{extents[last][1]}",
        }
        ElementTree.SubElement(block, name, {"id": f"b{number}", **attributes, **times})
    return block


def bml_text(items: Sequence[Item], system: str) -> str:
    """All sentences, each a block of its own; several stand under one `<bmls>` element."""
    blocks = [bml_of(item, system) for item in items]
    root = blocks[0]
    if len(blocks) > 1:
        root = ElementTree.Element("bmls")
        root.extend(blocks)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _motions(schedule: Schedule) -> list[tuple[str, str]]:
    return [(key, motion) for key, motions in schedule.items() for motion in motions]
