"""`StudyJudges`: invites judges to a study, by private links or by one open link, and serves the study
on the web."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from wellput.api.inputs import check_files
from wellput.api.opened_study import DEFAULT_URL, OpenedStudy, saved
from wellput.api.study_creation import (
    needing_judge_extra,
    open_link,
    refuse_options_of_open_link,
)
from wellput.core.errors import InputError
from wellput.core.judgment import MACHINE_PREFIX
from wellput.core.options import checks_options
from wellput.core.registries import Names, split_names
from wellput.io.files import PathLike

if TYPE_CHECKING:
    from fastapi import FastAPI

    from wellput.studies.summaries import InvitationList


class StudyJudges(OpenedStudy):
    """What the owner does so that judges can answer."""

    @checks_options
    def invite(
        self,
        *,
        judges: int | None = None,
        names: Names = (),
        machine: Names = (),
        url: str = DEFAULT_URL,
        path: PathLike | None = None,
    ) -> InvitationList:
        """Invites judges. Each gets a private link, which cannot be shown again.

        Parameters
        ----------
        judges
            How many judges. Default: the number of names, or the planned number of judges.
        names
            The names of the judges. Default: J1, J2, ….
        machine
            Names of machines. Each machine becomes a judge named `model:NAME`. It answers every trial,
            and people still get as many trials as without it. `wellput.judge(study, model=NAME, …)`
            gives its answers.
        url
            The address at which the study will be served.
        path
            Writes the links to a file; a `.json`, `.csv`, `.tex` or `.md` file is in that format.

        Returns
        -------
        InvitationList
            One `Invitation` per judge, with `judge`, `token` and `url`.

        Raises
        ------
        InputError
            A name is taken, or the number of names differs from `judges`.
        """
        from wellput.studies.summaries import InvitationList

        check_files([path], self._store.database.files)
        machines = [f"{MACHINE_PREFIX}{name}" for name in split_names(machine)]
        if machines and judges is not None and not names:
            raise InputError(
                "With machine=, judges= cannot say how many people to invite: give their names with "
                "names=, or invite them by another call."
            )
        all_names = [*split_names(names), *machines]
        count = judges or len(all_names) or self._store.setup.plan.judges
        invited = self._store.invite(count, all_names or None)
        judge_pages = f"{url.rstrip('/')}/judge"
        links = (
            replace(invitation, url=f"{judge_pages}/{invitation.token}") for invitation in invited
        )
        return saved(InvitationList(tuple(links)), path)

    @checks_options
    def serve(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 8000,
        certificate: PathLike | None = None,
        key: PathLike | None = None,
        request_timeout: float = 20.0,
        max_connections: int = 1000,
        trust_proxy: Names = (),
        open: bool = False,
        quota: int | None = None,
        completion: str | None = None,
        place_timeout: float | None = None,
        on_ready: Callable[[], None] = lambda: None,
    ) -> None:
        """Serves the judges' pages, the JSON interface and the dashboard until interrupted.

        Parameters
        ----------
        host, port
            The address and the port to listen on.
        certificate, key
            PEM files for TLS.
        request_timeout
            A request that has not arrived completely after this many seconds is refused: its connection
            is closed.
        max_connections
            The largest number of connections at a time. If there are more, the connections that have
            waited longest for the rest of a request are closed.
        trust_proxy
            Addresses of web proxies whose headers `X-Forwarded-For` and `X-Forwarded-Proto` are
            trusted. Default: none.
        open, quota, completion, place_timeout
            `open=True` makes an open link, as `create` does; the other three are its options. If the
            study already has an open link, the link stays the same and only the options change.
        on_ready
            A function that is called when the server accepts requests.

        Raises
        ------
        InputError
            The address is not free, the certificate cannot be used, or a limit is not above 0.
        """
        if (certificate is None) != (key is None):
            raise InputError("TLS needs both: certificate= and key=.")
        if not request_timeout > 0 or max_connections < 1:
            raise InputError("request_timeout= and max_connections= must be above 0.")
        if open:
            self.open_to_everybody(quota=quota, completion=completion, place_timeout=place_timeout)
        else:
            refuse_options_of_open_link(
                quota=quota, completion=completion, place_timeout=place_timeout
            )
        with needing_judge_extra("Serving a study"):
            from wellput.studies.app import serve
        serve(
            self._store,
            host=host,
            port=port,
            certificate=None if certificate is None else Path(certificate),
            key=None if key is None else Path(key),
            request_timeout=request_timeout,
            max_connections=max_connections,
            trust_proxy=split_names(trust_proxy),
            on_ready=on_ready,
        )

    @checks_options
    def open_to_everybody(
        self,
        *,
        quota: int | None = None,
        completion: str | None = None,
        place_timeout: float | None = None,
    ) -> None:
        """Makes an open link, as `create(open=True)` does. If the study already has one, the link stays
        the same, and only the options that are given change."""
        current_link = self._store.enrolment
        if quota is None:
            quota = self._store.setup.plan.judges if current_link is None else current_link.quota
        if current_link is not None:
            completion = current_link.completion if completion is None else completion
            if place_timeout is None:
                place_timeout = current_link.place_minutes
        link = open_link(
            quota=quota, completion=completion, place_timeout=place_timeout, screening=None
        )
        if current_link is not None:
            link = replace(link, screening=current_link.screening)
        self._store.open_enrolment(link)

    def app(self) -> FastAPI:
        """The web application (ASGI), for another server or for tests."""
        with needing_judge_extra("Serving a study"):
            from wellput.studies.app import create_app
        return create_app(self._store)
