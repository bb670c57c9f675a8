"""γ: how far judges agree on where spans are and on what they are, beyond chance (Mathet, Widlöcher &
Métivier 2015, Computational Linguistics 41(3)).

γ is 1 − observed / expected disorder: 1 is perfect agreement, 0 is chance, below 0 is less than chance.
*Disorder* is how far the judges' spans differ when they are aligned in the best way (`span_alignment`),
divided by the mean number of spans of a judge. A *panel* is a set of texts that the same judges judged,
joined end to end into one line of characters; this is how pygamma-agreement is used on a collection.
With several panels, their disorders are added.

The expected disorder is the mean over random panels (section 5.2 of the paper): each judge is replaced
by one drawn at random, whose spans are all moved along the line by a random distance; what would pass
the end of the line continues at its beginning. At least `MIN_DRAWS` panels are drawn, and as many as
the paper asks for, so that the expected disorder is known to 1% (section 5.3).

The steps of all alignments are limited (`max_steps`). If the alignment of the observed panels shows
that `MIN_DRAWS` random panels would take more steps, γ is not computed from these panels. If that many
can be aligned, but not as many as the paper asks for, as many are drawn as can be aligned.

The interval comes from leaving out units (items, or documents) one by one. When a unit is left out, its
spans are removed from the observed disorder. From the random panels, those spans are removed that come
from this unit, or that start where this unit lies on the line of another judge after it was moved.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wellput.core.clusters import Places
from wellput.core.estimates import Estimate, ratios, undefined
from wellput.core.metric import Floats
from wellput.stats.clusters import ClusteredItems
from wellput.stats.jackknife import WithoutItems, jackknife_interval
from wellput.stats.spans.span_alignment import (
    Effort,
    MarkedSpans,
    TooManyAlignments,
    aligned_disorders,
)

MIN_DRAWS = 30
MAX_DRAWS = 300
"""The fewest and the most random panels that are drawn."""
EXPECTED_DISORDER_PRECISION = 0.01
"""Enough panels are drawn for the relative error of the expected disorder to be this, with 95%
confidence, but not more than `MAX_DRAWS`."""
Z_95 = 1.96
"""Standard errors on either side of the middle of a 95% interval."""
MIN_MAX_STEPS = 200_000_000
MAX_STEPS_PER_SPAN = 20_000
"""γ may take `MIN_MAX_STEPS` steps, or `MAX_STEPS_PER_SPAN` for each span if that is more. This is
about 20 s for up to 10,000 spans."""
STEPS_OF_PIVOT = 50
"""The steps counted for each drawn *pivot*, the distance by which a judge's spans are moved."""
STEPS_OF_MOVED_SPAN = 0.05
"""The steps counted for each span and each pair of judges, besides those of the alignment."""
MAX_PIVOT_TRIES = 100
"""How often a judge's pivot is drawn at most, until it is not too close to another judge's."""


@dataclass(frozen=True, slots=True, eq=False)
class MarkedPanel:
    """The spans of the same judges in several texts: `text_ends` are the ends of the texts on the line
    (cumulative lengths), `text_items` the number of each text's item, from 0 on."""

    spans: MarkedSpans
    text_ends: Floats
    text_items: Places

    @property
    def length(self) -> float:
        return float(self.text_ends[-1])

    def items_at(self, places: Floats) -> Places:
        """The item of the text at each place of the line, in characters."""
        texts = np.searchsorted(self.text_ends, places, "right")
        return self.text_items[np.minimum(texts, len(self.text_items) - 1)]


@dataclass(frozen=True, slots=True)
class Gamma:
    """`estimate` has γ with its interval; `observed` and `expected` are the disorders, divided by the
    mean number of spans of a judge; `draws` counts the random panels, and `n_panels` the panels that
    have spans and were used. `few_draws_error` is the relative error of the expected disorder, with 95%
    confidence, if the limit on steps allowed fewer draws than the precision asks for; else 0."""

    estimate: Estimate
    observed: float
    expected: float
    draws: int
    n_panels: int = 0
    few_draws_error: float = 0.0


def max_steps(n_spans: int) -> int:
    """The steps that γ of so many spans may take."""
    return max(MIN_MAX_STEPS, MAX_STEPS_PER_SPAN * n_spans)


