"""`Medium`: the way in which outputs of one kind are shown to judges. The media of texts are here;
other kinds of outputs bring their own.

`with_media` puts the images and sounds that markdown names by a path into the text itself, so that a
study is one file and no page fetches anything from elsewhere.
"""

from __future__ import annotations

import base64
import errno
import mimetypes
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib.resources.abc import Traversable
from itertools import count
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, get_args
from urllib.parse import unquote

from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item
from wellput.core.line_breaks import with_line_feeds
from wellput.core.output_kinds import kind_of, output_kinds
from wellput.studies.designs.base import Design
from wellput.studies.questionnaire import Questionnaire

ShownAs: TypeAlias = Literal["plain", "markdown"]
SHOWN_AS: tuple[ShownAs, ...] = get_args(ShownAs)
"""How texts can be shown."""


class Medium(Protocol):
    """How outputs of one kind are stored in a study, and shown on the page of a trial."""

    name: str
    shows_text: bool
    """Whether it can also show texts, as practice trials and attention checks need."""
    template: str
    """The name of a template: one of `studies/templates`, or `package:path` for one of another
    package. It has the macro `output(variant, speech)`, which shows one output (a variant). `speech` is
    the address of the outputs' common sound, if the item has one."""
    styles: tuple[str, ...]
    scripts: tuple[str, ...]
    """The names of the CSS and JavaScript files that the page needs."""
    static: Mapping[str, Traversable]
    """These files, and the files that they load, by the name in their address."""

    def prepared(self, item: Item) -> tuple[dict[str, str], bytes | None, list[str]]:
        """An item's outputs as they are stored, by system; their common sound (a WAV file) or None;
        and what is wrong with them, in sentences."""
        ...

    def reworded(self, questionnaire: Questionnaire, design: Design) -> Questionnaire:
        """The questionnaire for this medium: with the medium's name, and with default words that fit
        it. Words that the owner of the study wrote are kept."""
        ...


class TextMedium:
    """Shows a text as it is, with LF for every line break, as browsers have it."""

    name = "text"
    shows_text = True
    template = "text.html"
    styles: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    static: Mapping[str, Traversable] = {}

    def prepared(self, item: Item) -> tuple[dict[str, str], bytes | None, list[str]]:
        texts = {
            system: with_line_feeds(output)
            for system, output in item.outputs.items()
            if isinstance(output, str)
        }
        sampled = [s for s, output in item.outputs.items() if isinstance(output, tuple)]
        return (
            texts,
            None,
            [
                f"item {item.id}: {system} has several samples; give one text as its output"
                for system in sampled
            ],
        )

    def reworded(self, questionnaire: Questionnaire, design: Design) -> Questionnaire:
        return questionnaire


class MarkdownMedium(TextMedium):
    """Shows a text as markdown: tables, code, formulas, images and sounds. Nothing in it runs."""

    name = "markdown"
    template = "markdown.html"
    has_blocks = True
    """Whether an output may have paragraphs, tables or images, so that it cannot be shown on a
    button."""

    def reworded(self, questionnaire: Questionnaire, design: Design) -> Questionnaire:
        return replace(questionnaire, medium=self.name)


def all_media() -> list[Medium]:
    """The media of texts, and those of other kinds of outputs."""
    others = (kind.medium() for kind in output_kinds())
    return [TextMedium(), MarkdownMedium(), *(medium for medium in others if medium is not None)]


def medium_named(name: str) -> Medium:
    if name == TextMedium.name:
        return TextMedium()
    for medium in all_media():
        if medium.name == name:
            return medium
    raise InputError(
        f"Nothing shows outputs as {name!r}. Install the package that the study needs."
    )


def medium_for(items: Iterable[Item], show: ShownAs = "plain") -> Medium:
    """The medium that shows the items: that of the first output that is not a text, if there is one;
    else a medium for texts, plain or as markdown."""
    for item in items:
        for output in item.outputs.values():
            if isinstance(output, Mapping):
                kind = kind_of(output)
                medium: Medium | None = kind.medium()
                if medium is None:
                    raise InputError(f"A study cannot show {kind.name}: they have no medium.")
                if show != "plain":
                    raise InputError(f"show={show!r} is for texts; these outputs are {kind.name}.")
                return medium
    return MarkdownMedium() if show == "markdown" else TextMedium()


LOCAL_FILE = re.compile(
    r"(?P<before>!\[[^\]\n]{0,1000}\]\()<?(?P<path>[^)\s<>:]{1,500})>?(?=[\s)])"
)
"""An image whose address is a path, not a URL: `![words](path)`."""
MAX_FILE_BYTES = 2_000_000
MAX_TEXT_CHARACTERS = 20_000_000
"""The most characters that the files of one text may take in the page, as base64. A file counts as
often as the text names it, since a short path can stand for two megabytes."""
MAX_STUDY_CHARACTERS = 1_000_000_000
"""The most characters that the files of all texts of a study may take."""


