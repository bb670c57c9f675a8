"""Small tree-adjoining grammars in the file format of XTAG, made up for tests.

Trees are written as `S(NP_0↓ VP(V◇))`. They bear names that the mapping asks for, and are flatter than
anything in the real grammar.
"""

from __future__ import annotations

import re
from pathlib import Path

TREES = {
    "αnx0N1": "S(NP_0↓ VP(NP_1(N◇)))",
    "αnx0V": "S(NP_0↓ VP(V◇))",
    "αnx0Vnx1": "S(NP_0↓ VP(V◇ NP_1↓))",
    "αNXN": "NP(N◇)",
    "βDnx": "NP(D◇ NP*)",
    "βAn": "N(A◇ N*)",
    "βNn": "N(N◇ N*)",
    "βVvx": "VP(V◇ VP*)",
    "βVs": "S(V◇ S*)",
    "βNs": "S(N◇ S*)",
    "βnxPnx": "NP(NP* P◇ NP↓)",
    "βvxPnx": "VP(VP* P◇ NP↓)",
    "βARBvx": "VP(Ad◇ VP*)",
    "βvxARB": "VP(VP* Ad◇)",
    "βsPU": "S(S* Punct◇)",
}
MARKS = {"◇": ":headp T", "↓": ":substp T", "*": ":footp T", "": ""}
NODE = re.compile(r"([A-Za-z]+)(?:_(\w))?([◇↓*]?)(\(?)|(\))|\s+")


def lisp(tree: str) -> str:
    """The nodes of a tree as Lisp."""
    pieces = []
    for label, index, mark, opening, closing in NODE.findall(tree):
        if closing:
            pieces.append(")")
        elif label:
            inside = f'(((("{label}" . "{index}")) {MARKS[mark]})'
            pieces.append(inside if opening else f"{inside})")
    return " ".join(pieces)


def write_grammar(folder: Path, trees: dict[str, str] = TREES) -> Path:
    """A folder that `read_xtag` reads."""
    (folder / "grammar").mkdir()
    (folder / "syntax").mkdir()
    for name, tree in trees.items():
        coded = name.replace("α", "\x02").replace("β", "\x03")
        group = f"T{name[1:]}" if "0" in name else "rest"
        header = f'("{coded}" :EQUATIONS "a \\" b\n(c" :COMMENTS "")'
        with (folder / "grammar" / f"{group}.trees").open("a", encoding="latin-1") as file:
            file.write(f"; made up\n{header}\n {lisp(tree)}\n")
    (folder / "syntax" / "syntax-coded.flat").write_text(
        "<<INDEX>>zorp<<ENTRY>>zorp<<POS>>V<<FAMILY>>Tnx0Vnx1 Tmissing\n"
        "<<INDEX>>zorp<<ENTRY>>zorp<<POS>>N<<TREES>>\x02NXN \x03Nn<<FEATURES>>#made_up\n"
        "<<INDEX>>zorp<<ENTRY>>zorp<<POS>>V<<ENTRY>>up<<POS>>PL<<FAMILY>>Tnx0V\n",
        encoding="latin-1",
    )
    (folder / "syntax" / "syndefaults.dat").write_text(
        "<<INDEX>>%s<<ENTRY>>%s<<POS>>N<<TREES>>\x02NXN\n", encoding="latin-1"
    )
    return folder
