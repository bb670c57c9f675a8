"""Making the models of `fluency` and `gleu-fluency`: for `wellput train fluency`, and as steps of
`wellput train english`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from wellput.core.errors import InputError
from wellput.language.english_training import Inputs
from wellput.language.fluency_features import FEATURES, english_models
from wellput.language.gleu_features import FEATURES as GLEU_FEATURES
from wellput.language.parsers import ENGLISH, load_parser
from wellput.metrics.fluency_pools import Pools, whole_sentences
from wellput.metrics.fluency_training import graded_texts, train_fluency
from wellput.metrics.gleu_fluency import english_parsers
from wellput.metrics.gleu_training import train_gleu

OnProgress = Callable[[int], None]


def make_fluency(
    pools: Pools,
    path: Path,
    *,
    english: Path | None = None,
    seed: int,
    threads: int,
    on_progress: OnProgress,
) -> dict[str, float]:
    """Writes the model; returns the weights of its features. `english` is the folder with the models
    of English, unless the shipped ones are meant."""
    rng = np.random.default_rng(seed)
    parser = load_parser(ENGLISH if english is None else str(english))
    graded = list(graded_texts(pools.real, pools.source, parser, rng, threads=threads))
    models = english_models(english)
    model = train_fluency(graded, models, threads=threads, on_progress=on_progress)
    weights = dict(zip(FEATURES, model.sums.weights.round(4).tolist(), strict=True))
    card = {"sentences": {kind.name: len(kind.texts) for kind in graded}, "weights": weights}
    model.save(path, card)
    return weights


def make_gleu(
    pools: Pools,
    path: Path,
    *,
    english: Path | None = None,
    seed: int,
    threads: int,
    on_progress: OnProgress,
) -> dict[str, float]:
    """The same for gleu-fluency. Needs the link grammar library."""
    rng = np.random.default_rng(seed)
    parsers = english_parsers(threads, english)
    model = train_gleu(
        pools.real, pools.source, parsers, rng, threads=threads, on_progress=on_progress
    )
    weights = dict(zip(GLEU_FEATURES, model.plane.weights.round(4).tolist(), strict=True))
    model.save(path, {"link grammar": parsers.grammar.version, "weights": weights})
    return weights


def fluency_step(inputs: Inputs, path: Path) -> dict[str, Any]:
    """The step for `fluency.wpm`."""
    return make_fluency(_pools(inputs), path, **_settings(inputs))


def gleu_step(inputs: Inputs, path: Path) -> dict[str, Any]:
    """The step for `gleu-fluency.wpm`."""
    return make_gleu(_pools(inputs), path, **_settings(inputs))


def _settings(inputs: Inputs) -> dict[str, Any]:
    return {
        "english": inputs.folder,
        "seed": inputs.seed,
        "threads": inputs.threads,
        "on_progress": inputs.on_progress,
    }


def _pools(inputs: Inputs) -> Pools:
    real, source = inputs.paths("real"), inputs.paths("source")
    if not (real and source):
        raise InputError(
            "The models of fluency are trained on text that no other model has seen: give real= for "
            "sentences to stay as they are and source= for those to be spoiled, or name the files "
            "without them (only=)."
        )
    return Pools(whole_sentences(real), whole_sentences(source))
