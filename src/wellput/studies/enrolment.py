"""Open enrolment: one link for everybody, with a number of places.

A *person* is somebody whom a crowd platform (Prolific, MTurk, SONA) names in the parameters of the
address; without such a name, a browser counts as a person and is known by a cookie. A person who takes
a place becomes a judge and always comes back to the same place. A *place* is free again if it is given
back, or if its judge is away for longer than `place_minutes` without having finished. Only a posted
form takes a place, so programs that merely open the link take none.

The table `enrolments` has a row for each person. A person whom the screening questions refused has a
row without a judge.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias
from urllib.parse import quote, urlsplit

import sqlalchemy as sa
from sqlalchemy import Connection

from wellput.core.errors import InputError
from wellput.studies import schema
from wellput.studies.invitations import TOKEN_BYTES, token_hash
from wellput.studies.screening import ScreeningQuestion
from wellput.studies.study_transactions import StudyReading, StudyTransaction

MAX_FIELD_CHARACTERS = 200
MAX_REFUSALS_KEPT = 10_000
"""How many people refused by the screening are remembered. The number is limited because anybody can
write any name into an address. People who are refused later may answer the screening again."""
PLACE_MINUTES = 120.0
PLATFORM_FIELDS: Mapping[str, tuple[str, ...]] = {
    # The first field identifies the person; the others are stored with it.
    "prolific": ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"),
    "mturk": ("workerId", "assignmentId", "hitId"),
    "sona": ("survey_code",),
}
"""The parameters that crowd platforms add to the address of a study."""
SONA_OTHER_NAME = "id"
"""SONA's parameter has this name in older set-ups."""
PLACEHOLDER = re.compile(r"\{\{.*\}\}|%\w+%|\$\{.*\}")
"""A parameter that a platform should have replaced by a value: {{…}}, %…% or ${…}."""
MTURK_PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""MTurk's assignmentId while a worker only looks at the task."""

PlaceState: TypeAlias = Literal["taken", "full", "refused"]
"""Whether a person has a place, found none free, or was refused by the screening questions."""

enrolments = schema.enrolments.c
judges = schema.judges.c


@dataclass(frozen=True)
class Enrolment:
    """The settings of the open link. `key` is part of the link; the judges' tokens are computed from
    `secret`. `quota` is the number of places. `completion` is a code to show at the end, or an address
    to go to."""

    key: str
    secret: str
    quota: int
    completion: str | None = None
    place_minutes: float = PLACE_MINUTES
    screening: tuple[ScreeningQuestion, ...] = ()

    @property
    def path(self) -> str:
        """The part of the link's address after the server."""
        return f"/open/{self.key}"

    @property
    def is_redirect(self) -> bool:
        """Whether judges go to an address at the end; false if a code is shown, or nothing."""
        return self.completion is not None and "://" in self.completion


@dataclass(frozen=True)
class Person:
    """Somebody who comes by the open link. `fields` are the platform's parameters in the address; in a
    preview (of MTurk) the person only looks at the task."""

    platform: str
    id: str
    fields: Mapping[str, str]
    is_preview: bool = False


@dataclass(frozen=True)
class Place:
    """The result for somebody who wants a place: `token` is the judge's token if the person has a
    place."""

    state: PlaceState
    token: str | None = None


def new_enrolment(
    *,
    quota: int,
    completion: str | None = None,
    place_minutes: float = PLACE_MINUTES,
    screening: Sequence[ScreeningQuestion] = (),
) -> Enrolment:
    """A new open link, with a random key and secret. Raises InputError for settings that cannot be
    used."""
    if quota < 1:
        raise InputError("An open study needs at least one place: quota=1 or more.")
    if not place_minutes > 0:  # the keyword of the API is place_timeout=
        raise InputError("place_timeout= must be above 0.")
    if completion is not None:
        check_completion(completion)
    return Enrolment(
        key=secrets.token_urlsafe(9),
        secret=secrets.token_urlsafe(32),
        quota=quota,
        completion=completion,
        place_minutes=place_minutes,
        screening=tuple(screening),
    )


