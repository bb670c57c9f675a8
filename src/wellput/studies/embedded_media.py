"""Puts the images and sounds that markdown names by a path into the text itself, so that a study is one
file and no page fetches anything from elsewhere."""

from __future__ import annotations

import base64
import mimetypes
import re
from pathlib import Path
from urllib.parse import unquote

from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item

LOCAL_FILE = re.compile(
    r"(?P<before>!\[[^\]\n]{0,1000}\]\()<?(?P<path>[^)\s<>:]{1,500})>?(?=[\s)])"
)
"""An image whose address is a path, not a URL: `![words](path)`."""
MAX_FILE_BYTES = 2_000_000


def with_media(evalset: EvalSet, folder: str | Path) -> EvalSet:
    """The items with every named file that is in the folder put into the text. Raises InputError where
    none is, and for files that are too large or that browsers do not show."""
    reader = _MediaFolder(Path(folder))
    items = [_with_media(item, reader) for item in evalset]
    if reader.problems:
        raise InputError.collect("These files cannot be shown:", sorted(set(reader.problems)))
    if not reader.found:
        raise InputError(
            f"media={str(folder)!r}: no output names a file of this folder, as in ![words](file.png)."
        )
    return EvalSet(items)


def _with_media(item: Item, reader: _MediaFolder) -> Item:
    return item._replace(
        outputs={
            system: reader.embedded(output) if isinstance(output, str) else output
            for system, output in item.outputs.items()
        },
        context=None if item.context is None else reader.embedded(item.context),
        source=None if item.source is None else reader.embedded(item.source),
    )


class _MediaFolder:
    """Reads each file once. Files outside the folder are not read."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise InputError(f"media={str(folder)!r} is not a folder.")
        self._folder = folder.resolve()
        self.found: dict[str, str] = {}
        self.problems: list[str] = []

    def embedded(self, text: str) -> str:
        return LOCAL_FILE.sub(
            lambda match: f"{match['before']}{self._address(match['path'])}", text
        )

    def _address(self, name: str) -> str:
        if name not in self.found:
            path = (self._folder / unquote(name)).resolve()
            if not path.is_relative_to(self._folder) or not path.is_file():
                return name
            self.found[name] = self._data(name, path)
        return self.found[name]

    def _data(self, name: str, path: Path) -> str:
        kind = mimetypes.guess_type(path.name)[0] or ""
        if not re.fullmatch(r"image/(?:png|jpeg|gif|webp|avif)|audio/[\w.+-]+", kind):
            self.problems.append(
                f"{name}: not a PNG, JPEG, GIF, WebP or AVIF image, and not a sound"
            )
            return name
        if path.stat().st_size > MAX_FILE_BYTES:
            self.problems.append(f"{name}: larger than {MAX_FILE_BYTES // 1_000_000} MB")
            return name
        return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode('ascii')}"
