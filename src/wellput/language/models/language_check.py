"""`LanguageCheck`: whether a text is English prose, which the models of English can judge.

`read` finds the prose of a text and, if there is none that is English, the reason why:

- *no words*: there are no letters;
- *code or markup*: no prose is left without code, tags and formulas;
- *not English*: most letters are not Latin, or the words are those of another language.

Words are judged by a linear model. Its features are the word itself and its character n-grams, hashed
into one table of small integers. A word counts at most `word_limit`, so that a few strange names do not
outweigh the rest. Texts of fewer than `MIN_WORDS` words are taken for English, unless their script is
another: a name, a title or a greeting says too little. Lines of code are found by a second linear
model, of a few features of a line.
"""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import compress
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import counted
from wellput.core.metric import Floats
from wellput.io.files import PathLike
from wellput.io.model_files import load_model_file, noticing_damage, save_model_file
from wellput.language.models.linear_model import LinearModel
from wellput.language.shipped import LANGUAGE_FILE, shipped
from wellput.text.english import PARAGRAPH_BREAK
from wellput.text.markup import prose_in
from wellput.text.scripts import share_of_other_scripts

Reason: TypeAlias = Literal["no words", "code or markup", "not English"]
REASONS: tuple[Reason, ...] = ("no words", "code or markup", "not English")

MIN_WORDS = 5
MAX_WORDS = 400
"""A longer text is judged by its beginning."""
MAX_WORD_LETTERS = 24
MAX_NGRAM = 4
MAX_CACHED_WORDS = 1 << 18
LETTER = re.compile(r"[^\W\d_]")
PROSE_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
TREE_CONSEQUENCES = (", and its tree means little", ", and their trees mean little")
ADDRESS_PATTERN = re.compile(r"(?:https?://|www\.)\S+|\S+@\S+\.\S+")


@dataclass(frozen=True, slots=True)
class ReadText:
    """The prose of a text, empty if there is a `reason` not to score it."""

    prose: str
    reason: Reason | None = None


def checked_words(text: str) -> list[str]:
    """The words that the check looks at, in lower case, without web addresses."""
    if "@" in text or "www." in text or "://" in text:
        text = ADDRESS_PATTERN.sub(" ", text)
    return PROSE_WORD.findall(text.lower())[:MAX_WORDS]


def word_features(word: str, size: int) -> list[int]:
    """The places of a word's features in a table of this size."""
    bounded = f"<{word.replace('’', chr(39))[:MAX_WORD_LETTERS]}>"
    places = [zlib.crc32(bounded.encode(errors="replace")) % size]
    for n in range(1, MAX_NGRAM + 1):
        for start in range(n == 1, len(bounded) - n + (n > 1)):
            ngram = bounded[start : start + n]
            if n < len(bounded):
                places.append(zlib.crc32(ngram.encode(errors="replace"), 1) % size)
    return places


CODE_MARKS = re.compile(r"[{}<>=;_\\|&*+$#@^~\[\]`]")
CODE_TRIGGER = re.compile(
    r"[{}<>=;_\\|*+^~\[\]`]|\w\(|^\s*(?:import|from|def|class|select)\s", re.I | re.M
)
CALL_PATTERN = re.compile(r"\w\(")
CODE_PAIR = re.compile(
    r"[a-z][A-Z]|\w_\w|[a-z]\.[a-z_]+(?=[\s(\[=,;)]|$)|::|->|=>|==|!=|<=|>=|&&|\|\||\+\+|\+=|</|/>|=\"|\":|"
    r"\s[-+*/%|:<]?=\s|\sdo(?:\s*$|\s\|)|(?<!\w)@\w+\b(?!\s+[A-Za-z])|#\{|<<\s|:\w+\s=>"
)
PLAIN_TOKEN = re.compile(
    r"[\"'(“‘]*(?:[^\W\d_][^\W\d_A-Z]*(?:['’-][^\W\d_]+)*|[A-Z]+|\d[\d.,:%]*)[\"')”’.,;:!?…]*$"
)
CODE_LINE_END = re.compile(r"[;{}\[(,\\>]\s*$|\)\s*:?\s*$|\w:\s*$")
CODE_KEYWORD = re.compile(
    r"\s*(?:def \w|class \w+[\s({:]|import [\w{*]+|from \S+ import|return\b|if\s*\(|for\s*\(|"
    r"while\s*\(|else\b|elif |#include|#define|#!|public |private |protected |static |const |let |"
    r"var |func(?:tion)? |fn |void |int |float |double |char |bool |string |package \w|using |"
    r"namespace |struct |enum |try\b|except\b|catch\b|print\w*\(|@\w+|puts |require |module \w|"
    r"until |unless |elsif |rescue\b|begin$|then$|attr_|SELECT |INSERT |UPDATE \w|CREATE |FROM \w|"
    r"WHERE |DROP |\$ |end$)"
)
COMMENT = re.compile(r"\s*(?:#|//|/\*|\*/?|--|;|%|<!--|\"\"\"|''')")
SMALL_WORDS = frozenset(
    [
        *(
            "the",
            "a",
            "an",
            "of",
            "to",
            "in",
            "on",
            "at",
            "by",
            "with",
            "and",
            "or",
            "but",
            "is",
            "are",
        ),
        *(
            "was",
            "were",
            "be",
            "been",
            "has",
            "have",
            "had",
            "it",
            "its",
            "he",
            "she",
            "they",
            "we",
        ),
        *(
            "you",
            "i",
            "this",
            "that",
            "these",
            "those",
            "not",
            "as",
            "from",
            "which",
            "who",
            "when",
        ),
        *("there", "their", "his", "her", "our", "your", "my", "will", "would", "can", "could"),
        *("should", "may", "than", "then", "so", "if", "for", "into", "over", "about", "after"),
    ]
)
MIN_LINES, MIN_MEAN_OF_PROGRAM = 3, -1.0
"""A paragraph of at least this many lines is a program if the mean score of its lines, each from −4 to
4, is above this mean. Prose broken into lines stays below −2."""
MIN_SHARE_OF_PROGRAM = 0.5
"""If at least this share of the lines is code, other lines count as prose only if they look like it."""
DATA_FIELD = re.compile(r"^\s*[\[{].*[\]}]\s*$", re.DOTALL)
ADDRESS = re.compile(r"(?:https?://|www\.)\S+|[^\s@]+@[^\s@]+\.[^\s@]+", re.IGNORECASE)
"""A token that is an address of the web or of a mailbox. A text of these alone has no prose."""
DATA_NAME = re.compile(r"\"[^\"\n]*\"\s*:|^\s*\[\s*[\"{\[\d]")
CODE_FEATURES = (
    "marks", "calls", "pairs", "plain", "small words", "line end", "keyword", "length",
)  # fmt: skip


