"""The English models that come with wellput, one file each in the folder `english/`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from wellput.core.errors import InputError

if TYPE_CHECKING:
    from wellput.language.models.ngrams import NgramModel

ENGLISH_FOLDER = Path(__file__).parent / "english"

# The names of the model files. A folder with models of a user's own has files of the same names.
NGRAMS_FILE = "ngrams.wlm"
TAGGER_FILE = "tagger.wpm"
TOKENIZER_FILE = "tokenizer.wpm"
PARSER_FILE = "parser.wpm"
HEAD_DRIVEN_FILE = "head_driven.wpm"  # the parser that gives the probability of a sentence
TREE_MODEL_FILE = "tree.wpm"  # supertags and the tree model that chooses them
REALIZER_FILE = "realizer.wpm"
COMPLETER_FILE = "completer.wpm"  # inflects lemmas and adds missing words before words are ordered
LEARNED_REALIZER_FILE = "learned.wpm"
ORDER_NETWORK_FILE = "order.wpm"
WORDS_FILE = "words.wpm"  # the list of English words
SKELETONS_FILE = "skeletons.wlm"  # n-grams of function words and parts of speech
NETWORK_FILE = "network.wpm"  # the small language model
PARAPHRASE_FILE = "paraphrase.wpm"
LANGUAGE_FILE = "language.wpm"  # the check whether a text is English


def shipped(name: str) -> Path:
    """The path of a shipped model file, such as `tagger.wpm`; raises InputError if it is missing."""
    path = ENGLISH_FOLDER / name
    if not path.is_file():
        raise InputError(
            f"The English model {name} is not in this installation of wellput. Install it again, or "
            "make it from the training texts: wellput train english --help"
        )
    return path


def model_file(name: str, folder: Path | None = None) -> Path:
    """The path of a shipped model file or, with `folder`, of the file with this name in the folder."""
    if folder is None:
        return shipped(name)
    path = folder / name
    if not path.is_file():
        raise InputError(f"{folder} holds no {name}. The English models are in {ENGLISH_FOLDER}.")
    return path


@cache
def english_ngrams() -> NgramModel:
    """The trigram model of English, loaded once.

    Prepare texts for it with `wellput.text.english.treebank_words` and
    `wellput.language.models.english_text.decapitalized`.
    """
    from wellput.language.models.ngram_files import load_model

    return load_model(shipped(NGRAMS_FILE))