def check_completion(completion: str) -> None:
    """Raises InputError for an address that is not http(s), and for unknown placeholders."""
    if "://" in completion or completion.lower().startswith(("javascript:", "data:")):
        parts = urlsplit(completion)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise InputError("completion= must be a code, or an address with http:// or https://.")
        if "{" in parts.netloc:
            raise InputError("completion= cannot have a placeholder in the name of the server.")
    known = ["judge", *(name for names in PLATFORM_FIELDS.values() for name in names)]
    wrong = [name for name in re.findall(r"\{(\w*)\}", completion) if name not in known]
    if wrong:
        raise InputError(
            f"completion= has an unknown placeholder {{{wrong[0]}}}. There are "
            f"{', '.join(f'{{{name}}}' for name in known)}."
        )


def filled_completion(enrolment: Enrolment, judge: str, fields: Mapping[str, str]) -> str | None:
    """The code or address for one judge. A placeholder without a value is left empty."""
    if enrolment.completion is None:
        return None
    values = {"judge": judge, **fields}
    is_address = enrolment.is_redirect

    def value(found: re.Match[str]) -> str:
        text = values.get(found[1], "")
        return quote(text, safe="") if is_address else text

    return re.sub(r"\{(\w+)\}", value, enrolment.completion)


def person_of(parameters: Mapping[str, str], browser_key: str) -> Person:
    """The person whom the parameters of an address name. If they name nobody, it is the browser with
    the key `browser_key`."""
    for platform, names in PLATFORM_FIELDS.items():
        fields = {name: parameters[name] for name in names if _is_filled(parameters.get(name, ""))}
        if platform == "sona" and not fields and _is_filled(parameters.get(SONA_OTHER_NAME, "")):
            fields = {names[0]: parameters[SONA_OTHER_NAME]}
        is_preview = parameters.get("assignmentId") == MTURK_PREVIEW and platform == "mturk"
        if names[0] in fields or is_preview:
            return Person(platform, fields.get(names[0], ""), fields, is_preview)
    return Person("browser", hashlib.sha256(browser_key.encode()).hexdigest(), {})


def _is_filled(value: str) -> bool:
    """Whether a parameter has a printable value, and not the platform's placeholder for one."""
    is_short = 0 < len(value) <= MAX_FIELD_CHARACTERS
    return is_short and value.isprintable() and not PLACEHOLDER.fullmatch(value)


def token_of(enrolment: Enrolment, person: Person) -> str:
    """The token of a person's place: the same whenever the person comes back."""
    named = f"{person.platform}\n{person.id}".encode()
    digest = hmac.new(enrolment.secret.encode(), named, hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest[:TOKEN_BYTES]).decode()


def enrolment_of(reading: StudyReading) -> Enrolment | None:
    """The open link of the study, as the database has it now: another server may have changed its
    settings. None where the study has none."""
    settings = reading.open_link
    if settings is None:
        return None
    screening = tuple(ScreeningQuestion.of(entry) for entry in settings["screening"])
    return Enrolment(**{**settings, "screening": screening})


def write_enrolment(connection: Connection, enrolment: Enrolment) -> None:
    connection.execute(sa.delete(schema.open_link))
    connection.execute(schema.open_link.insert().values(id=1, settings=asdict(enrolment)))


def own_place(enrolment: Enrolment, connection: Connection, person: Person) -> Place | None:
    """The place of somebody who came before; None for a new person, or if the place was given away."""
    row = _row_of(enrolment, connection, person)
    if row is None or _is_given_away(row):
        return None
    if row.judge is None:
        return Place("refused")
    return Place("taken", token_of(enrolment, person))


