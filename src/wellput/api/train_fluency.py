"""`train.fluency`: the fluency metrics fitted to text of one's own kind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wellput.core.cores import available_cores
from wellput.core.errors import InputError
from wellput.core.progress import OnPhase, unheard_phase
from wellput.io.files import PathLike
from wellput.reporting.training import FluencyTraining


def fluency(
    *,
    text: PathLike | Sequence[PathLike],
    path: PathLike,
    gleu: bool | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = unheard_phase,
) -> FluencyTraining:
    """Fits `fluency` and `gleu-fluency` to text. Half of it stays as it is; from the other half worse
    sentences are made whose quality is known by construction. No judgments are needed. The models of
    English stay the shipped ones.

    Parameters
    ----------
    text
        Real text: a file, a folder or a tar archive of `.txt`, or several.
    path
        A folder for the models, which is made unless it is there; `fluency:model=FOLDER` uses them.
    gleu
        Whether to train `gleu-fluency`, too; unless said, if the link grammar library is there.
    seed, threads, on_phase
        As for `score`; the seed is that of the sentences that are made.

    Returns
    -------
    FluencyTraining
        `weights` of the features, by file.

    Raises
    ------
    InputError
        There is too little text.

    Examples
    --------
    >>> import wellput
    >>> wellput.train.fluency(text="nowhere.txt", path="my-fluency")
    Traceback (most recent call last):
      ...
    wellput.core.errors.InputError: No such file or folder: nowhere.txt.
    """
    from wellput.language.link_grammar import is_installed
    from wellput.metrics import fluency as fluency_metric
    from wellput.metrics import gleu_fluency
    from wellput.metrics.fluency_pools import split_text
    from wellput.metrics.fluency_steps import make_fluency, make_gleu

    texts = [Path(one) for one in ([text] if isinstance(text, str | Path) else text)]
    if missing := [str(one) for one in texts if not one.exists()]:
        raise InputError(f"No such file or folder: {', '.join(missing)}.")
    pools = split_text(texts, on_progress=on_phase("reading sentences"))
    folder = Path(path)
    folder.mkdir(exist_ok=True)
    makers = {fluency_metric.FILE: make_fluency}
    if is_installed() if gleu is None else gleu:
        makers[gleu_fluency.FILE] = make_gleu
    weights = {
        file: make(
            pools,
            folder / file,
            seed=seed,
            threads=threads or available_cores(),
            on_progress=on_phase("weighing sentences"),
        )
        for file, make in makers.items()
    }
    return FluencyTraining(folder, weights, len(pools.real), len(pools.source))
