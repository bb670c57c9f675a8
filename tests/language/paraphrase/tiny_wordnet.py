"""A WordNet of a few words, as a WNDB folder."""

from __future__ import annotations

from pathlib import Path

SYNSETS = {
    "noun": [["reply", "answer", "response"], ["answer", "solution"], ["house", "home"]],
    "verb": [["abandon", "give_up"], ["give", "hand"], ["reply", "answer"]],
    "adj": [["quick", "fast"]],
    "adv": [["fully", "completely"]],
}
COUNTS = {"answer%1:10:00::": (1, 30), "answer%1:10:01::": (2, 10), "reply%1:10:00::": (1, 7)}


def write_wordnet(folder: Path) -> Path:
    for category, synsets in SYNSETS.items():
        data, offsets = "", dict[str, list[str]]()
        for members in synsets:
            offset = f"{len(data):08}"
            words = " ".join(f"{word} 0" for word in members)
            data += f"{offset} 06 {category[0]} {len(members):02x} {words} 000 | a gloss  \n"
            for word in members:
                offsets.setdefault(word, []).append(offset)
        index = "".join(
            f"{lemma} {category[0]} {len(of)} 1 @ {len(of)} 0 {' '.join(of)}  \n"
            for lemma, of in sorted(offsets.items())
        )
        (folder / f"data.{category}").write_text(data)
        (folder / f"index.{category}").write_text(index)
    counts = (f"{key} {rank} {count}\n" for key, (rank, count) in sorted(COUNTS.items()))
    (folder / "cntlist.rev").write_text("".join(counts))
    return folder
