"""`Study`: collects people's judgments on the web."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from wellput.api.inputs import Answers, Columns, Items, Metrics
from wellput.api.study_creation import create_store, store_class, store_of_judgments
from wellput.api.study_judges import StudyJudges
from wellput.api.study_results import StudyResults
from wellput.core.errors import InputError
from wellput.core.options import checks_options
from wellput.core.registries import Names, split_names
from wellput.core.work import OnPhase, ignore_phase
from wellput.io.files import PathLike

if TYPE_CHECKING:
    from wellput.studies.designs.base import Design
    from wellput.studies.media import ShownAs
    from wellput.studies.planning import SelectionMethod
    from wellput.studies.questionnaire import Layout
    from wellput.studies.study_setup import PlanKind


class Study(StudyJudges, StudyResults):
    """A study in a database. `Study.create` makes a new one, `Study.open` opens an existing one, and
    `Study.from_judgments` makes a study from judgments that were collected elsewhere.

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

    @classmethod
    @checks_options
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
        comments: bool = False,
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
        place_timeout: float | None = None,
        seed: int = 12345,
        threads: int | None = None,
        on_phase: OnPhase = ignore_phase,
    ) -> Self:
        """Makes a study in which people judge the outputs of an evalset.

        Parameters
        ----------
        evalset
            An evalset in memory, or the path of a file. Judges see its outputs.
        path
            The file to make (SQLite), or the URL of an empty PostgreSQL database.
        column
            Names the columns of the evalset's file, as for `score`.
        design
            `"rating"`, `"magnitude"`, `"slider"`, `"pairwise"`, `"spans"`, `"mqm"`, `"task"`, a design
            of another package, or a design object. Options may follow the name: `"rating:points=5"`.
        questions
            The names of the questions.
        settings
            Wording, consent, practice, checks and tasks: the path of a TOML file, or a dictionary with
            its contents. Keywords override it.
        points, ties, modulus
            The number of points of the scale (rating), whether judges may say that neither output is
            better (pairwise), and the number that stands for an average sentence (magnitude).
        layout
            `"single"`: one output at a time; `"page"`: all outputs of an item together.
        consent, practice, demographics
            The study begins with a form of consent, with practice trials, or with questions about the
            judge. After a practice trial, judges read how it should be answered.
        comments
            Judges may add a comment to every answer.
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
            How many judges answer each trial. A trial is what a judge sees at once: an output, or a
            pair of outputs. Default: 3, or the number of judges if lower.
        plan
            `"per-item"`: `per_item` judges answer each trial. `"within-judge"`: every judge sees each
            item once, and each system (or pair of systems) `times` times (default: as often as the
            items allow).
        repeats, checks
            Trials that each judge sees twice, and attention checks for each judge.
        degraded_checks
            The checks are spoiled outputs of the study: half of the words come from another item, and
            all words are shuffled. A judge must rate them in the lower half of the scale, or prefer the
            unspoiled output.
        break_every
            Suggests a break each time that a judge has given this many answers.
        at_most
            The largest number of trials that one judge gets.
        lease
            Minutes of absence after which a judge's open trial goes to another judge.
        select, metrics, per_stratum
            Shows only some trials: `"random"`, drawn at random; `"spread"`, drawn from each fifth of
            the range of a metric's values; `"contrast"`, where metrics disagree most. `per_stratum`
            trials are shown of each system (random) or of each fifth of each metric's range (spread).
            With contrast, for each pair of metrics: `per_stratum` trials that the first metric ranks
            higher, and as many that the second ranks higher.
        from_substitutions
            The evalset has substitutions made by `paraphrase`: asks whether each is right.
        items, systems
            Which items and systems the study shows. `items`: a number of items, drawn at random among
            those that have an output of every shown system; a file with an id on each line; or a list
            of ids. Default: all.
        open
            Makes one open link, by which everybody can take part until all places are taken.
        quota
            The number of judges who can take part by the open link. Default: `judges`.
        screening
            A TOML file with questions that judges answer first, and the answers with which they may
            take part.
        completion
            A code to show at the end, or an address to go to. {PROLIFIC_PID}, {STUDY_ID}, {SESSION_ID},
            {workerId}, {assignmentId}, {hitId}, {survey_code} and {judge} are filled in.
        place_timeout
            Minutes of absence after which the place of a judge who has not finished is free again.
            Default: 120.
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
        if not open and (quota is not None or screening or completion or place_timeout is not None):
            raise InputError(
                "quota=, screening=, completion= and place_timeout= belong to open=True."
            )
        store = create_store(
            evalset,
            path,
            column=column,
            design=design,
            questions=split_names(questions),
            settings=settings,
            options={
                "points": points,
                "layout": layout,
                "ties": ties or None,
                "modulus": modulus,
                "consent": consent or None,
                "practice": practice or None,
                "demographics": demographics or None,
                "comments": comments or None,
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
    @checks_options
    def from_judgments(
        cls,
        evalset: Items,
        judgments: Answers,
        *,
        path: PathLike,
        column: Columns = (),
        design: str | None = None,
        weights: str | Mapping[str, float] | None = None,
        seed: int = 12345,
        on_phase: OnPhase = ignore_phase,
    ) -> Self:
        """Makes a finished study from judgments that were collected elsewhere. The study is closed. It
        has the judges, their answers and, if they are known, the times of the answers.

        Parameters
        ----------
        evalset
            The outputs that were judged: an evalset in memory, or the path of a file. For a campaign
            of Appraise (a web tool for judging), the file of its batches (`.json`).
        judgments
            Ratings, perhaps with error spans: in memory, or the path of a file. If they are the scores
            of a campaign of Appraise (`.csv`), with its batches as `evalset`, the attention checks are
            imported, too.
        path
            The file to make (SQLite), or the URL of an empty PostgreSQL database.
        column
            Names the columns of the evalset's file, as for `score`.
        design
            What judges were asked. Default: `"mqm"` for error spans with categories, `"spans"` for
            other error spans, `"slider"` for numbers from 0 to 100. `"rating:points=5"` is for points.
        weights
            What errors cost in the design mqm: `"minor=1,major=5"`, or a mapping. Default: as in
            `create`; for a campaign of Appraise as `read_judgments` counts them.
        seed
            Seed of the random choices in a copy that `replicate` makes.
        on_phase
            As for `score`.

        Raises
        ------
        InputError
            There are pairwise choices, a judgment does not fit the design or has no output in the
            evalset, or a study already exists at `path`.
        """
        store = store_of_judgments(
            evalset,
            judgments,
            path,
            column=column,
            design=design,
            weights=weights,
            seed=seed,
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
        return cls(store_class().open(path), path)

    def __repr__(self) -> str:
        setup = self._store.setup
        names = ", ".join(question.name for question in setup.questionnaire.questions)
        design = setup.questionnaire.kind
        return f"Study({self._shown_path}, {design} of {names}, {len(setup.trials)} trials)"
