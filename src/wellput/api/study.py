"""`Study`: people's judgments, collected on the web."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from wellput.api.inputs import Columns, Items, Metrics, check_files
from wellput.api.study_creation import create_store, import_store, needing_judge_extra, open_link
from wellput.core.errors import InputError
from wellput.core.judgment import MACHINE_PREFIX, Judgment, Preference
from wellput.core.registries import Names, split_names
from wellput.core.result import Result
from wellput.core.work import OnPhase, ignore_phase
from wellput.io.files import PathLike

if TYPE_CHECKING:
    from fastapi import FastAPI

    from wellput.studies.datasheet import Datasheet
    from wellput.studies.designs.base import Design
    from wellput.studies.exports import ExportTarget
    from wellput.studies.media import ShownAs
    from wellput.studies.overview import Overview
    from wellput.studies.planning import SelectionMethod
    from wellput.studies.questionnaire import Layout
    from wellput.studies.store import Store
    from wellput.studies.study_setup import PlanKind
    from wellput.studies.summaries import Backup, Export, Forgotten, InvitationList, StudySummary

DEFAULT_URL = "http://127.0.0.1:8000"


class Study:
    """A study in a database. `Study.create` makes a new one, `Study.open` opens an existing one.

    Attributes
    ----------
    path
        The file or URL of the database, as given.
    owner_token
        Opens the dashboard. Known only after `create` and `renew_owner_token`, else None.

    Examples
    --------
    >>> import tempfile, wellput
    >>> evalset = wellput.EvalSet.of({"A": ["a cat sat", "it rained"], "B": ["cat sat", "rain"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     study = wellput.Study.create(evalset, path=f"{folder}/study.db", design="rating")
    ...     ann, bob = study.invite(names="Ann,Bob", url="https://study.example.org")
    ...     status = study.status()
    ...     study.close()
    >>> bob.url.startswith("https://study.example.org/judge/")
    True
    >>> status.done, status.planned, [judge.name for judge in status.judges]
    (0, 12, ['Ann', 'Bob'])
    """

    def __init__(self, store: Store, path: PathLike) -> None:
        self._store = store
        self.path = str(path)

    @classmethod
    def create(
        cls,
        evalset: Items,
        *,
        path: PathLike,
        column: Columns = (),
        design: str | Design | None = None,
        questions: Names = (),
        settings: PathLike | Mapping[str, Any] | None = None,
        points: int | None = None,
        layout: Layout | None = None,
        ties: bool = False,
        modulus: float | None = None,
        consent: bool = False,
        practice: bool = False,
        demographics: bool = False,
        show_source: bool = False,
        show_reference: bool = False,
        categories: PathLike | Mapping[str, Any] | None = None,
        weights: str | Mapping[str, float] | None = None,
        prefill: PathLike | None = None,
        show: ShownAs | None = None,
        media: PathLike | None = None,
        language: str | None = None,
        unit: str | None = None,
        judges: int | None = None,
        per_item: int | None = None,
        plan: PlanKind = "per-item",
        times: int | None = None,
        repeats: int = 0,
        checks: int = 0,
        degraded_checks: bool = False,
        break_every: int | None = None,
        at_most: int | None = None,
        lease: float = 30.0,
        select: SelectionMethod | None = None,
        metrics: Metrics = (),
        per_stratum: int = 10,
        from_substitutions: bool = False,
        items: int | PathLike | Sequence[str] | None = None,
        systems: Names = (),
        open: bool = False,
        quota: int | None = None,
        screening: PathLike | None = None,
        completion: str | None = None,
        place_timeout: float = 120.0,
        seed: int = 12345,
        threads: int | None = None,
        on_phase: OnPhase = ignore_phase,
    ) -> Self:
        """Makes a study of an evalset.

        Parameters
        ----------
        evalset
            An evalset in memory, or the path of a file. Judges see its outputs.
        path
            The file to make (SQLite), or the URL of an empty PostgreSQL database.
        column
            The columns of the evalset's file, as for `score`.
        design
            `"rating"`, `"magnitude"`, `"slider"`, `"pairwise"`, `"spans"`, `"mqm"`, `"task"`, a design
            of another package, or a design object. Options may follow the name: `"rating:points=5"`.
        questions
            The names of the questions.
        settings
            Wording, consent, practice, checks and tasks: the path of a TOML file, or a dictionary with
            its contents. Keywords override it.
        points, ties, modulus
            Options of the designs rating, pairwise and magnitude.
        layout
            `"single"`: one output at a time; `"page"`: all outputs of an item together.
        consent, practice, demographics
            Begins with a form of consent, practice trials, questions about the judge.
        show_source, show_reference
            Shows the source, or the references, of each item. The designs spans and mqm show the source
            unless the settings say `show_source = false`.
        categories
            The kinds of errors of the design mqm: the path of a TOML file, or a tree of names such as
            `{"accuracy": ["addition", "omission"], "other": ""}`.
        weights
            What errors cost in the design mqm: `"minor=1,major=5"`, or a mapping.
        prefill
            A file of error spans, such as `judge` writes with `design="spans"`. Judges find them
            marked, and keep, change or remove them.
        show
            How texts are shown: `"plain"` (the default), as they are; `"markdown"`, with tables, code,
            formulas, images and sounds, in which nothing runs and nothing is fetched.
        media
            A folder with the images and sounds that markdown names by a path. The study keeps them.
        language
            The language of the pages: `"en"` (the default), `"de"`, `"fr"`, `"es"`, `"zh"`, `"ar"`, or
            the path of a language file of your own (`.toml`).
        unit
            What the outputs are called in the questions: `"sentence"`, `"text"`, `"answer"`,
            `"summary"`, `"translation"`, in English any word. Default: `"sentence"` if most outputs
            are one, else `"text"`.
        judges
            How many judges are expected.
        per_item
            Judgments of each trial. Default: 3, or the number of judges if lower.
        plan
            `"per-item"`: `per_item` judgments of each trial. `"within-judge"`: every judge sees each
            item once, and each system (or pair) `times` times. Default: as often as the items allow.
        repeats, checks
            Trials that each judge sees twice, and attention checks for each judge.
        degraded_checks
            The checks are outputs of the study, spoiled: half of the words are foreign, in random
            order. They must be rated in the lower half of the scale, or lose to the whole output.
        break_every
            Suggests a break after so many answers.
        at_most
            Most trials that one judge gets.
        lease
            Minutes of absence after which a judge's open trial goes to another judge.
        select, metrics, per_stratum
            Shows only some trials: `"random"`, drawn at random; `"spread"` over the metrics' values;
            `"contrast"`, where metrics disagree. `per_stratum` trials of each stratum.
        from_substitutions
            The evalset has substitutions made by `paraphrase`: asks whether each is right.
        items, systems
            Which items and systems the study shows. `items`: so many, drawn at random among those that
            have an output of every shown system; a file with an id on each line; or a list of ids.
            Default: all.
        open
            Makes one open link, by which everybody can take part until all places are taken.
        quota
            The number of places of the open link. Default: `judges`.
        screening
            A TOML file with questions that come first, and the answers that are accepted.
        completion
            A code to show at the end, or an address to go to. {PROLIFIC_PID}, {STUDY_ID}, {SESSION_ID},
            {workerId}, {assignmentId}, {hitId}, {survey_code} and {judge} are filled in.
        place_timeout
            Minutes of absence after which the place of a judge who has not finished is free again.
        seed
            Seed of everything random.
        threads, on_phase
            As for `score`.

        Raises
        ------
        InputError
            No judge could answer the questions, the evalset has nothing to show, or a study already
            exists at `path`.
        """
        if degraded_checks and not checks:
            raise InputError("degraded_checks=True needs the number of checks: checks=.")
        if not open and (quota is not None or screening or completion):
            raise InputError("quota=, screening= and completion= belong to open=True.")
        store = create_store(
            evalset,
            path,
            column=column,
            design=design,
            questions=split_names(questions),
            settings=settings,
            wording={
                "points": points,
                "layout": layout,
                "ties": ties or None,
                "modulus": modulus,
                "consent": consent or None,
                "practice": practice or None,
                "demographics": demographics or None,
                "show_source": show_source or None,
                "break_every": break_every,
                "show_reference": show_reference or None,
                "categories": categories,
                "weights": weights,
                "show": show,
                "language": language,
                "unit": unit,
            },
            plan={
                "kind": plan,
                "judges": judges,
                "per_item": per_item,
                "times": times,
                "repeats": repeats,
                "checks": checks,
                "at_most": at_most,
                "lease_minutes": lease,
            },
            select=select,
            metrics=metrics,
            per_stratum=per_stratum,
            degraded_checks=degraded_checks,
            from_substitutions=from_substitutions,
            prefill=prefill,
            items=items,
            systems=split_names(systems),
            enrolment={
                "quota": quota,
                "completion": completion,
                "place_timeout": place_timeout,
                "screening": screening,
            }
            if open
            else None,
            media=media,
            seed=seed,
            threads=threads,
            on_phase=on_phase,
        )
        return cls(store, path)

    @classmethod
    def open(cls, path: PathLike) -> Self:
        """Opens an existing study. A study of an older version is upgraded.

        Raises
        ------
        InputError
            There is no study, a newer wellput made it, or the package of its design is missing.
        """
        return cls(import_store().open(path), path)

    @property
    def owner_token(self) -> str | None:
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
            study=self.path,
            owner_token=self.owner_token,
            open_link=self.open_link(),
        )

    def open_link(self, url: str = DEFAULT_URL) -> str | None:
        """The link by which everybody can take part; None if the study is not open. `url` is the
        address at which it is served."""
        enrolment = self._store.enrolment
        return None if enrolment is None else f"{url.rstrip('/')}{enrolment.path}"

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
            How many. Default: the number of names, or the planned number of judges.
        names
            Their names. Default: J1, J2, ….
        machine
            Names of machines. Each is a judge named `model:NAME`, which answers every trial and takes
            none of people's; `wellput.judge(study, model=NAME, …)` answers for it.
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
            raise InputError("machine= invites machines; invite people by another call.")
        chosen = [*split_names(names), *machines]
        count = judges or len(chosen) or self._store.setup.plan.judges
        invited = self._store.invite(count, chosen or None)
        at = f"{url.rstrip('/')}/judge"
        links = (replace(one, url=f"{at}/{one.token}") for one in invited)
        return _saved(InvitationList(tuple(links)), path)

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
        place_timeout: float = 120.0,
    ) -> None:
        """Serves the judges' pages, the JSON interface and the dashboard until interrupted.

        Parameters
        ----------
        host, port
            The address to listen on.
        certificate, key
            PEM files for TLS.
        request_timeout
            A request that has not arrived completely after so many seconds is refused: its connection
            is closed.
        max_connections
            Most connections at a time. If there are more, those that have waited longest for the rest
            of a request are closed.
        trust_proxy
            Addresses of proxies, whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed. Default:
            nobody's.
        open, quota, completion, place_timeout
            Makes an open link, as `create` does. If there is one, it stays the same, and its places and
            its end change.

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
        elif quota is not None or completion is not None:
            raise InputError("quota= and completion= belong to open=True.")
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
        )

    def open_to_everybody(
        self,
        *,
        quota: int | None = None,
        completion: str | None = None,
        place_timeout: float = 120.0,
    ) -> None:
        """Makes an open link, as `create(open=True)` does. If there is one, it stays the same, and only
        what is given changes."""
        before = self._store.enrolment
        if quota is None:
            quota = self._store.setup.plan.judges if before is None else before.quota
        if completion is None and before is not None:
            completion = before.completion
        link = open_link(
            quota=quota, completion=completion, place_timeout=place_timeout, screening=None
        )
        if before is not None:
            link = replace(link, screening=before.screening)
        self._store.open_enrolment(link)

    def app(self) -> FastAPI:
        """The web application (ASGI), for another server or for tests."""
        with needing_judge_extra("Serving a study"):
            from wellput.studies.app import create_app
        return create_app(self._store)

    def status(self, *, blinded: bool = False, path: PathLike | None = None) -> Overview:
        """The state of the study: whom the judges prefer, how much is done, what looks wrong, how well
        judges agree.

        Parameters
        ----------
        blinded
            Gives the systems code names, so that you can look and stay blind.
        path
            Writes the status to a file; a `.json`, `.csv`, `.tex` or `.md` file is in that format.
        """
        check_files([path], self._store.database.files)
        overview = self._store.overview()
        if blinded:
            from wellput.studies.blinding import blinded as without_names
            from wellput.studies.blinding import code_names

            setup = self._store.setup
            names = code_names(setup.systems, setup.seed)
            overview = replace(overview, ranking=without_names(overview.ranking, names))
        return _saved(overview, path)

    def judgments(self, *, repeats: bool = False) -> list[Judgment] | list[Preference]:
        """The judgments, for `agree`; with `repeats` also those of repeated trials."""
        return self._store.judgments(repeats=repeats)

    def export(
        self,
        path: PathLike,
        *,
        as_: ExportTarget = "judgments",
        question: str | None = None,
        repeats: bool = False,
        on_phase: OnPhase = ignore_phase,
    ) -> Export:
        """Writes the judgments to a file, and the design to a second file beside it.

        Parameters
        ----------
        path
            A CSV, TSV, JSONL or Parquet file, by suffix; `"-"` is CSV on standard output.
        as_
            The format: `"judgments"` for wellput, `"evalica"`, or `"mt-metrics-eval"` (a path that ends
            in `.seg.score` or `.sys.score`).
        question
            Writes only the answers to this question.
        repeats
            Includes repeated trials, marked in a column.
        on_phase
            As for `score`.

        Raises
        ------
        InputError
            There are no answers yet, none to the question, or the format does not fit them.
        """
        from wellput.studies.exports import check_target, export

        check_target(str(path), as_)
        return export(
            self._store,
            str(path),
            target=as_,
            question=question,
            repeats=repeats,
            on_phase=on_phase,
        )

    def backup(self, path: PathLike) -> Backup:
        """Copies the study to a new file, also while judges are at work.

        The copy has every answer that was confirmed before it began. Of an SQLite study it is a study
        itself; of a PostgreSQL study it is a file for `pg_restore`.

        Parameters
        ----------
        path
            The file to make. An existing file is never overwritten.

        Raises
        ------
        InputError
            The file exists, or `pg_dump` is needed and missing.
        """
        from wellput.studies.backups import back_up

        return back_up(self._store.database, str(path))

    def replicate(self, path: PathLike) -> StudySummary:
        """Makes the same study anew: the same settings, items, trials and seed, without judges and
        answers. An open study gets a new open link.

        Parameters
        ----------
        path
            The file to make (SQLite), or the URL of an empty PostgreSQL database.

        Returns
        -------
        StudySummary
            What `create` says of a new study, with its owner's token.

        Raises
        ------
        InputError
            A study already exists at `path`.
        """
        from wellput.studies.replication import replicate

        copy = type(self)(replicate(self._store, str(path)), path)
        try:
            return copy.summary()
        finally:
            copy.close()

    def datasheet(
        self, *, preregistration: bool = False, path: PathLike | None = None
    ) -> Datasheet:
        """What a reader of the study must know, answered from the database where it knows it. The other
        questions are left open.

        Parameters
        ----------
        preregistration
            Says instead what is fixed before the first answer, to be published then.
        path
            Writes it to a file; a `.json`, `.csv`, `.tex` or `.md` file is in that format.
        """
        from wellput.studies.datasheet import make_datasheet, make_preregistration

        check_files([path], self._store.database.files)
        make = make_preregistration if preregistration else make_datasheet
        return _saved(make(self._store, self.path), path)

    def forget(self, judge: str, *, path: PathLike | None = None) -> Forgotten:
        """Erases a judge who withdraws consent: answers, demographics, name and link. This is final.

        Parameters
        ----------
        judge
            The judge's name.
        path
            Writes the record to a file; a `.json`, `.csv`, `.tex` or `.md` file is in that format.

        Raises
        ------
        InputError
            There is no judge of this name.
        """
        from wellput.studies.summaries import Forgotten

        check_files([path], self._store.database.files)
        return _saved(Forgotten(judge, self._store.forget(judge)), path)

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

    def __repr__(self) -> str:
        setup = self._store.setup
        names = ", ".join(question.name for question in setup.questionnaire.questions)
        design = setup.questionnaire.kind
        return f"Study({self.path}, {design} of {names}, {len(setup.trials)} trials)"


R = TypeVar("R", bound=Result)


def _saved(result: R, path: PathLike | None) -> R:
    if path is not None:
        result.save(path)
    return result
