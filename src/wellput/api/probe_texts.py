"""The texts with which metrics are probed, as an evalset. The outputs of the system `unchanged` are the
texts; every other system has one variant of them, named by the kind of change and its severity
(`negation/critical`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from wellput.agreement.probing import UNCHANGED
from wellput.api.inputs import Columns, Items, Sentences, open_source, refuse_sentence
from wellput.core.errors import InputError, counted, did_you_mean
from wellput.core.evalset import EvalSet, Item
from wellput.core.source import EvalSource
from wellput.core.tree import Tree
from wellput.core.work import OnPhase
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.minimal_pairs import MinimalPair, has_minimal_pairs, read_minimal_pairs
from wellput.language.models.language_check import not_english_sentence, shipped_check
from wellput.language.perturb.catalog import (
    PERTURBATIONS,
    SEVERITIES,
    KindAndSeverity,
    Perturbation,
    perturbed,
)

ProbeCorpus: TypeAlias = Items | Sentences
"""An evalset or its path; or sentences in a list, or a text file with one on each line."""
TEXT_SUFFIXES = (".txt", ".text", "")


@dataclass(frozen=True)
class ProbeTexts:
    """The evalset, and notes on where its texts come from."""

    evalset: EvalSet
    notes: tuple[str, ...] = ()

    @property
    def variants(self) -> list[KindAndSeverity]:
        """The kinds of change with their severities, in the order in which they are shown."""
        variants_of_systems = [
            KindAndSeverity.of(name) for name in self.evalset.systems if name != UNCHANGED
        ]
        return sorted(variants_of_systems, key=_place)


def corpus_items(
    corpus: ProbeCorpus | None, column: Columns, system: str | None
) -> tuple[list[Item], str]:
    """Items whose only output is the text to change, and a sentence that says which text was taken."""
    if corpus is None:
        from wellput.example.harbor import harbor_example

        corpus = harbor_example()
    is_lines = isinstance(corpus, str | Path) and InputFile(corpus).suffix in TEXT_SUFFIXES
    if is_lines and not Path(str(corpus)).is_dir():
        assert isinstance(corpus, str | Path)
        refuse_sentence(corpus)
        file = InputFile(corpus)
        check_readable(file)
        return _sentences([line for line in file.lines() if line.strip()], column, system)
    if not isinstance(corpus, str | Path | EvalSource):
        return _sentences(list(corpus), column, system)
    source = open_source(corpus, column)
    return _chosen_texts([item for block in source.blocks() for item in block], system)


def _sentences(texts: Sequence[str], column: Columns, system: str | None) -> tuple[list[Item], str]:
    """As `corpus_items`, for a list of sentences."""
    if column or system is not None:
        raise InputError("column= and system= are for an evalset; these are sentences.")
    if wrong := [text for text in texts if not isinstance(text, str)]:
        raise InputError(f"A sentence must be a text; {wrong[0]!r:.60} is not.")
    items = [
        Item(str(number), {UNCHANGED: text}, references=(text,))
        for number, text in enumerate(texts, start=1)
    ]
    return (
        items,
        "Each sentence is its own reference: a perfect text, with which any change is compared.",
    )


def _chosen_texts(items: Sequence[Item], system: str | None) -> tuple[list[Item], str]:
    """Items with the text to change: of the system named, or by the default of `probe`."""
    systems = list(dict.fromkeys(name for item in items for name in item.outputs))
    if system is not None and system not in systems:
        raise InputError(
            f"system={system!r} has no outputs.{did_you_mean(system, systems)} The systems are "
            f"{', '.join(systems) or 'none'}."
        )
    if system is None and items and all(len(item.references) > 1 for item in items):
        items_to_change = [_with_text(item, item.references[1], 1) for item in items]
        return (
            items_to_change,
            "The second reference of an item is changed; the others are its references.",
        )
    if system is None and not systems:
        items_to_change = [
            _with_text(item, item.references[0]) for item in items if item.references
        ]
        return (
            items_to_change,
            "Each reference is changed and is its own reference, a perfect text.",
        )
    changed_system = systems[0] if system is None else system
    items_to_change = [
        _with_text(item, text)
        for item in items
        if isinstance(text := item.outputs.get(changed_system), str)
    ]
    return items_to_change, f"The outputs of {changed_system} are changed; system= names another."


def _with_text(item: Item, text: str, left_out: int | None = None) -> Item:
    """The item with this text as its only output. `left_out` is the place of the reference, from 0,
    that is left out because it is the text."""

    def without_left_out(values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(value for place, value in enumerate(values) if place != left_out)

    trees: tuple[Tree | None, ...] = tuple(
        tree for place, tree in enumerate(item.trees) if place != left_out
    )
    return Item(
        item.id,
        {UNCHANGED: text},
        references=without_left_out(item.references),
        trees=trees,
        source=item.source,
        document=item.document,
    )


def perturbed_texts(
    items: Sequence[Item],
    perturbations: Sequence[Perturbation],
    *,
    n: int,
    seed: int,
    threads: int,
    on_phase: OnPhase,
) -> tuple[EvalSet, str]:
    """At most n of the items, drawn at random, with the variants of their texts as outputs; and a
    sentence on texts that are left out because they are not English prose, empty if there are none."""
    usable = [item for item in items if str(item.outputs[UNCHANGED]).strip()]
    if not usable:
        raise InputError("The corpus has no text to change.")
    if len(usable) > n:
        rng = np.random.default_rng(seed)
        usable = [usable[place] for place in sorted(rng.choice(len(usable), n, replace=False))]
    usable, note = _of_english(usable)
    texts = [str(item.outputs[UNCHANGED]) for item in usable]
    on_progress = on_phase("changing texts", len(usable))
    variants_by_text = perturbed(
        texts,
        perturbations,
        sources=[item.source or "" for item in usable],
        seed=seed,
        threads=threads,
        on_progress=on_progress,
    )
    changed = [
        item._replace(outputs={**item.outputs, **{str(v): text for v, text in variants.items()}})
        for item, variants in zip(usable, variants_by_text, strict=True)
    ]
    order = [str(variant) for perturbation in perturbations for variant in perturbation.variants]
    names_in_use = {name for item in changed for name in item.outputs}
    systems = [UNCHANGED, *(name for name in order if name in names_in_use)]
    if len(systems) == 1:
        raise InputError("None of the changes could be made in these texts.")
    return EvalSet(changed, systems=systems), note


def _of_english(items: Sequence[Item]) -> tuple[list[Item], str]:
    """The items whose text is English prose, because the changes are made for English; and a sentence
    on the items that are left out."""
    check = shipped_check()
    reasons = [check.read(str(item.outputs[UNCHANGED])).reason for item in items]
    note = not_english_sentence(
        Counter(reason for reason in reasons if reason is not None),
        "text",
        (" and is left out", " and are left out"),
        total=len(items),
    )
    english_items = [item for item, reason in zip(items, reasons, strict=True) if reason is None]
    if not english_items:
        # The part of the note after the colon has the reasons.
        raise InputError(
            f"No text of the corpus is English prose: {note.rpartition(': ')[2]} Only English texts "
            "can be changed; for another language give pairs of your own, dataset=."
        )
    return english_items, note


def dataset_texts(paths: Sequence[PathLike], chosen: Sequence[str]) -> ProbeTexts:
    """The texts of files of minimal pairs, or of evalsets that `write=` made."""
    pairs: list[MinimalPair] = []
    for path in paths:
        if (evalset := _written_texts(path)) is not None:
            if len(paths) > 1:
                raise InputError(f"{path} is an evalset of changed texts: give it alone.")
            return ProbeTexts(_only(evalset, chosen))
        pairs += read_minimal_pairs(path)
    kinds = list(dict.fromkeys(pair.perturbation for pair in pairs))
    _check_known(chosen, kinds)
    chosen_pairs = [pair for pair in pairs if not chosen or pair.perturbation in chosen]
    n_equal = sum(pair.better == pair.worse for pair in chosen_pairs)
    items: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    for pair in chosen_pairs:
        if pair.better == pair.worse:
            continue
        name = str(KindAndSeverity(pair.perturbation, pair.severity))
        # A new item has one changed text of each variant; a further text of the same variant begins
        # another item.
        rows = items.setdefault((pair.source, pair.reference, pair.better), [{}])
        row = next((row for row in rows if name not in row), None)
        if row is None:
            row = {}
            rows.append(row)
        row[name] = pair.worse
    order = sorted(
        dict.fromkeys(KindAndSeverity(pair.perturbation, pair.severity) for pair in chosen_pairs),
        key=_place,
    )
    new_items = [
        Item(
            str(number),
            {UNCHANGED: better, **row},
            references=(reference,) if reference else (),
            source=source or None,
        )
        for number, ((source, reference, better), row) in enumerate(
            ((key, row) for key, rows in items.items() for row in rows), start=1
        )
    ]
    if not new_items:
        raise InputError("The files have no pair whose texts differ.")
    names_in_use = {name for item in new_items for name in item.outputs}
    systems = [UNCHANGED, *(str(variant) for variant in order if str(variant) in names_in_use)]
    notes = (
        [f"{counted(n_equal, 'pair')} of equal texts {'is' if n_equal == 1 else 'are'} left out."]
        if n_equal
        else []
    )
    return ProbeTexts(EvalSet(new_items, systems=systems), tuple(notes))


def _place(variant: KindAndSeverity) -> tuple[int, int]:
    """The sort key of a variant: kinds of wellput's catalog come first, in its order; then other
    kinds, by severity."""
    severities: tuple[str, ...] = SEVERITIES
    severity = (
        severities.index(variant.severity) if variant.severity in severities else len(severities)
    )
    kinds = list(PERTURBATIONS)
    return (
        (kinds.index(variant.kind), severity) if variant.kind in kinds else (len(kinds), severity)
    )


def _written_texts(path: PathLike) -> EvalSet | None:
    """The evalset of changed texts, if `probe(write=…)` made this file; None if it has minimal
    pairs."""
    if Path(path).is_dir() or InputFile(path).suffix == ".json":
        return None
    from wellput.io import read_evalset

    try:
        evalset = read_evalset(path)
    except InputError:
        return None
    if UNCHANGED in evalset.systems:
        return evalset
    if has_minimal_pairs(path):
        return None
    raise InputError(
        f"{path} is an evalset of systems, and has no minimal pairs: give it as the corpus instead of "
        "dataset=."
    )


def _only(evalset: EvalSet, chosen: Sequence[str]) -> EvalSet:
    """The evalset with only the chosen kinds of change; with all kinds if none is chosen."""
    variant_of_system = {
        name: KindAndSeverity.of(name) for name in evalset.systems if name != UNCHANGED
    }
    if wrong := [name for name, variant in variant_of_system.items() if not variant.kind]:
        raise InputError(
            f"The systems of changed texts are called KIND/SEVERITY, such as negation/critical; "
            f"{wrong[0]!r} is not."
        )
    _check_known(
        chosen, list(dict.fromkeys(variant.kind for variant in variant_of_system.values()))
    )
    variants = [
        variant for variant in variant_of_system.values() if not chosen or variant.kind in chosen
    ]
    systems = [UNCHANGED, *map(str, sorted(variants, key=_place))]
    items = [
        item._replace(
            outputs={name: text for name, text in item.outputs.items() if name in systems}
        )
        for item in evalset
    ]
    return EvalSet(items, systems=systems)


def _check_known(chosen: Sequence[str], known: Sequence[str]) -> None:
    for name in chosen:
        if name not in known:
            raise InputError(
                f"The dataset has no perturbation {name!r}.{did_you_mean(name, known)} It has "
                f"{', '.join(known)}."
            )
