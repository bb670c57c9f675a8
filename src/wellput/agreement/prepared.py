"""Panels ready for analysis: the questions asked for, exclusions taken out, judges on one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from wellput.agreement.comparable import default_normalization, warning
from wellput.agreement.exclusions import known_answers, of_others, refuse_idle
from wellput.agreement.judges import outlying_judges
from wellput.agreement.known_names import KnownNames
from wellput.agreement.panel import Exclusion, Panel, normalized, panels
from wellput.core.errors import InputError, did_you_mean
from wellput.core.judgment import Judgment

if TYPE_CHECKING:
    from wellput.agreement.analysis import AgreementOptions

Panels = dict[str, Panel]


def prepared_panels(
    judgments: Sequence[Judgment],
    systems: Sequence[str],
    items: Sequence[str],
    options: AgreementOptions,
) -> tuple[Panels, Panels]:
    """One panel a question, without what is excluded: the ratings as given, and on a common scale."""
    known = KnownNames(set(systems), set(items))
    kept, left_out = known_answers(judgments, options.exclusions, known)
    raw = _chosen(panels(kept, systems, items), options.questions)
    others = of_others(options.exclusions, known)
    _refuse_idle(raw, [one for one in options.exclusions if one not in others])
    raw = {
        name: replace(panel, excluded=tuple(one for one in left_out if one.question == name))
        for name, panel in raw.items()
    }
    raw = {name: _without(panel, options) for name, panel in raw.items()}
    ready = {name: _normalized(panel, options) for name, panel in raw.items()}
    for panel in ready.values():
        panel.refuse_empty()
    return raw, ready


def _chosen(found: dict[str, Panel], questions: Sequence[str]) -> dict[str, Panel]:
    unknown = [question for question in questions if question not in found]
    if unknown:
        raise InputError(
            f"Nobody was asked {unknown[0]!r}.{did_you_mean(unknown[0], list(found))} "
            f"The questions are {', '.join(found)}."
        )
    return {name: panel for name, panel in found.items() if not questions or name in questions}


def _without(panel: Panel, options: AgreementOptions) -> Panel:
    for exclusion in options.exclusions:
        if exclusion.question in ("", panel.question) and panel.has(exclusion):
            panel = panel.without(replace(exclusion, question=panel.question))
    if options.judges_below is not None and len(panel.judges) > 2:
        for exclusion in outlying_judges(panel, below=options.judges_below):
            panel = panel.without(exclusion)
    return panel


def _refuse_idle(found: Mapping[str, Panel], exclusions: Sequence[Exclusion]) -> None:
    for exclusion in exclusions:
        if not any(panel.has(exclusion) for panel in found.values()):
            refuse_idle(exclusion)


def _normalized(panel: Panel, options: AgreementOptions) -> Panel:
    if options.normalization is not None:
        note = warning(panel, options.normalization)
        return replace(normalized(panel, options.normalization), note=note)
    chosen, note = default_normalization(panel)
    return replace(normalized(panel, chosen), note=note)