def with_media(evalset: EvalSet, folder: str | Path) -> EvalSet:
    """The items, with the files of the folder that their texts name put into the texts. Raises
    InputError if the texts name no file of the folder, and for files that are too large or that
    browsers do not show."""
    reader = _MediaFolder(Path(folder))
    items = [_with_media(item, reader) for item in evalset]
    if reader.problems:
        raise InputError.collect("These files cannot be shown:", reader.problems)
    if not reader.addresses:
        raise InputError(
            f"media={str(folder)!r}: no output names a file of this folder, as in ![words](file.png)."
        )
    return EvalSet(items)


def _with_media(item: Item, reader: _MediaFolder) -> Item:
    return item._replace(
        outputs={
            system: reader.embedded(item.id, output) if isinstance(output, str) else output
            for system, output in item.outputs.items()
        },
        context=None if item.context is None else reader.embedded(item.id, item.context),
        source=None if item.source is None else reader.embedded(item.id, item.source),
    )


class _MediaFolder:
    """Reads each file once. Files outside the folder are not read."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise InputError(f"media={str(folder)!r} is not a folder.")
        self._folder = folder.resolve()
        self._n_characters = 0
        self.addresses: dict[str, str] = {}
        self.problems: list[str] = []

    def embedded(self, item: str, text: str) -> str:
        """The text of an item with its files put in. Markdown decides what is an image: the same
        characters `![words](path)` may stand in a piece of code, and then they stay. To find out, each
        path is replaced by a number, and the parser says which numbers are addresses of images."""
        from wellput.studies.markdown import image_addresses

        key = secrets.token_hex(8)
        numbers = count()
        numbered = LOCAL_FILE.sub(lambda match: f"{match['before']}{key}-{next(numbers)}", text)
        if numbered == text:
            return text
        images = image_addresses(numbered)
        numbers = count()
        characters_left = MAX_TEXT_CHARACTERS

        def with_file(match: re.Match[str]) -> str:
            nonlocal characters_left
            if f"{key}-{next(numbers)}" not in images or characters_left < 0:
                return match[0]
            address = self._address(item, match["path"])
            characters_left -= len(address)
            if characters_left < 0:
                most = _megabytes(MAX_TEXT_CHARACTERS)
                self.problems.append(f"item {item}: a text with more than {most} MB of files")
                return match[0]
            self._count(len(address))
            return f"{match['before']}{address}"

        return LOCAL_FILE.sub(with_file, text)

    def _count(self, n_characters: int) -> None:
        self._n_characters += n_characters
        if self._n_characters > MAX_STUDY_CHARACTERS:
            raise InputError(
                "The texts name too many files: a study may have "
                f"{_megabytes(MAX_STUDY_CHARACTERS)} MB of them. Give smaller files, or fewer items."
            )

    def _address(self, item: str, name: str) -> str:
        """The file with this name as a data URI; the name itself if there is no such file."""
        if name not in self.addresses:
            try:
                path = self._file(name)
                if path is None:
                    return name
                self.addresses[name] = self._data(item, name, path)
            except OSError as error:
                self.problems.append(f"item {item}: {name}: cannot be read: {error.strerror}")
                self.addresses[name] = name
        return self.addresses[name]

    def _file(self, name: str) -> Path | None:
        """The file of the folder with this name, None where there is none."""
        try:
            path = (self._folder / unquote(name)).resolve()
            return path if path.is_relative_to(self._folder) and path.is_file() else None
        except (ValueError, RuntimeError):  # a NUL or half a surrogate pair; links in a circle
            return None
        except OSError as error:
            if error.errno in (errno.ENAMETOOLONG, errno.ELOOP):
                return None
            raise

    def _data(self, item: str, name: str, path: Path) -> str:
        """The file as a data URI. If it cannot be shown, notes why, and returns the name."""
        kind = mimetypes.guess_type(path.name)[0] or ""
        if not re.fullmatch(r"image/(?:png|jpeg|gif|webp|avif)|audio/[\w.+-]+", kind):
            self.problems.append(
                f"item {item}: {name}: not a PNG, JPEG, GIF, WebP or AVIF image, and not a sound"
            )
            return name
        if path.stat().st_size > MAX_FILE_BYTES:
            self.problems.append(
                f"item {item}: {name}: larger than {MAX_FILE_BYTES // 1_000_000} MB"
            )
            return name
        return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode('ascii')}"


def _megabytes(n_characters: int) -> int:
    """The size in megabytes of files that take this many characters in base64: 4 characters are 3
    bytes.

    >>> _megabytes(20_000_000)
    15
    """
    return n_characters * 3 // 4 // 1_000_000