def gamma(
    panels: Sequence[MarkedPanel],
    *,
    clusters: ClusteredItems,
    seed: int = 12345,
    confidence: float = 0.95,
    n_spans: int | None = None,
    can_sample_panels: bool = False,
) -> Gamma:
    """γ of all panels together. `clusters` has the cluster of each item; the interval leaves clusters
    out one by one. `n_spans` is how many spans there are, if the panels have some of them more than
    once. Where aligning all panels would take too many steps, as many panels are used as can be
    aligned, drawn at random, if `can_sample_panels`; otherwise, or if not even one can be aligned,
    TooManyAlignments is raised."""
    marked = [panel for panel in panels if len(panel.spans)]
    if not marked:
        return Gamma(undefined("nothing is marked"), math.nan, math.nan, 0)
    limit = max_steps(sum(len(panel.spans) for panel in marked) if n_spans is None else n_spans)
    aligned = _aligned(marked, limit // (MIN_DRAWS + 1), seed if can_sample_panels else None)
    marked = [marked[place] for place in aligned]
    observed = _Disorders(len(clusters.codes))
    for panel, disorders in zip(marked, aligned.values(), strict=True):
        observed.add(disorders, [panel.items_at(panel.spans.starts)], clusters)
    drawn_sums = [_Disorders(len(clusters.codes)) for _ in marked]
    rates, few_draws_error = _drawn_rates(
        marked, drawn_sums, clusters, np.random.default_rng(seed), limit
    )
    n_spans_of = np.array([len(panel.spans) for panel in marked], float)
    spans_per_judge = sum(len(panel.spans) / panel.spans.n_judges for panel in marked)
    expected = float(rates.mean(axis=0) @ n_spans_of)
    value = 1.0 - observed.total / expected
    by_item = _without(observed, marked, drawn_sums, rates, clusters, by_cluster=False)
    by_cluster = _without(observed, marked, drawn_sums, rates, clusters, by_cluster=True)
    contributes = by_cluster != value  # a cluster without spans changes nothing
    estimate = jackknife_interval(
        WithoutItems(value, by_cluster, contributes),
        freedom=clusters.freedom(by_item, contributes) if contributes.sum() > 1 else 0.0,
        n=len(clusters.codes),
        confidence=confidence,
        bounds=(None, 1.0),
        method="jackknife",
    )
    return Gamma(
        estimate,
        observed.total / spans_per_judge,
        expected / spans_per_judge,
        len(rates),
        len(marked),
        few_draws_error,
    )


def _aligned(
    panels: Sequence[MarkedPanel], steps: int, sampling_seed: int | None
) -> dict[int, Floats]:
    """The disorders of the spans of each panel, by the panel's place in `panels`. If all panels would
    take more than `steps`, TooManyAlignments is raised; but with a `sampling_seed` panels are taken in
    random order, each panel that would take more than the steps still left is omitted, and the error
    is raised only if no panel remains."""
    places = np.arange(len(panels))
    if sampling_seed is not None:
        np.random.default_rng(sampling_seed).shuffle(places)
    effort = Effort(steps)
    aligned: dict[int, Floats] = {}
    for place in places.tolist():
        try:
            effort.spend(_steps_of_moving(panels[place]))
            aligned[place] = aligned_disorders(panels[place].spans, effort)
        except TooManyAlignments:
            if sampling_seed is None:
                raise
    if not aligned and len(panels):
        raise TooManyAlignments
    return dict(sorted(aligned.items()))


def _steps_of_moving(panel: MarkedPanel) -> int:
    """The steps of making a random panel, besides those of its alignment."""
    n, spans = panel.spans.n_judges, panel.spans
    # The line may be too short for pivots that are not too close to each other.
    is_crowded = n * float((spans.ends - spans.starts).mean()) > panel.length
    n_tries = n * (MAX_PIVOT_TRIES if is_crowded else 1)
    return round(STEPS_OF_PIVOT * n_tries + STEPS_OF_MOVED_SPAN * n**2 * len(spans))


class _Disorders:
    """Sums of disorders and numbers of spans: of all spans, and of those that are left out with each
    item (`of_items`) or cluster (`of_clusters`). These arrays have a row of disorders and a row of
    numbers."""

    def __init__(self, n_items: int) -> None:
        self.total = 0.0
        self.n_spans = 0
        self.of_items = np.zeros((2, n_items))
        self.of_clusters = np.zeros((2, n_items))

    def add(self, disorders: Floats, items: Sequence[Places], clusters: ClusteredItems) -> None:
        """Adds spans with their disorders. `items` is one list or several, each with an item for every
        span; a span is left out with each of its items. If several lists have the same item for a span,
        the span counts once for it."""
        self.total += float(disorders.sum())
        self.n_spans += len(disorders)
        for sums, codes in (
            (self.of_items, list(items)),
            (self.of_clusters, [clusters.codes[span_items] for span_items in items]),
        ):
            for n_earlier, span_codes in enumerate(codes):
                is_new = np.ones(len(span_codes), np.bool_)
                for earlier_codes in codes[:n_earlier]:
                    is_new &= span_codes != earlier_codes
                np.add.at(sums[0], span_codes[is_new], disorders[is_new])
                np.add.at(sums[1], span_codes[is_new], 1.0)


def _drawn_rates(
    panels: Sequence[MarkedPanel],
    drawn_sums: Sequence[_Disorders],
    clusters: ClusteredItems,
    rng: np.random.Generator,
    limit: int,
) -> tuple[Floats, float]:
    """The mean disorder of a span in each random panel: draws × panels; and `Gamma.few_draws_error`.
    The sums of the random panels are added to `drawn_sums`. The draws take about `limit` steps at most.
    Raises TooManyAlignments if the first `MIN_DRAWS` would take more than twice this limit."""
    rows: list[list[float]] = []
    n_spans = np.array([len(panel.spans) for panel in panels], float)
    n_draws = MIN_DRAWS
    few_draws_error = 0.0
    effort = Effort(2 * limit)
    while len(rows) < n_draws:
        row = []
        for panel, sums in zip(panels, drawn_sums, strict=True):
            spans, items = random_panel(panel, rng)
            effort.spend(_steps_of_moving(panel))
            disorders = aligned_disorders(spans, effort)
            sums.add(disorders, items, clusters)
            row.append(float(disorders.mean()))
        rows.append(row)
        if len(rows) == MIN_DRAWS:
            totals = np.array(rows) @ n_spans
            variation = float(totals.std() / totals.mean())
            n_for_precision = math.ceil((variation * Z_95 / EXPECTED_DISORDER_PRECISION) ** 2)
            n_draws = min(max(n_draws, n_for_precision), MAX_DRAWS)
            n_affordable = max(MIN_DRAWS, limit * MIN_DRAWS // effort.steps)
            if n_draws > n_affordable:
                n_draws = n_affordable
                few_draws_error = variation * Z_95 / math.sqrt(n_draws)
            effort = Effort(sys.maxsize)  # from here on, `n_draws` is the limit
    return np.array(rows), few_draws_error


def random_panel(panel: MarkedPanel, rng: np.random.Generator) -> tuple[MarkedSpans, list[Places]]:
    """A random panel, and a list for each judge: the item at which every span of the panel starts on
    this judge's line, when the whole line (texts and spans) is moved by the judge's pivot. For the
    span's own judge, this is the item that the span comes from."""
    spans, length = panel.spans, panel.length
    n = spans.n_judges
    min_distance = float((spans.ends - spans.starts).mean()) / 2
    while True:
        drawn = rng.integers(0, n, n)
        pivots = _pivots(length, n, min_distance, rng)
        places_by_judge = [np.flatnonzero(spans.judges == judge) for judge in drawn]
        places = np.concatenate(places_by_judge)
        if len(places):  # otherwise no drawn judge has a span
            break
    judges = np.repeat(np.arange(n), [len(judge_places) for judge_places in places_by_judge])
    moved = spans.starts[places] + pivots[judges]
    wrapped_by = np.where(moved > length, length, 0.0)
    # `moved - pivots[judge]` is the place on this judge's line as it was before it was moved.
    items = [panel.items_at((moved - pivots[judge]) % length) for judge in range(n)]
    random = MarkedSpans(
        judges,
        moved - wrapped_by,
        spans.ends[places] + pivots[judges] - wrapped_by,
        spans.categories[places],
        n,
    )
    return random, items


def _pivots(length: float, n: int, min_distance: float, rng: np.random.Generator) -> Floats:
    """How far the spans of each judge are moved, in characters. If possible, two pivots differ by at
    least `min_distance` (half the mean length of a span), also across the end of the line."""
    pivots = np.zeros(n)
    for place in range(n):
        for _ in range(MAX_PIVOT_TRIES):
            pivots[place] = rng.integers(0, max(int(length), 1))
            gaps = np.abs(pivots[:place] - pivots[place])
            if (np.minimum(gaps, length - gaps) >= min_distance).all():
                break
    return pivots


def _without(
    observed: _Disorders,
    panels: Sequence[MarkedPanel],
    drawn_sums: Sequence[_Disorders],
    rates: Floats,
    clusters: ClusteredItems,
    *,
    by_cluster: bool,
) -> Floats:
    """γ without each item or, with `by_cluster`, without each cluster. `drawn_sums` and `rates`
    are those of `_drawn_rates`."""
    n_items = len(clusters.codes)
    n = len(clusters.sizes) if by_cluster else n_items
    observed_of_unit = (observed.of_clusters if by_cluster else observed.of_items)[:, :n]
    expected = np.zeros(n)
    for place, (panel, sums) in enumerate(zip(panels, drawn_sums, strict=True)):
        items = panel.items_at(panel.spans.starts)
        n_spans_left = len(panel.spans) - np.bincount(
            clusters.codes[items] if by_cluster else items, minlength=n
        )
        drawn_of_unit = (sums.of_clusters if by_cluster else sums.of_items)[:, :n]
        n_drawn_left = sums.n_spans - drawn_of_unit[1]
        # Scaled so that with all spans it would be the mean of the draws' rates.
        rate = ratios(sums.total - drawn_of_unit[0], n_drawn_left)
        expected += (
            n_spans_left
            * np.nan_to_num(rate)
            * float(rates[:, place].mean())
            * sums.n_spans
            / sums.total
        )
    return 1.0 - ratios(observed.total - observed_of_unit[0], expected)
