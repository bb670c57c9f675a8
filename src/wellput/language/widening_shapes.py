"""What a word looks like, in descriptions from the closest to the widest: a model that has never seen
a word takes the closest one that it knows. (`word_shapes` has one class for each word.)"""

from __future__ import annotations

SUFFIX = 3


def shapes(form: str) -> tuple[str, ...]:
    """Descriptions of a word from the closest to the widest, which fits every word.

    >>> shapes("Unfriending")
    ('Aa+ing', 'Aa+g', 'Aa', '')
    >>> shapes("3rd"), shapes("--")
    (('0a', '0', ''), ('.--', '.', ''))
    """
    if any(character.isdigit() for character in form):
        letters = any(character.isalpha() for character in form)
        return ("0a", "0", "") if letters else ("0.", "0", "")
    if not any(character.isalpha() for character in form):
        return f".{form[:2]}", ".", ""
    if any(mark in form for mark in ("@", "://", "www.", ".com")):
        return "address", ""
    case = "A" if form.isupper() and len(form) > 1 else "Aa" if form[:1].isupper() else "a"
    if "-" in form[1:-1]:
        case += "-"
    lowered = form.lower()
    if len(lowered) <= SUFFIX:
        return f"{case}+{lowered[-1:]}", case, ""
    return f"{case}+{lowered[-SUFFIX:]}", f"{case}+{lowered[-1:]}", case, ""