def enrol(
    enrolment: Enrolment,
    transaction: StudyTransaction,
    person: Person,
    now: float,
    *,
    is_accepted: bool = True,
) -> Place:
    """Gives a person a place: the same one if the person already has one.

    If the screening does not accept a person (`is_accepted`), the person is refused now and later. The
    database then keeps no name, only a hash of it that nobody can compute without the link's secret."""
    connection = transaction.connection
    row = _row_of(enrolment, connection, person)
    if row is not None and row.judge is None and row.returned_at is None:
        return Place("refused")
    if row is not None and not _is_given_away(row):
        return Place("taken", token_of(enrolment, person))
    if not is_accepted:
        _note_refusal(enrolment, connection, person, now)
        return Place("refused")
    if not has_free_place(enrolment, transaction, now):
        return Place("full")
    if row is not None:
        _give_same_place(connection, row.judge)
    else:
        token = token_of(enrolment, person)
        _insert(connection, person, _new_judge(connection, token, now), now)
    return Place("taken", token_of(enrolment, person))


def has_free_place(enrolment: Enrolment, transaction: StudyTransaction, now: float) -> bool:
    """Whether a place is free. First frees the places of judges who were away for too long."""
    connection = transaction.connection
    away = sa.select(judges.id).where(judges.seen_at < now - 60 * enrolment.place_minutes)
    timed_out = connection.scalars(
        sa.update(schema.enrolments)
        .where(
            enrolments.returned_at.is_(None),
            enrolments.finished_at.is_(None),
            enrolments.judge.in_(away),
        )
        .values(returned_at=now)
        .returning(enrolments.judge)
    ).all()
    for judge in timed_out:
        _let_others_answer(connection, judge)
    n_taken = connection.scalar(
        sa.select(sa.func.count())
        .select_from(schema.enrolments)
        .where(enrolments.returned_at.is_(None), enrolments.judge.is_not(None))
    )
    return (n_taken or 0) < enrolment.quota


def keep_or_regain_place(
    enrolment: Enrolment, transaction: StudyTransaction, judge: int, now: float
) -> bool:
    """Whether a judge still has a place, or has finished without one. If the judge's place was given
    away, gives the judge a free one first, if there is one and the screening has not refused the judge
    since."""
    connection = transaction.connection
    row = connection.execute(
        sa.select(schema.enrolments).where(enrolments.judge == judge)
    ).one_or_none()
    if row is None or row.returned_at is None:
        return True
    person = Person(row.platform, row.person, row.fields)
    is_refused = _row_of(enrolment, connection, person).judge is None
    if is_refused or not has_free_place(enrolment, transaction, now):
        return not _is_given_away(row)
    _give_same_place(connection, judge)
    return True


def give_back(connection: Connection, judge: int, now: float) -> None:
    """Frees the place of a judge who has not finished; others get the open trial."""
    if not is_unfinished(connection, judge):
        return
    connection.execute(
        sa.update(schema.enrolments).where(enrolments.judge == judge).values(returned_at=now)
    )
    _let_others_answer(connection, judge)


def note_finished(connection: Connection, judge: int, now: float) -> None:
    """Notes that a judge has finished, and so keeps the place."""
    connection.execute(
        sa.update(schema.enrolments)
        .where(enrolments.judge == judge, enrolments.finished_at.is_(None))
        .values(finished_at=now)
    )


def is_unfinished(connection: Connection, judge: int) -> bool:
    """Whether a judge came by the open link and has not finished."""
    unfinished = sa.select(enrolments.id).where(
        enrolments.judge == judge, enrolments.finished_at.is_(None)
    )
    return connection.scalar(unfinished) is not None


def fields_of_finished(connection: Connection, judge: int) -> dict[str, str] | None:
    """The platform's parameters in the address of a judge who has finished; None for a judge who has
    not, or was invited by name."""
    fields: dict[str, str] | None = connection.scalar(
        sa.select(enrolments.fields).where(
            enrolments.judge == judge, enrolments.finished_at.is_not(None)
        )
    )
    return fields


