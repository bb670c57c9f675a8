"""Copies a study for other judges: the same settings, items, trials and seed."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import Connection

from wellput.studies.enrolment import new_enrolment, write_enrolment
from wellput.studies.queries import speech_of
from wellput.studies.store import Store


def replicate(store: Store, path: str) -> Store:
    """The new study, without judges and answers, in the database at `path`. If the study has an open
    link, the new one gets another link with the same settings."""
    with store.database.read() as connection:
        items = tuple(
            replace(item, speech=speech_of(connection, number))
            for number, item in enumerate(store.setup.items)
        )
    setup = replace(store.setup, items=items, trials_of_judges={})  # the copy has other judges
    if setup.is_imported:
        # `selection` says that the answers were imported; those of the new study will not be.
        setup = replace(setup, selection={})

    def write_link(connection: Connection, _now: float) -> None:
        if (link := store.enrolment) is not None:
            new_link = new_enrolment(
                quota=link.quota,
                completion=link.completion,
                place_minutes=link.place_minutes,
                screening=link.screening,
            )
            write_enrolment(connection, new_link)

    return Store.create(path, setup, fill=write_link)
