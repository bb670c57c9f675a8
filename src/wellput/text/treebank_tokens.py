"""Word tokens as the English Web Treebank has them: *do n't*, *Kim 's*, *can not*, *well - known*.

Clitics, punctuation and the hyphens of compounds stand alone; prefixes (*co-worker*, *e-mail*),
abbreviations (*U.S.*, *Mr.*), numbers with their separators (*1,000*, *9/11*, *3.5*), addresses, runs
of one sign (*...*, *--*) and smileys stay whole. Rules only, for text in sentences; a full stop after
an abbreviation that is not listed, or *'s* at the end of a quotation, can be taken wrongly.
"""

from __future__ import annotations

import re

PREFIXES = (
    "anti|auto|bi|co|counter|cyber|de|e|eco|ex|extra|hyper|inter|intra|macro|mega|meta|micro|mid|mini|"
    "mono|multi|neo|non|over|para|post|pre|pro|proto|pseudo|quasi|re|semi|sub|super|tele|tri|ultra|un|"
    "uni|vice"
)
ABBREVIATIONS = (
    "Mr|Mrs|Ms|Mx|Dr|Drs|Prof|Rev|Fr|Hon|Messrs|Mme|Mlle|St|Ste|Jr|Sr|Gen|Col|Maj|Capt|Cpt|Lt|Sgt|Adm|"
    "Gov|Sen|Sens|Rep|Reps|Pres|Supt|Mt|Ft|Ave|Blvd|Rd|Co|Corp|Inc|Ltd|Bros|Assn|Dept|Univ|vs|etc|al|"
    "approx|est|No|Nos|Vol|vol|Fig|fig|pp|ca|cf|Jan|Feb|Mar|Apr|Aug|Sept|Sep|Oct|Nov|Dec|Mon|Tue|Wed|"
    "Thu|Fri"
)
CLITICS = r"(?:s|m|d|re|ve|ll)(?!\w)"
APOSTROPHE = "['’]"

# Repetitions that may end in nothing are bounded, so that no text takes longer than its length.

TOKEN = re.compile(
    rf"""
      (?:https?|ftp)://[^\s<>"]*[\w/] | www\.[^\s<>"]*[\w/]        # addresses
    | [\w.+-]{{1,64}}@\w[\w-]*(?:\.\w[\w-]*)+
    | [\w-]{{1,64}}(?:\.[\w-]{{1,64}}){{0,5}}\.(?:com|org|net|edu|gov|html?|doc|pdf|xls|txt|jpg|gif)\b
    | [:;=8][-o*']?[)\](\[dDpP](?!\w) | <3                         # smileys
    | \d+(?:[.,:/]\d+){{1,9}}(?:st|nd|rd|th|s|am|pm)?(?!\w)          # numbers
    | \d+(?:-\d+){{2,}}
    | {APOSTROPHE}\d\ds?\b
    | (?:[^\W\d_]\.){{2,}}                                         # U.S.
    | \b(?:{ABBREVIATIONS}|[B-HJ-Z])\.(?=\s*\S)
    | (?i:can(?=not\b) | gon(?=na\b) | got(?=ta\b) | wan(?=na\b) | lem(?=me\b) | gim(?=me\b))
    | (?<=[Cc]an)not\b | (?<=[Gg]on|[Ww]an)na\b | (?<=[Gg]ot)ta\b
    | [^\W\d_]+?(?=(?i:n{APOSTROPHE}t\b)) | (?i:n{APOSTROPHE}t\b)  # do n't
    | {APOSTROPHE}(?i:{CLITICS})
    | (?i:(?:{PREFIXES})-)\w+
    | \w+(?:{APOSTROPHE}\w+){{0,3}}?(?={APOSTROPHE}(?i:{CLITICS}))
    | \w+(?:{APOSTROPHE}\w+)+ | \w+                                # words
    | ([^\w\s])\1*                                                 # one sign, or a run of it
    """,
    re.VERBOSE,
)


def treebank_tokens(text: str) -> list[str]:
    """The words and signs of a sentence.

    >>> treebank_tokens("Mr. Ng can't see Kim's co-worker (U.S.)...")
    ['Mr.', 'Ng', 'ca', "n't", 'see', 'Kim', "'s", 'co-worker', '(', 'U.S.', ')', '...']
    """
    return [match.group() for match in TOKEN.finditer(text)]
