"""Panels ready for analysis: chosen questions, without excluded judgments, judges on a common scale.

Judges may be put on a common scale only where they rated enough of the same systems. A scale that gives
each judge's ratings the same mean removes part of the difference between two systems if these had
different judges. `kept_share` computes from the design how much of it stays: 1 where every judge rated
all systems equally often, 0 where some systems share no judge with the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from wellput.agreement.exclusions import exclusions_of_unknown, known_answers, refuse_idle
from wellput.agreement.judges import outlying_judges
from wellput.agreement.panel import Exclusion, KnownNames, Normalization, Panel, normalized, panels
from wellput.core.errors import InputError, counted, did_you_mean
from wellput.core.judgment import Judgment
from wellput.core.metric import Floats

if TYPE_CHECKING:
    from wellput.agreement.analysis import AgreementOptions


MIN_KEPT_SHARE = 0.75
"""If `kept_share` is below this, judges keep their own scales by default. In simulated crowds whose
outputs have standard deviation 1, z-scores help from a share of about 0.6 on if the judges' severity
has standard deviation 0.5, and from 0.85 on if it has less."""


def kept_share(counts: Floats) -> float:
    """The smallest share of a difference between systems, or groups of systems, that stays when every
    judge's mean is subtracted from their ratings; `counts` are numbers of ratings, judges × systems.

    It is the smallest canonical efficiency factor of the design (James & Wilkinson 1971).

    >>> kept_share(np.array([[5.0, 5.0], [5.0, 5.0]])), kept_share(np.array([[5.0, 0.0], [0.0, 5.0]]))
    (1.0, 0.0)
    """
    counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
    n_systems = counts.shape[1]
    if n_systems < 2:
        return 1.0
    of_system, of_judge = counts.sum(axis=0), counts.sum(axis=1)
    scaled = counts / np.sqrt(np.outer(of_judge, of_system))
    # The largest singular value, 1, belongs to the overall mean; the second gives the share lost.
    lost = np.linalg.svd(scaled, compute_uv=False)
    return float(round(1 - lost[1] ** 2, 9)) if len(lost) > 1 else 1.0


def default_normalization(panel: Panel) -> tuple[Normalization, str]:
    """The normalization used by default, and the reason if it is not `z`."""
    if panel.n_judges < 2:
        return "none", ""
    kept = kept_share(panel.counts)
    if kept >= MIN_KEPT_SHARE:
        return "z", ""
    return "none", (
        f"{panel.question}: judges rated different systems{_of_one_system(panel)}, so they keep their "
        f"own scales: z would leave {_share_in_words(kept)} of a difference between systems."
    )


def normalization_warning(panel: Panel, normalization: Normalization) -> str:
    """A warning about a normalization that was asked for; empty where it is harmless."""
    if normalization == "none" or panel.n_judges < 2:
        return ""
    kept = kept_share(panel.counts)
    if kept >= MIN_KEPT_SHARE:
        return ""
    return (
        f"{panel.question}: judges rated different systems{_of_one_system(panel)}, so {normalization} "
        f"leaves {_share_in_words(kept)} of a difference between systems. Use normalize='none'."
    )


def _share_in_words(kept: float) -> str:
    return "nothing" if kept < 0.005 else f"only {100 * kept:.0f}%"


def _of_one_system(panel: Panel) -> str:
    rated = (panel.counts > 0).sum(axis=1)
    alone = int((rated == 1).sum())
    if not alone:
        return ""
    return f" ({alone} of {counted(int((rated > 0).sum()), 'judge')} rated one system only)"


Panels = dict[str, Panel]
YES_NO_NOTE = "yes and no count 1 and 0 for every judge; they are never normalized."


def prepared_panels(
    judgments: Sequence[Judgment],
    systems: Sequence[str],
    items: Sequence[str],
    options: AgreementOptions,
) -> tuple[Panels, Panels]:
    """The panels by question, without excluded judgments: once with ratings as given, and once on a
    common scale."""
    known = KnownNames(set(systems), set(items))
    kept, left_out = known_answers(judgments, options.exclusions, known)
    raw = _chosen(panels(kept, systems, items), options.questions)
    others = exclusions_of_unknown(options.exclusions, known)
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
    if panel.is_yes_no:
        is_asked = options.normalization not in (None, "none")
        note = f"{panel.question}: {YES_NO_NOTE}" if is_asked or panel.n_judges > 1 else ""
        return replace(panel, note=note)
    if options.normalization is not None:
        note = normalization_warning(panel, options.normalization)
        return replace(normalized(panel, options.normalization), note=note)
    chosen, note = default_normalization(panel)
    return replace(normalized(panel, chosen), note=note)
