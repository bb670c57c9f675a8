"""`StudyResults`: shows the state of a study, exports and copies it, and makes its datasheet."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wellput.api.inputs import check_files
from wellput.api.opened_study import OpenedStudy, saved
from wellput.core.judgment import Judgment, Preference
from wellput.core.work import OnPhase, ignore_phase
from wellput.io.files import PathLike

if TYPE_CHECKING:
    from wellput.studies.datasheet import Datasheet
    from wellput.studies.exports import ExportTarget
    from wellput.studies.overview import Overview
    from wellput.studies.summaries import Backup, Export, Forgotten, StudySummary


class StudyResults(OpenedStudy):
    """The methods of `Study` that its owner uses to see, export, copy and describe it."""

    def status(self, *, blinded: bool = False, path: PathLike | None = None) -> Overview:
        """The state of the study: which systems judges prefer, how much is done, what looks wrong, how
        well judges agree.

        Parameters
        ----------
        blinded
            Shows code names in place of the systems' names, so that you do not know which system leads.
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
        return saved(overview, path)

    def judgments(self, *, repeats: bool = False) -> list[Judgment] | list[Preference]:
        """The judgments, for `agree`. With `repeats`, judgments of repeated trials are included."""
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
        """Writes the judgments to a file, and the design of the study to a second file in the same
        folder.

        Parameters
        ----------
        path
            A CSV, TSV, JSONL or Parquet file, by suffix; `"-"` is CSV on standard output.
        as_
            The format: `"judgments"` for wellput, `"evalica"`, `"mt-metrics-eval"` (a path that ends in
            `.seg.score` or `.sys.score`; in `.seg.rating` for error spans), `"appraise"` (scores for
            `.csv`, batches for `.json`), or `"label-studio"` (`.json`).
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

        The copy has every answer that was confirmed before copying began. The copy of an SQLite study
        is a study that can be opened; the copy of a PostgreSQL study is a file for `pg_restore`.

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
        """Makes the same study again: the same settings, items, trials and seed, without judges and
        answers. An open study gets a new open link.

        Parameters
        ----------
        path
            The file to make (SQLite), or the URL of an empty PostgreSQL database.

        Returns
        -------
        StudySummary
            The summary of the new study, as after `create`, with its owner's token.

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
        """The datasheet: questions that a reader of the study asks. Those that the database can answer
        are answered; the other questions are left open.

        Parameters
        ----------
        preregistration
            Makes instead a preregistration, to be published before the first answer: it says what is
            fixed by then.
        path
            Writes the datasheet to a file; a `.json`, `.csv`, `.tex` or `.md` file is in that format.
        """
        from wellput.studies.datasheet import make_datasheet, make_preregistration

        check_files([path], self._store.database.files)
        make = make_preregistration if preregistration else make_datasheet
        return saved(make(self._store, self._shown_path), path)

    def forget(self, judge: str, *, path: PathLike | None = None) -> Forgotten:
        """Erases a judge who withdraws consent: answers, demographics, name and link. This is final.

        Parameters
        ----------
        judge
            The judge's name. If an earlier call erased the judge, but could not remove all copies (see
            Raises), the new name that the error message gives; then only the copies are removed.
        path
            Writes a record of the erasure to a file; a `.json`, `.csv`, `.tex` or `.md` file is in
            that format.

        Raises
        ------
        InputError
            There is no judge of this name. Or the judge was erased, but another program that reads the
            study keeps copies in its files: the message says how to remove them afterwards.
        """
        from wellput.studies.summaries import Forgotten

        check_files([path], self._store.database.files)
        return saved(Forgotten(judge, self._store.forget(judge)), path)
