"""Tokenizers by name: those of sacreBLEU, which give the same tokens as in sacreBLEU, and those of
other packages.

sacreBLEU's tokenizers without a model are implemented in C++ (*native*); for the others sacreBLEU
must be installed. Other packages add tokenizers by the entry-point group `wellput.tokenizers`: a
function from a text to the list of its tokens, or a class without arguments whose objects are such
functions and may have a `signature`. As in sacreBLEU's BLEU, trailing white space is removed before a
text is tokenized, and tokens never contain white space.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Annotated, Any, Literal, TypeAlias, TypeGuard, get_args

from wellput import _native
from wellput.core.errors import InputError, did_you_mean
from wellput.core.registries import plugin_object, plugins

GROUP = "wellput.tokenizers"

NativeName: TypeAlias = Literal["13a", "char", "intl", "none", "zh"]

NATIVE_TOKENIZERS: tuple[NativeName, ...] = get_args(NativeName)
SACREBLEU_MODEL_TOKENIZERS = ("flores101", "flores200", "ja-mecab", "ko-mecab", "spBLEU-1K", "spm")
"""sacreBLEU's tokenizers that need a model."""

MAX_CACHED_TEXTS = 1 << 16
"""The number of texts whose tokens are cached, as in sacreBLEU, because all systems have the same
references."""


@dataclass(frozen=True)
class PythonTokenizer:
    """A tokenizer in Python."""

    joined: Callable[[str], str]
    """Turns a text into its tokens, joined by spaces."""

    signature: str


def is_native(name: str) -> TypeGuard[NativeName]:
    """Whether this tokenizer is implemented in C++."""
    return name in NATIVE_TOKENIZERS


def check_name(name: str) -> None:
    """Raises InputError if no tokenizer has this name."""
    if not is_native(name) and name not in SACREBLEU_MODEL_TOKENIZERS:
        _of_a_package(name)


TokenizerName: TypeAlias = Annotated[str, check_name]
"""The type of a metric's option `tokenize`; the registry of metrics calls the check."""


def tokenizer_names() -> list[str]:
    """The names of all tokenizers, built in or from other packages."""
    return list(dict.fromkeys([*NATIVE_TOKENIZERS, *SACREBLEU_MODEL_TOKENIZERS, *plugins(GROUP)]))


def tokenize(text: str, name: str = "13a") -> list[str]:
    """The tokens of one text.

    >>> tokenize("It cost 1,000 (more or less).")
    ['It', 'cost', '1,000', '(', 'more', 'or', 'less', ')', '.']
    """
    texts, native = with_native_tokenizer([text], name)
    return _native.tokenize(texts, native, 1)[0]


def with_native_tokenizer(texts: Sequence[str], name: str) -> tuple[Sequence[str], NativeName]:
    """Texts and the name of a native tokenizer, as the C++ functions of metrics need them.

    For a native tokenizer the texts are unchanged. Otherwise they are tokenized here, with tokens
    joined by spaces, and the name is `none`.
    """
    if is_native(name):
        return texts, name
    joined = _in_python(name).joined
    return [joined(text.rstrip()) for text in texts], "none"


def lists_with_native_tokenizer(
    texts: Sequence[Sequence[str]], name: str
) -> tuple[Sequence[Sequence[str]], NativeName]:
    """Like `with_native_tokenizer`, for several texts of each item."""
    if is_native(name):
        return texts, name
    joined = _in_python(name).joined
    return [[joined(text.rstrip()) for text in row] for row in texts], "none"


def tokenizer_signature(name: str) -> str:
    """The text after `tok:` in a metric's signature: the name; the signature of sacreBLEU's tokenizer;
    or the name of another package's tokenizer with its signature, if it has one."""
    return name if is_native(name) else _in_python(name).signature


def _in_python(name: str) -> PythonTokenizer:
    return _of_sacrebleu(name) if name in SACREBLEU_MODEL_TOKENIZERS else _of_a_package(name)


@cache
def _of_sacrebleu(name: str) -> PythonTokenizer:
    """A tokenizer of sacreBLEU that needs a model."""
    packages = {"ja-mecab": "'sacrebleu[ja]'", "ko-mecab": "'sacrebleu[ko]'"}.get(
        name, "sacrebleu sentencepiece"
    )
    try:
        from sacrebleu.metrics.bleu import _get_tokenizer

        tokenizer = _get_tokenizer(name)()
    except (ImportError, RuntimeError) as error:  # sacreBLEU raises RuntimeError without MeCab
        raise InputError(f"The tokenizer {name} needs sacreBLEU: pip install {packages}") from error
    except OSError as error:
        raise InputError(
            f"sacreBLEU could not load the model of its tokenizer {name}: {error}"
        ) from error
    return PythonTokenizer(tokenizer, str(tokenizer.signature()))


@cache
def _of_a_package(name: str) -> PythonTokenizer:
    """A tokenizer of another package; raises InputError for an unknown name."""
    point = plugins(GROUP).get(name)
    if point is None:
        known = tokenizer_names()
        raise InputError(
            f"No tokenizer {name!r}.{did_you_mean(name, known)} The tokenizers are {', '.join(known)}."
        )
    tokenizer = plugin_object(point)
    if not callable(tokenizer):
        raise InputError(
            f"The tokenizer {name} must be a function from a text to the list of its tokens, not "
            f"{type(tokenizer).__name__}."
        )
    attribute = getattr(tokenizer, "signature", "")
    signature = str(attribute() if callable(attribute) else attribute)
    return PythonTokenizer(
        lru_cache(MAX_CACHED_TEXTS)(lambda text: _joined(name, tokenizer(text), text)),
        f"{name}-{signature}" if signature else name,
    )


def _joined(name: str, tokens: Any, text: str) -> str:
    """The tokens joined by spaces; raises InputError if a token is empty or contains white space."""
    if not isinstance(tokens, list | tuple):
        what = f"returned {type(tokens).__name__}"
    elif others := [token for token in tokens if not isinstance(token, str)]:
        what = f"returned {others[0]!r} among the tokens"
    elif bad := [token for token in tokens if token.split() != [token]]:
        what = f"made the token {bad[0]!r}"
    else:
        return " ".join(tokens)
    shown = repr(f"{text[:60]}…" if len(text) > 60 else text)
    raise InputError(
        f"The tokenizer {name} {what} for {shown}. It must return a list of texts that are not empty "
        "and contain no white space."
    )
