"""`train.tree`: a tree model from a treebank."""

from __future__ import annotations

from wellput.api.treebanks import Treebanks, tree_list, trees_in
from wellput.core.errors import InputError
from wellput.core.progress import OnPhase, unheard_phase
from wellput.io.files import PathLike
from wellput.io.output import check_files
from wellput.reporting.training import TreeTraining


def tree(
    trees: Treebanks,
    *,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = unheard_phase,
) -> TreeTraining:
    """Trains a tree model: supertags for the words of unordered trees. The same trees give the same
    model.

    Parameters
    ----------
    trees
        Files of dependency trees in CoNLL-U with relations and parts of speech, or `Tree`s.
    path
        Writes the model, `.wpm`.
    seed, threads
        As for every verb; without effect here.
    on_phase
        As for `score`.

    Returns
    -------
    TreeTraining
        `model` is the model, `save("tree.wpm")` writes it.

    Raises
    ------
    InputError
        A file cannot be read, or there is nothing to learn from.

    Examples
    --------
    >>> import wellput
    >>> dog = wellput.Word("dogs", 2, relation="nsubj", xpos="NNS")
    >>> tree = wellput.Tree((dog, wellput.Word("bark", 0, relation="root", xpos="VBP")))
    >>> wellput.train.tree([tree, tree]).to_dict()["supertags"]
    2
    """
    from wellput.io.model_files import SUFFIX
    from wellput.language.tree_training import train_tree_model

    given = tree_list(trees)
    if path is not None and not str(path).endswith(SUFFIX):
        raise InputError(f"A tree model is a file with the suffix {SUFFIX}, not {path}.")
    check_files([path], given)
    found = trees_in(given)
    made = TreeTraining(train_tree_model(found, on_progress=on_phase("counting trees")))
    if path is not None:
        made.save(path)
    return made
