"""`convert`: reads annotated recordings and OpenCCG testbeds as corpora of sentences with displays
(nods, raised brows and other motions of a talking head). It writes *schedules* (which displays a system
shows on which words) as BML 1.0 (Behavior Markup Language), which programs for talking heads can play.

In BML, speech has a sync point before each word and one after the last. Every motion refers to the sync
points of its first and last word. Nods down and brow motions have names in BML's core (`NOD`,
`RAISE_BROWS`, `LOWER_BROWS`). The other motions are written as action units of the Facial Action
Coding System (Ekman, Friesen & Hager 2002): 44 squint, 51 and 52 head turned left and right, 53
head up, 55 and 56 head tilted left and right. It is our choice to write a nod up as 53 and a lean as a
tilt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from xml.etree import ElementTree

from wellput.core.errors import InputError, did_you_mean
from wellput.core.evalset import EvalSet, Item
from wellput.core.options import checks_options
from wellput.core.registries import Names, split_names
from wellput.core.result import Result
from wellput.core.source import EvalSource
from wellput.displays.corpus import sentences_of
from wellput.displays.schedules import extents_of, schedules_of, span_ends, words_of
from wellput.io import check_files, replacing_text, write_evalset
from wellput.io.files import PathLike

BML_NAMESPACE = "http://www.bml-initiative.org/bml/bml-1.0"

# The element of each motion: its name and its attributes.
BML_ELEMENTS: dict[str, tuple[str, dict[str, str]]] = {
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
    schedule = schedules_of(item).get(system)
    if item.derivation is None or schedule is None:
        raise InputError(f"Item {item.id} has no display schedule of {system}.")
    block = ElementTree.Element("bml", {"xmlns": BML_NAMESPACE, "id": f"bml-{item.id}"})
    speech = ElementTree.SubElement(block, "speech", {"id": "speech", "start": "0"})
    text = ElementTree.SubElement(speech, "text")
    words = words_of(item.derivation)
    for place, word in enumerate([*words, ""]):
        ElementTree.SubElement(text, "sync", {"id": f"w{place}"}).tail = (
            f"{word} " if word else None
        )
    extents = extents_of(item.derivation)
    placed = [(key, motion) for key, motions in schedule.items() for motion in motions]
    for number, (key, motion) in enumerate(placed, start=1):
        first, last = span_ends(key)
        name, attributes = BML_ELEMENTS[motion]
        times = {
            "start": f"speech:w{extents[first][0]}",
            "end": f"speech:w{extents[last][1]}",
        }
        ElementTree.SubElement(block, name, {"id": f"b{number}", **attributes, **times})
    return block


def bml_text(items: Sequence[Item], system: str) -> str:
    """A `<bml>` block for each sentence; several blocks are inside one `<bmls>` element."""
    blocks = [bml_of(item, system) for item in items]
    root = blocks[0]
    if len(blocks) > 1:
        root = ElementTree.Element("bmls")
        root.extend(blocks)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


BML_SUFFIX = ".bml"
ANNOTATION_SUFFIXES = (".eaf", ".textgrid")
TESTBED_SUFFIX = ".xml"


@dataclass(frozen=True, repr=False)
class Conversion(Result):
    """`evalset` has the sentences that were read; for BML, only those with a schedule of `system`."""

    presented_by: ClassVar[str] = "wellput.displays.reports:conversion_summary"

    evalset: EvalSet
    system: str | None = None
    path: PathLike | None = None

    def bml(self) -> str:
        """The schedules of `system` as Behavior Markup Language."""
        return bml_text(of_system(self.evalset, self.system).items, str(self.system))

    def save(self, path: PathLike) -> None:
        """Writes the sentences as an evaluation set, or the schedules of `system` as BML if the path
        ends in .bml."""
        if not is_bml(path):
            write_evalset(self.evalset, path)
            return
        text = self.bml()
        with replacing_text(path) as file:
            # A text may have half a surrogate pair, which UTF-8 cannot hold.
            file.write(text.encode("utf-8", "replace").decode())

    def records(self) -> list[dict[str, Any]]:
        """A record for each schedule: its sentence, its system, and how many displays it has."""
        return [
            {"item": item.id, "system": system, "displays": len(schedule)}
            for item in self.evalset
            for system, schedule in schedules_of(item).items()
        ]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput displays convert`."""
        written_as_bml = self.path is not None and is_bml(self.path)
        systems = [self.system] if written_as_bml else list(self.evalset.systems)
        file = None if self.path is None else str(self.path)
        return {"file": file, "items": len(self.evalset), "systems": systems}


