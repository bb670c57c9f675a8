"""Where the English models lie that come with wellput: `english/`, a file each."""

from __future__ import annotations

from pathlib import Path

from wellput.core.errors import InputError

FOLDER = Path(__file__).parent / "english"


def shipped(name: str) -> Path:
    """The file of a shipped model, `tagger.wpm` for one."""
    path = FOLDER / name
    if not path.is_file():
        raise InputError(
            f"The English model {name} is not in this installation of wellput. Install it again, or "
            "make it from the training texts: wellput train english --help"
        )
    return path
