"""Sentences that say whether more documents, more items or more samples (outputs of a system for the
same item) would make scores more certain."""

from __future__ import annotations

import math

import numpy as np

from wellput.engine.result import ScoreResult


def error_sentences(result: ScoreResult) -> list[str]:
    """A sentence for each metric: the shares of documents, items and samples in the variance of its
    error, and how much smaller the error would be with twice as much data."""
    unit = "cluster" if result.clusters is None else result.clusters.unit
    sentences = []
    for metric in result.metrics:
        sources = [source for source in result.error_sources if source.metric == metric]
        shares = [source.parts.shares() for source in sources if source.parts.total > 0]
        names = [name for name in ("cluster", "item", "sample") if any(name in s for s in shares)]
        if len(names) < 2:
            continue
        mean = {name: float(np.mean([share.get(name, 0.0) for share in shares])) for name in names}
        words = {"cluster": f"{unit}s", "item": "items", "sample": "samples"}
        parts = ", ".join(f"{mean[name]:.0%} {words[name]}" for name in names)
        figures = "differences" if sources[0].baseline is not None else "scores"
        # Twice the items also means twice the samples, so all parts from `place` on are halved.
        gains = "; ".join(
            f"twice the {words[name] if place == 0 else _units_within(words, names, place)}: "
            f"{_gain(mean, names[place:])}"
            for place, name in enumerate(names)
        )
        sentences.append(
            f"Error variance of {figures} under {metric}: {parts}. Error with {gains}."
        )
    return sentences


def _units_within(words: dict[str, str], names: list[str], place: int) -> str:
    """What would be doubled, in words, such as `items in each document`."""
    return f"{words[names[place]]} in each {words[names[place - 1]].removesuffix('s')}"


def _gain(shares: dict[str, float], halved: list[str]) -> str:
    """How much smaller the standard error would be if the parts `halved` of its variance were halved;
    `shares` are the parts' shares in the variance.

    >>> _gain({"item": 1.0, "sample": 0.0}, ["item", "sample"])
    '−29%'
    """
    variance_share = 1 - sum(shares[name] for name in halved) / 2
    return f"−{1 - math.sqrt(variance_share):.0%}"
