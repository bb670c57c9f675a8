"""The noun `Words`: a text cut into the words of an English treebank, as UD's EWT cuts it.

Contractions and possessives are words of their own (`do` `n't`, `John` `'s`, `can` `not`) and, together
with what they lean on, one surface token; punctuation, hyphens and currency signs are words; web
addresses, file names, numbers, dates, words with a prefix (`co-worker`), abbreviations and emoticons
stay whole. No character is lost but white space.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

ABBREVIATIONS = (
    *("Mr", "Mrs", "Ms", "Dr", "Prof", "St", "Jr", "Sr", "Rev", "Hon", "Gen", "Col", "Lt", "Sgt"),
    *("Capt", "Maj", "Sen", "Rep", "Gov", "Pres", "Inc", "Corp", "Co", "Ltd", "Bros", "Dept"),
    *("Univ", "Ave", "Blvd", "Rd", "vs", "etc", "al", "approx", "est", "No", "Vol", "Fig", "Jan"),
    *("Feb", "Mar", "Apr", "Jun", "Jul", "Aug", "Sep", "Sept", "Oct", "Nov", "Dec", "Mon", "Tue"),
    *("Tues", "Wed", "Thu", "Thurs", "Fri", "Sat", "Sun", "e.g", "i.e", "cf", "ca"),
)
FILE_ENDINGS = "com|org|net|edu|gov|html?|docx?|pdf|xlsx?|txt|jpe?g|gif|png|zip"
PREFIXES = (
    *("anti", "bi", "co", "counter", "cyber", "de", "e", "ex", "inter", "macro", "mega", "micro"),
    *(
        "mid",
        "mini",
        "multi",
        "neo",
        "non",
        "over",
        "para",
        "post",
        "pre",
        "pro",
        "pseudo",
        "quasi",
    ),
    *("re", "semi", "sub", "super", "tele", "ultra", "un", "vice"),
)
# Tried in this order at every place; lengths are bounded where a long text could take long.
WORD = re.compile(
    "|".join(
        (
            r"(?P<address>(?:https?://|ftp://|www\.)[^\s<>\"”“]{0,2000}[\w/])",
            r"(?P<mail>[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8})",
            rf"(?P<file>[\w-]{{1,64}}(?:\.[\w-]{{1,64}}){{0,5}}\.(?:{FILE_ENDINGS})\b)",
            # What tokenizers of metrics turn into other characters must stay whole to be found again.
            r"(?P<markup>&(?:amp|quot|lt|gt);|<skipped>)",
            r"(?P<face>(?<!\w)[:;=][-'^o]?[()\[\]DPp|/\\](?!\w)|<3)",
            r"(?P<initials>(?:\b[A-Za-z]\.){2,8}|\b[A-Z]\.(?=\s+[A-Z]))",
            rf"(?P<abbreviation>\b(?:{'|'.join(map(re.escape, ABBREVIATIONS))})\.(?=\S|\s+\S))",
            r"(?P<number>\d+(?:[.,:/]\d+)*(?:st|nd|rd|th|s)?(?!\w))",
            rf"(?P<prefixed>(?i:\b(?:{'|'.join(PREFIXES)})-)\w+(?!['’]))",
            r"(?P<word>\w+(?:['’]\w+)*)",
            r"(?P<run>(?P<mark>[^\w\s])(?P=mark)+)",
            r"(?P<other>\S)",
        )
    )
)
# What leans on the word before it.
ENCLITIC = re.compile(r"(?:n['’]t|['’](?:s|m|d|ll|re|ve))$", re.IGNORECASE)
APOSTROPHES = "'’"
JOINED = re.compile(r"(can)(not)|(gon|wan)(na)|(got)(ta)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Words:
    """The words in order; whether white space follows each; the first and last place (from 0) of
    every surface token that covers several words."""

    forms: tuple[str, ...]
    are_spaced: tuple[bool, ...]
    surface_tokens: tuple[tuple[int, int], ...] = ()


def treebank_words(text: str) -> Words:
    """The words of a text.

    >>> treebank_words("They don't pay $1,000.").forms
    ('They', 'do', "n't", 'pay', '$', '1,000', '.')
    """
    forms: list[str] = []
    are_spaced: list[bool] = []
    surface: list[tuple[int, int]] = []
    end = 0
    is_quoted = False
    for match in WORD.finditer(text):
        parts = _parts(match[0]) if match.lastgroup == "word" else [match[0]]
        if match[0] in APOSTROPHES:
            # "parents'": the apostrophe after a word in s, unless it closes a quotation.
            if (
                not is_quoted
                and match.start() == end
                and _is_possessive(forms, text[match.end() : match.end() + 1])
            ):
                surface.append((len(forms) - 1, len(forms)))
            else:
                is_quoted = not is_quoted
        elif len(parts) > 1:
            surface.append((len(forms), len(forms) + len(parts) - 1))
        if forms and match.start() > end:
            are_spaced[-1] = True
        forms += parts
        are_spaced += [False] * len(parts)
        end = match.end()
    if are_spaced:
        are_spaced[-1] = True
    return Words(tuple(forms), tuple(are_spaced), tuple(surface))


def spaced_words(tokens: list[str]) -> Words:
    """Tokens as they are."""
    return Words(tuple(tokens), (True,) * len(tokens))


def _parts(word: str) -> list[str]:
    if (joined := JOINED.fullmatch(word)) is not None:
        return [part for part in joined.groups() if part is not None]
    enclitic = ENCLITIC.search(word)
    if enclitic is None or enclitic.start() == 0:
        return [word]
    return [word[: enclitic.start()], word[enclitic.start() :]]


def _is_possessive(forms: list[str], following: str) -> bool:
    owner = forms[-1] if forms else ""
    return owner.isalpha() and owner[-1] in "sS" and not following.strip()
