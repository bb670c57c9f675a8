"""Tokenizers by sacreBLEU's names, with sacreBLEU's tokens.

Those that need no model run natively; the others are called through sacreBLEU where it is
installed. As in sacreBLEU's BLEU, trailing whitespace is removed before a text is tokenized, and
tokens never contain whitespace.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, TypeAlias, get_args

from wellput import _native
from wellput.core.errors import InputError, did_you_mean

NativeName: TypeAlias = Literal["13a", "char", "intl", "none", "zh"]
TokenizerName: TypeAlias = Literal[
    "13a", "char", "intl", "none", "zh",
    "flores101", "flores200", "ja-mecab", "ko-mecab", "spBLEU-1K", "spm",
]  # fmt: skip

NATIVE: tuple[NativeName, ...] = get_args(NativeName)
NAMES: tuple[TokenizerName, ...] = get_args(TokenizerName)


def tokenize(text: str, name: TokenizerName = "13a") -> list[str]:
    """The tokens of one text.

    >>> tokenize("It cost 1,000 (more or less).")
    ['It', 'cost', '1,000', '(', 'more', 'or', 'less', ')', '.']
    """
    texts, native = prepare([text], name)
    return _native.tokenize(texts, native, 1)[0]


def prepare(texts: Sequence[str], name: TokenizerName) -> tuple[Sequence[str], NativeName]:
    """What to give a kernel: the texts, and the name of the tokenizer it shall use.

    Texts for a native tokenizer are returned as they are; otherwise they come tokenized, the tokens
    joined by spaces, and the kernel's tokenizer is `none`.
    """
    if name in NATIVE:
        return texts, name
    tokenizer = _of_sacrebleu(name)
    return [tokenizer(text.rstrip()) for text in texts], "none"


def prepare_lists(
    texts: Sequence[Sequence[str]], name: TokenizerName
) -> tuple[Sequence[Sequence[str]], NativeName]:
    """`prepare` for several texts per item."""
    if name in NATIVE:
        return texts, name
    tokenizer = _of_sacrebleu(name)
    return [[tokenizer(text.rstrip()) for text in row] for row in texts], "none"


def signature(name: TokenizerName) -> str:
    """What sacreBLEU writes after `tok:`: the name, or what the model calls itself."""
    return name if name in NATIVE else str(_of_sacrebleu(name).signature())


@cache
def _of_sacrebleu(name: str) -> Any:
    """The tokenizer of sacreBLEU with this name: text to tokens joined by spaces."""
    if name not in NAMES:
        raise InputError(
            f"No tokenizer {name!r}.{did_you_mean(name, NAMES)} There are {', '.join(NAMES)}."
        )
    packages = {"ja-mecab": "'sacrebleu[ja]'", "ko-mecab": "'sacrebleu[ko]'"}.get(
        name, "sacrebleu sentencepiece"
    )
    try:
        from sacrebleu.metrics.bleu import _get_tokenizer

        return _get_tokenizer(name)()
    except (ImportError, RuntimeError) as error:  # sacreBLEU raises RuntimeError without MeCab
        raise InputError(
            f"The tokenizer {name} is called through sacreBLEU: pip install {packages}"
        ) from error
    except OSError as error:
        raise InputError(
            f"sacreBLEU could not load the model of its tokenizer {name}: {error}"
        ) from error