def forget_person(connection: Connection, judge: int) -> None:
    """Erases the person behind a judge. The place is free again."""
    connection.execute(
        sa.update(schema.enrolments)
        .where(enrolments.judge == judge)
        # The new name is random: anybody can write any name into an address, and could otherwise come
        # as this judge.
        .values(
            person=f"forgotten-{secrets.token_urlsafe(24)}",
            fields={},
            # Any time here means that the place is free.
            returned_at=enrolments.enrolled_at,
        )
    )


def _row_of(enrolment: Enrolment, connection: Connection, person: Person) -> Any:
    """The person's row in the table `enrolments`, also if the person was refused; None for a new
    person. If a person gave a place back and was refused later, there are two rows; the refusal
    counts."""
    names = (person.id, _name_of_refused(enrolment, person))
    return connection.execute(
        sa.select(schema.enrolments)
        .where(enrolments.platform == person.platform, enrolments.person.in_(names))
        .order_by(enrolments.judge.is_not(None))
    ).first()


def _is_given_away(row: Any) -> bool:
    """Whether the person in this row has no place. Somebody who lost the place and then finished, with
    an answer from a page that was still open, counts as having one."""
    return row.returned_at is not None and row.finished_at is None


def _name_of_refused(enrolment: Enrolment, person: Person) -> str:
    """The name under which a refused person is stored: a keyed hash. It recognizes the same person
    later, but the person's own name cannot be computed from it."""
    named = f"refused\n{person.platform}\n{person.id}".encode()
    return f"refused-{hmac.new(enrolment.secret.encode(), named, hashlib.sha256).hexdigest()}"


def _note_refusal(enrolment: Enrolment, connection: Connection, person: Person, now: float) -> None:
    n_refused = connection.scalar(
        sa.select(sa.func.count()).select_from(schema.enrolments).where(enrolments.judge.is_(None))
    )
    if (n_refused or 0) < MAX_REFUSALS_KEPT:
        unnamed = Person(person.platform, _name_of_refused(enrolment, person), {})
        _insert(connection, unnamed, None, now)


def _insert(connection: Connection, person: Person, judge: int | None, now: float) -> None:
    connection.execute(
        schema.enrolments.insert().values(
            judge=judge,
            platform=person.platform,
            person=person.id,
            fields=dict(person.fields),
            enrolled_at=now,
        )
    )


def _new_judge(connection: Connection, token: str, now: float) -> int:
    """The id of a new judge, whose name is the first free one of J1, J2, … after the number of
    judges."""
    n_judges = connection.scalar(sa.select(sa.func.count()).select_from(schema.judges)) or 0
    number = n_judges + 1
    while connection.scalar(sa.select(judges.id).where(judges.name == f"J{number}")) is not None:
        number += 1
    connection.execute(
        schema.judges.insert().values(
            id=n_judges + 1,
            name=f"J{number}",
            token_hash=token_hash(token),
            invited_at=now,
            seen_at=now,
            seen_answer=0,
        )
    )
    return n_judges + 1


def _give_same_place(connection: Connection, judge: int) -> None:
    """Gives a judge the same place as before."""
    connection.execute(
        sa.update(schema.enrolments).where(enrolments.judge == judge).values(returned_at=None)
    )


LONG_BEFORE_ALL_ANSWERS = -(2**40)
"""A value of the column `seen_answer`, which has the id of the study's newest answer when the judge was
last here. With this value, the others count as having given very many answers since then."""


def _let_others_answer(connection: Connection, judge: int) -> None:
    """Makes the judge count as away, as if the others had given very many answers since the judge was
    last here."""
    connection.execute(
        sa.update(schema.judges)
        .where(judges.id == judge)
        .values(seen_answer=LONG_BEFORE_ALL_ANSWERS)
    )
