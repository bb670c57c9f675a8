"""`Study`: people's judgments, collected on the web."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from wellput.api.inputs import Items, Metrics
from wellput.core.errors import InputError, MissingExtra
from wellput.core.evalset import EvalSet
from wellput.core.judgment import Judgment, Preference
from wellput.core.metric import GivesMetric, Metric
from wellput.core.registries import Names, split_names
from wellput.core.result import Result
from wellput.core.source import EvalSource
from wellput.core.work import OnPhase, ignore_phase
from wellput.io import check_writable, read_evalset
from wellput.io.files import PathLike
from wellput.metrics.registry import create, split_specs

if TYPE_CHECKING:
    from fastapi import FastAPI

    from wellput.studies.designs.base import Design
    from wellput.studies.exports import ExportTarget
    from wellput.studies.overview import Overview
    from wellput.studies.planning import SelectionMethod
    from wellput.studies.questionnaire import Layout
    from wellput.studies.store import Store
    from wellput.studies.study_setup import PlanKind
    from wellput.studies.summaries import Export, Forgotten, InvitationList, StudySummary

ADDRESS = "http://127.0.0.1:8000"


class Study:
    """A study in its database: make one with `Study.create`, or go on with one by `Study.open`.

    Attributes
    ----------
    path
        The file or URL of the database, as it was given.
    owner_token
        Opens the dashboard. It is known only after `create` and `renew_owner_token`.

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
        judges: int | None = None,
        per_item: int | None = None,
        plan: PlanKind = "per-item",
        times: int | None = None,
        repeats: int = 0,
        checks: int = 0,
        at_most: int | None = None,
        lease: float = 30.0,
        select: SelectionMethod | None = None,
        metrics: Metrics = (),
        per_stratum: int = 10,
        from_substitutions: bool = False,
        seed: int = 12345,
        threads: int | None = None,
        on_phase: OnPhase = ignore_phase,
    ) -> Self:
        """Makes a study of an evalset.

        Parameters
        ----------
        evalset
            An evalset in memory, or the path of a file: what judges see are its outputs.
        path
            The file to make (SQLite), or the URL of an empty PostgreSQL database.
        design
            `"rating"`, `"magnitude"`, `"slider"`, `"pairwise"`, `"task"`, that of another package, or a
            design object; options may stand behind the name: `"rating:points=5"`.
        questions
            What is asked, by name.
        settings
            Wording, consent, practice, checks and tasks: the path of a TOML file, or what it would say.
            Keywords go before it.
        points, ties, modulus
            Options of the designs rating, pairwise and magnitude.
        layout
            `"single"`, one variant at a time, or `"page"`, all variants of an item together.
        consent, practice, demographics
            Begins with the usual form of consent, practice trials, questions about the judge.
        show_source
            Shows the source of each item.
        judges
            How many judges are expected.
        per_item
            Judgments of every trial: 3, or the number of judges if fewer.
        plan
            `"per-item"`: `per_item` judgments a trial. `"within-judge"`: every judge sees each item
            once and every system, or pair, `times` times (as often as the items allow).
        repeats, checks
            Trials that each judge sees twice, and attention checks for each judge.
        at_most
            Trials for a judge, at most.
        lease
            Minutes of absence after which a judge's trial goes to others.
        select, metrics, per_stratum
            Shows only some trials: `"random"`, `"spread"` over the metrics' values, or in `"contrast"`
            between metrics; `per_stratum` of each stratum.
        from_substitutions
            The evalset holds substitutions of `paraphrase`: asks whether each is right.
        seed
            Of everything random.
        threads, on_phase
            As for `score`.

        Raises
        ------
        InputError
            No judge could answer the questions, the evalset has nothing to show, or there is a study
            at `path` already.
        """
        store_class = _store_class()
        from wellput.studies.planning import plan_study, substitution_settings
        from wellput.studies.settings import make_settings, read_settings
        from wellput.studies.study_setup import make_plan

        on_phase("reading items")
        items = _in_memory(evalset)
        record: Mapping[str, Any] = {} if settings is None else read_settings(settings)
        if from_substitutions:
            design, record = substitution_settings(items, record, design=design, points=points)
        made = make_settings(
            design,
            record,
            questions=split_names(questions),
            n_checks=checks,
            points=points,
            layout=layout,
            ties=ties or None,
            modulus=modulus,
            consent=consent or None,
            practice=practice or None,
            demographics=demographics or None,
            show_source=show_source or None,
        )
        study_plan = make_plan(
            plan,
            judges=judges,
            per_item=per_item,
            times=times,
            repeats=repeats,
            checks=checks,
            at_most=at_most,
            lease_minutes=lease,
        )
        setup = plan_study(
            items,
            made,
            study_plan,
            select=select,
            metrics=_each(metrics),
            per_stratum=per_stratum,
            seed=seed,
            threads=threads,
            on_phase=on_phase,
        )
        on_phase("writing the study")
        return cls(store_class.create(path, setup), path)

    @classmethod
    def open(cls, path: PathLike) -> Self:
        """An existing study, brought to this version's form where it is older.

        Raises
        ------
        InputError
            There is no study, a newer wellput made it, or its design is of a package that is missing.
        """
        return cls(_store_class().open(path), path)

    @property
    def owner_token(self) -> str | None:
        return self._store.owner_token

    @property
    def title(self) -> str:
        """What judges see above every page."""
        return self._store.questionnaire.title

    def renew_owner_token(self) -> str:
        """A new token for the owner; the old one is no longer good."""
        return self._store.renew_owner_token()

    def summary(self) -> StudySummary:
        """What the study asks, of how many: what `wellput study create` prints."""
        from wellput.studies.summaries import StudySummary

        return StudySummary.of(self._store.setup, study=self.path, owner_token=self.owner_token)

    def invite(
        self,
        *,
        judges: int | None = None,
        names: Names = (),
        url: str = ADDRESS,
        path: PathLike | None = None,
    ) -> InvitationList:
        """Invites judges: one private link each, which is not to be had again.

        Parameters
        ----------
        judges
            How many: as many as there are names, or as were planned.
        names
            Their names; J1, J2, … unless given.
        url
            Where the study will be served.
        path
            Writes the links to a file; `.json`, `.csv`, `.tex` and `.md` in that format.

        Returns
        -------
        InvitationList
            An `Invitation` for each, with `judge`, `token` and `url`.

        Raises
        ------
        InputError
            A name is taken, or there are more or fewer names than judges.
        """
        from wellput.studies.summaries import InvitationList

        _check_report(path)
        chosen = split_names(names)
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
    ) -> None:
        """Serves the judges' pages, the JSON interface and the dashboard until it is interrupted.

        Parameters
        ----------
        host, port
            The address to listen at.
        certificate, key
            PEM files for TLS.

        Raises
        ------
        InputError
            The address cannot be listened at, or the certificate not be used.
        """
        if (certificate is None) != (key is None):
            raise InputError("TLS needs both: certificate= and key=.")
        with _needing_the_extra("Serving a study"):
            from wellput.studies.app import serve
        serve(
            self._store,
            host=host,
            port=port,
            certificate=None if certificate is None else Path(certificate),
            key=None if key is None else Path(key),
        )

    def app(self) -> FastAPI:
        """The web application (ASGI), to be served by other means or called in process."""
        with _needing_the_extra("Serving a study"):
            from wellput.studies.app import create_app
        return create_app(self._store)

    def status(self, *, path: PathLike | None = None) -> Overview:
        """How the study stands: whom the judges prefer, how far they are, what looks wrong, how well
        they agree.

        Parameters
        ----------
        path
            Writes it to a file; `.json`, `.csv`, `.tex` and `.md` in that format.
        """
        _check_report(path)
        return _saved(self._store.overview(), path)

    def judgments(self, *, repeats: bool = False) -> list[Judgment] | list[Preference]:
        """What the judges said, as `agree` takes it; with `repeats` also of trials seen again."""
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
        """Writes the judgments to a file, and the design beside it.

        Parameters
        ----------
        path
            CSV, TSV, JSONL or Parquet by suffix; `"-"` is CSV on standard output.
        as_
            For whom: `"judgments"` for wellput itself, `"evalica"`, or `"mt-metrics-eval"`, whose path
            ends in `.seg.score` or `.sys.score`.
        question
            Only the answers to this question.
        repeats
            Repeated trials too, marked in a column.
        on_phase
            As for `score`.

        Raises
        ------
        InputError
            There are no answers yet, none to the question, or not of the kind that is asked for.
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

    def forget(self, judge: str, *, path: PathLike | None = None) -> Forgotten:
        """Erases a judge who withdraws consent: answers, demographics, name and link, for good.

        Parameters
        ----------
        judge
            The judge's name.
        path
            Writes what was done to a file; `.json`, `.csv`, `.tex` and `.md` in that format.

        Raises
        ------
        InputError
            There is no such judge.
        """
        from wellput.studies.summaries import Forgotten

        _check_report(path)
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


def _store_class() -> type[Store]:
    with _needing_the_extra("A study"):
        from wellput.studies.store import Store
    return Store


@contextmanager
def _needing_the_extra(what: str) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtra(what, "judge") from error


def _in_memory(evalset: Items) -> EvalSet:
    if isinstance(evalset, EvalSet):
        return evalset
    if isinstance(evalset, EvalSource):
        return EvalSet([item for block in evalset.blocks() for item in block])
    return read_evalset(evalset)


def _each(metrics: Metrics) -> list[str | Metric]:
    given = [metrics] if isinstance(metrics, str | Metric | GivesMetric) else list(metrics)
    return [
        spec
        for one in given
        for spec in (split_specs(one) if isinstance(one, str) else [create(one)])
    ]


def _check_report(path: PathLike | None) -> None:
    if path is not None:
        check_writable(path)


R = TypeVar("R", bound=Result)


def _saved(result: R, path: PathLike | None) -> R:
    if path is not None:
        result.save(path)
    return result