def line_features(line: str) -> tuple[float, ...]:
    """Features of a line that is not empty, in the order of `CODE_FEATURES`."""
    tokens = line.split()
    n = len(tokens)
    return (
        len(CODE_MARKS.findall(line)) / sum(map(len, tokens)),
        min(1.0, len(CALL_PATTERN.findall(line)) / n),
        min(1.0, len(CODE_PAIR.findall(line)) / n),
        sum(PLAIN_TOKEN.match(token) is not None for token in tokens) / n,
        sum(token.lower() in SMALL_WORDS for token in tokens) / n,
        float(CODE_LINE_END.search(line) is not None),
        float(CODE_KEYWORD.match(line) is not None),
        min(3.0, math.log(n)),
    )


def is_like_prose(line: str) -> bool:
    """Whether a line is prose even if it has marks of code: at least four words, most of them plain,
    and a small one."""
    tokens = line.split()
    plain = sum(PLAIN_TOKEN.match(token) is not None for token in tokens)
    return (
        len(tokens) >= 4
        and 5 * plain >= 4 * len(tokens)
        and any(
            token in SMALL_WORDS or (token.istitle() and token.lower() in SMALL_WORDS)
            for token in tokens
        )
    )


def is_data(text: str) -> bool:
    """Whether a text is a JSON object or list, as far as its beginning and end tell."""
    return DATA_FIELD.match(text) is not None and DATA_NAME.search(text) is not None


