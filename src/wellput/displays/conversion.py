"""`convert`: annotated recordings and testbeds as display corpora, schedules as BML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from wellput.core.errors import InputError, did_you_mean
from wellput.core.evalset import EvalSet, Item
from wellput.core.names import Names, listed
from wellput.core.result import Result
from wellput.core.source import EvalSource
from wellput.displays.bml import bml_text
from wellput.displays.inputs import sentences_of
from wellput.io import check_files, replacing_text, write_evalset
from wellput.io.files import PathLike

BML = ".bml"
ANNOTATED = (".eaf", ".textgrid")
TESTBED = ".xml"


@dataclass(frozen=True, repr=False)
class Conversion(Result):
    """`evalset` has the sentences that were read; of BML, those that `system` has schedules for."""

    presented_by: ClassVar[str] = "wellput.displays.summaries:conversion_summary"

    evalset: EvalSet
    system: str | None = None
    path: PathLike | None = None

    def bml(self) -> str:
        """The schedules of `system` as Behavior Markup Language."""
        return bml_text(of_system(self.evalset, self.system).items, str(self.system))

    def save(self, path: PathLike) -> None:
        """Writes the sentences as an evaluation set; to a file that ends in .bml, the schedules of
        `system` as BML."""
        if not is_bml(path):
            write_evalset(self.evalset, path)
            return
        text = self.bml()
        with replacing_text(path) as file:
            file.write(text)

    def records(self) -> list[dict[str, Any]]:
        """A record for each schedule: its sentence, its system, and how many displays it has."""
        return [
            {"item": item.id, "system": system, "displays": len(output)}
            for item in self.evalset
            for system, output in item.outputs.items()
            if not isinstance(output, str)
        ]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput displays convert`."""
        written_as_bml = self.path is not None and is_bml(self.path)
        systems = [self.system] if written_as_bml else list(self.evalset.systems)
        file = None if self.path is None else str(self.path)
        return {"file": file, "items": len(self.evalset), "systems": systems}


def convert(
    inputs: PathLike | Sequence[PathLike | EvalSource],
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
        evaluation sets; one of them or several.
    words, displays, sentences
        The names of tiers: of the words, of the displays (all others, unless said), of the sentences;
        without a tier of sentences a recording is one sentence.
    system
        The system whose schedules become BML.
    path
        Writes an evaluation set, or BML where it ends in `.bml`.
    seed, threads
        As for every verb; without effect here.

    Returns
    -------
    Conversion
        `evalset` has the sentences; with a system, `bml()` is the text of its schedules.

    Raises
    ------
    InputError
        A file or an annotation in it cannot be used, or there is no such system.

    Examples
    --------
    >>> import wellput
    >>> corpus = wellput.displays.example(n=2).evalset
    >>> wellput.displays.convert([corpus], system="original").bml().count("<bml ")
    2
    """
    given = [inputs] if isinstance(inputs, str | Path) else inputs
    check_files([path], given)
    tiers = listed(displays)
    evalset = EvalSet([item for one in given for item in _items(one, words, tiers, sentences)])
    if path is not None and is_bml(path):
        evalset = of_system(evalset, system)
    made = Conversion(evalset, system, path)
    if path is not None:
        made.save(path)
    return made


def is_bml(path: PathLike) -> bool:
    return str(path).endswith(BML)


def of_system(evalset: EvalSet, system: str | None) -> EvalSet:
    """The sentences that the system has an output for; raises InputError where there is none."""
    if system is None:
        raise InputError(f"Whose schedules? Give system=, one of {', '.join(evalset.systems)}.")
    if system not in evalset.systems:
        raise InputError(
            f"No system {system!r}.{did_you_mean(system, evalset.systems)} There are "
            f"{', '.join(evalset.systems)}."
        )
    return EvalSet([item for item in evalset if system in item.outputs])


def _items(
    given: PathLike | EvalSource, words: str, displays: Sequence[str], sentences: str
) -> Sequence[Item]:
    from wellput.displays.annotations import items_of_tiers
    from wellput.io.openccg import read_testbed
    from wellput.io.tiers import read_tiers

    suffix = "" if isinstance(given, EvalSource) else Path(given).suffix.lower()
    if isinstance(given, EvalSource) or suffix not in (*ANNOTATED, TESTBED):
        return sentences_of(given, trees=True).items
    if suffix == TESTBED:
        return read_testbed(given)
    name = Path(given).stem
    tiers = read_tiers(given)
    return items_of_tiers(tiers, name, words=words, displays=displays, sentences=sentences)
