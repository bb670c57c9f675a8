"""Refuses an SQLite file beside the log of another file. SQLite finds a log only by its name. If a file
is replaced by another, such as a backup, SQLite would write the old file's log into the new file.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL

from wellput.core.errors import InputError
from wellput.studies.database import HOW_TO_MAKE_ONE, OPEN_DATABASES, file_of

USED_WITH_LOG = b"\x02\x02"
"""The bytes 18 and 19 of an SQLite file whose changes are written to a log first (WAL mode). SQLite
writes them before it makes a log, and other values when the file is to have no log any more."""


def check_file(url: URL) -> None:
    """Raises InputError where there is no file to open, or where the log beside it belongs to another
    file. This can be seen only if the file is not used with a log, as a backup is not."""
    path = file_of(url)
    if not path.is_file():
        raise InputError(f"There is no study {path}. {HOW_TO_MAKE_ONE}")
    file = path.resolve()  # beside the file that a symbolic link leads to
    log, memory = Path(f"{file}-wal"), Path(f"{file}-shm")
    # A program that closes the study at this moment removes the log, hence the second look.
    if _has_content(log) and not is_used_with_log(file) and _has_content(log):
        raise InputError(
            f"{log} is not the log of {path}, but of a file that had this name before, and may hold "
            "answers. Nothing was opened or changed, because the two together would be damaged. End "
            f"all programs that use the study, move {log} and {memory} to another folder if they are "
            "still there, and try again."
        )


def _has_content(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


def is_used_with_log(path: Path) -> bool:
    """Whether an SQLite file is used with a log. Backups are not, unless they are open."""
    # Closing a file ends all locks that this process has on it, also those of SQLite. So a file that is
    # in use here is not looked at again.
    number = path.stat().st_ino
    if any(database.is_open_at(number) for database in [*OPEN_DATABASES]):
        return True
    try:
        with path.open("rb") as file:
            return file.read(20)[18:] == USED_WITH_LOG
    except OSError:
        return True  # SQLite says what is wrong