@dataclass(frozen=True, eq=False)
class LanguageCheck:
    """`table` has the weights of hashed features, in units of `scale`."""

    kind: ClassVar[str] = "language check"

    table: NDArray[np.int8]
    scale: float
    bias: float
    word_limit: float
    code: LinearModel
    fingerprint: str = ""
    _weights: dict[str, float] = field(default_factory=dict, repr=False)

    def read(self, text: str) -> ReadText:
        """The prose of a text if it is English; otherwise no prose, and the reason."""
        if LETTER.search(text) is None:
            return ReadText("", "no words")
        if is_data(text) or all(ADDRESS.fullmatch(token) for token in text.split()):
            return ReadText("", "code or markup")
        marked = prose_in(text)
        if _is_in_other_script(marked.paragraphs or marked.asides):
            return ReadText("", "not English")
        paragraphs = self._without_code(marked.paragraphs) or self._without_code(marked.asides)
        if paragraphs == (text,):
            prose = text
        elif not any(map(LETTER.search, paragraphs)):
            return ReadText("", "code or markup")
        else:
            prose = "\n\n".join(paragraphs)
        if not self.is_english(prose):
            return ReadText("", "not English")
        return ReadText(prose)

    def read_all(self, texts: Sequence[str]) -> list[ReadText]:
        return [self.read(text) for text in texts]

    def is_english(self, text: str) -> bool:
        """Whether a text without markup is English; true for a text that is too short to tell."""
        if _is_in_other_script([text]):
            return False
        words = checked_words(text)
        return len(words) < MIN_WORDS or self.score(words) > 0

    def score(self, words: Sequence[str]) -> float:
        """Above 0 for English; about 5 to 20 for most sentences."""
        weights = self._weights
        if len(weights) > MAX_CACHED_WORDS:
            weights.clear()
        total = 0.0
        for word in words:
            weight = weights.get(word)
            if weight is None:
                weight = weights[word] = self._weight(word)
            total += weight
        return total / math.sqrt(len(words) or 1) + self.bias

    def _weight(self, word: str) -> float:
        places = word_features(word, len(self.table))
        own = float(self.table[places].sum(dtype=np.int64)) * self.scale
        return self.word_limit * math.tanh(own / self.word_limit)

    def _without_code(self, paragraphs: Sequence[str]) -> tuple[str, ...]:
        """The paragraphs without lines of code; none if code is most of the text."""
        if not any(map(CODE_TRIGGER.search, paragraphs)):
            return tuple(paragraphs)
        lines = [
            [line for line in part.split("\n") if line.strip()]
            for paragraph in paragraphs
            for part in PARAGRAPH_BREAK.split(paragraph)
        ]
        flat = [line for own in lines for line in own]
        if not flat:
            return ()
        scores = self.code_scores(flat)
        are_code = (scores > 0) & ~np.array([is_like_prose(line) for line in flat])
        end = 0
        for own in lines:
            start, end = end, end + len(own)
            if (
                len(own) >= MIN_LINES
                and np.clip(scores[start:end], -4, 4).mean() > MIN_MEAN_OF_PROGRAM
            ):
                are_code[start:end] = True
        if not are_code.any():
            return tuple(paragraphs)
        left_out = are_code | np.array([COMMENT.match(line) is not None for line in flat])
        if left_out.mean() >= MIN_SHARE_OF_PROGRAM:
            left_out |= ~np.array([is_like_prose(line) for line in flat])
        lengths = np.array([len(line.strip()) for line in flat])
        if 2 * lengths[left_out].sum() > lengths.sum():
            return ()
        keep = iter(~left_out)
        kept = ["\n".join(compress(own, [next(keep) for _ in own])) for own in lines]
        return tuple(filter(None, kept))

    def code_scores(self, lines: Sequence[str]) -> Floats:
        """For lines that are not empty: above 0 for code."""
        return self.code.scores(np.array([line_features(line) for line in lines]))

    def save(self, path: PathLike, card: Mapping[str, Any]) -> None:
        numbers = np.array([self.scale, self.bias, self.word_limit])
        arrays = {"table": self.table, "numbers": numbers}
        code = {f"code {name}": array for name, array in self.code.arrays().items()}
        save_model_file(path, self.kind, card, {**arrays, **code})

    @classmethod
    def load(cls, path: PathLike) -> LanguageCheck:
        file = load_model_file(path, cls.kind)
        with noticing_damage(path):
            arrays = file.arrays
            scale, bias, word_limit = map(float, arrays["numbers"])
            code = LinearModel.of_file(file, "code ")
            found = cls(arrays["table"], scale, bias, word_limit, code, file.fingerprint)
            # A model of the wrong size, or with a number that is not finite, gives no finite score.
            with np.errstate(all="ignore"):
                tried = found.score(["the"]) + float(found.code_scores(["x = 1;"])[0])
            if not math.isfinite(tried):
                raise ValueError
            return found


def _is_in_other_script(paragraphs: Sequence[str]) -> bool:
    return share_of_other_scripts("\n".join(paragraphs)) > 0.5


@cache
def shipped_check() -> LanguageCheck:
    """The check that comes with wellput, loaded once."""
    return LanguageCheck.load(shipped(LANGUAGE_FILE))


def reasons_against(texts: Iterable[str]) -> Counter[str]:
    """The texts that are not English prose, counted by the reason; empty texts are not looked at."""
    read = (shipped_check().read(text) for text in texts if text.strip())
    return Counter(text.reason for text in read if text.reason is not None)


def not_english_sentence(
    reasons: Counter[str], noun: str, consequence: tuple[str, str], *, total: int | None = None
) -> str:
    """How many texts are not English prose, what follows (for one text, and for several), and why;
    empty if there are none. `total` is the number of texts that were looked at.

    >>> not_english_sentence(Counter({"no words": 2}), "text", (" (1)", " (several)"), total=60)
    '2 of 60 texts are not English prose (several): no words 2.'
    """
    n = reasons.total()
    if not n:
        return ""
    one, several = consequence
    counts = ", ".join(f"{reason} {count:,}" for reason, count in sorted(reasons.items()))
    subject = counted(n, noun) if total is None else f"{n:,} of {counted(total, noun)}"
    verb, follows = ("is", one) if n == 1 else ("are", several)
    return f"{subject} {verb} not English prose{follows}: {counts}."