@checks_options
def convert(
    inputs: PathLike | EvalSet | Sequence[PathLike | EvalSource],
    *,
    words: str = "words",
    displays: Names = (),
    sentences: str = "sentences",
    system: str | None = None,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
) -> Conversion:
    """Reads annotations into a display corpus, or writes schedules as BML.

    Parameters
    ----------
    inputs
        Recordings annotated with ELAN (`.eaf`) or Praat (`.TextGrid`), OpenCCG testbeds (`.xml`),
        or evaluation sets: one of them or several.
    words, displays, sentences
        The names of the tiers of words, of displays (default: all other tiers) and of sentences.
        Without a tier of sentences a recording is one sentence.
    system
        The system whose schedules become BML.
    path
        Writes an evaluation set, or BML if the path ends in `.bml`.
    seed, threads
        No effect here.

    Returns
    -------
    Conversion
        `evalset` has the sentences. With a system, `bml()` is the text of its schedules.

    Raises
    ------
    InputError
        A file or an annotation in it cannot be used, or no system has that name.

    Examples
    --------
    >>> import wellput
    >>> corpus = wellput.displays.example(n=2).evalset
    >>> wellput.displays.convert([corpus], system="original").bml().count("<bml ")
    2
    """
    sources = [inputs] if isinstance(inputs, str | Path | EvalSet) else inputs
    check_files([path], sources)
    tiers = split_names(displays)
    evalset = EvalSet(
        [item for source in sources for item in _items(source, words, tiers, sentences)]
    )
    if path is not None and is_bml(path):
        evalset = of_system(evalset, system)
    conversion = Conversion(evalset, system, path)
    if path is not None:
        conversion.save(path)
    return conversion


def is_bml(path: PathLike) -> bool:
    """Whether the name of the file ends in .bml."""
    return str(path).endswith(BML_SUFFIX)


def of_system(evalset: EvalSet, system: str | None) -> EvalSet:
    """The sentences for which the system has an output. Raises InputError for an unknown system."""
    if system is None:
        raise InputError(f"Whose schedules? Give system=, one of {', '.join(evalset.systems)}.")
    if system not in evalset.systems:
        raise InputError(
            f"No system {system!r}.{did_you_mean(system, evalset.systems)} The systems are "
            f"{', '.join(evalset.systems)}."
        )
    return EvalSet([item for item in evalset if system in item.outputs])


def _items(
    source: PathLike | EvalSource, words: str, displays: Sequence[str], sentences: str
) -> Sequence[Item]:
    """The sentences of a recording, a testbed, or an evaluation set."""
    from wellput.displays.annotations import items_of_tiers, read_tiers
    from wellput.displays.openccg import read_testbed

    suffix = "" if isinstance(source, EvalSource) else Path(source).suffix.lower()
    if isinstance(source, EvalSource) or suffix not in (*ANNOTATION_SUFFIXES, TESTBED_SUFFIX):
        return sentences_of(source, trees=True).items
    if suffix == TESTBED_SUFFIX:
        return read_testbed(source)
    name = Path(source).stem
    tiers = read_tiers(source)
    return items_of_tiers(tiers, name, words=words, displays=displays, sentences=sentences)
