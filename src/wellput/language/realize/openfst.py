"""Lattices as OpenFst text: an arc a line, `source target word weight`, then the final state.

Weights are negative natural logarithms, those of the tropical semiring. Compiled by
`fstcompile --acceptor --isymbols=FILE.syms`, or pynini, with the symbols written beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wellput.core.errors import InputError
from wellput.io.files import PathLike
from wellput.io.output import write_text
from wellput.language.realize.lattice import EPSILON, FlatArc, Lattice

MAX_ARCS = 1_000_000
SPACE = "␣"


def write_lattices(lattices: Sequence[Lattice], path: PathLike) -> None:
    """Writes one lattice to the path, several to `path.1`, `path.2`, …; all symbols to `path.syms`."""
    for place, lattice in enumerate(lattices, 1):
        write_text(openfst_text(lattice), path if len(lattices) == 1 else f"{path}.{place}")
    write_text(symbols_text(lattices), f"{path}.syms")


def openfst_text(lattice: Lattice) -> str:
    """The lattice as an acceptor with all sub-lattices in their places."""
    if lattice.n_flat_arcs > MAX_ARCS:
        raise InputError(
            f"The lattice has {lattice.n_flat_arcs:,} arcs when written out; at most {MAX_ARCS:,} are "
            "written."
        )
    arcs = sorted(lattice.flat_arcs())
    lines = [_line(arc, symbol(lattice.words[arc.word])) for arc in arcs]
    return "".join([*lines, "1\n"])


def symbols_text(lattices: Iterable[Lattice]) -> str:
    """The symbol table: each word with its number, 0 for the empty word."""
    words = {symbol(word): None for lattice in lattices for word in lattice.words}
    words.pop(EPSILON, None)
    return "".join(f"{word}\t{number}\n" for number, word in enumerate([EPSILON, *words]))


def symbol(word: str) -> str:
    """The word as OpenFst can read it: columns are separated by white space."""
    return SPACE.join(word.split()) if word else EPSILON


def _line(arc: FlatArc, word: str) -> str:
    return f"{arc.source}\t{arc.target}\t{word}\t{-arc.weight + 0.0:.9g}\n"
