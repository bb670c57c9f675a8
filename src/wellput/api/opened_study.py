"""`OpenedStudy`: a study's database while it is open, which the base classes of `Study` share."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from wellput.core.result import Result
from wellput.io.files import PathLike

if TYPE_CHECKING:
    from wellput.studies.store import Store
    from wellput.studies.summaries import StudySummary

DEFAULT_URL = "http://127.0.0.1:8000"

R = TypeVar("R", bound=Result)


class OpenedStudy:
    """A study in its database; `path` is its file or URL, as given."""

    def __init__(self, store: Store, path: PathLike) -> None:
        self._store = store
        self.path = str(path)

    @property
    def _shown_path(self) -> str:
        """The path, as given; the URL of a server without passwords."""
        database = self._store.database
        return self.path if database.is_sqlite else database.name

    @property
    def owner_token(self) -> str | None:
        """The token that opens the dashboard. Known only after `create` and `renew_owner_token`."""
        return self._store.owner_token

    @property
    def title(self) -> str:
        """The heading that judges see on every page."""
        return self._store.questionnaire.title

    def renew_owner_token(self) -> str:
        """Makes a new token for the owner; the old one stops working."""
        return self._store.renew_owner_token()

    def summary(self) -> StudySummary:
        """The summary that `wellput study create` prints: questions, trials, the owner's token."""
        from wellput.studies.summaries import StudySummary

        return StudySummary.of(
            self._store.setup,
            study=self._shown_path,
            owner_token=self.owner_token,
            open_link=self.open_link(),
        )

    def open_link(self, url: str = DEFAULT_URL) -> str | None:
        """The link by which everybody can take part; None if the study has no such link. `url`
        is the address at which the study is served."""
        enrolment = self._store.enrolment
        return None if enrolment is None else f"{url.rstrip('/')}{enrolment.path}"

    def close(self) -> None:
        """Closes the database."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def saved(result: R, path: PathLike | None) -> R:
    """Writes the result to a file if there is a path, and returns the result."""
    if path is not None:
        result.save(path)
    return result
