"""Results for the owner of a study: `StudySummary` of a new study, `InvitationList`, `Export`,
`Backup`, `Forgotten`. (`studies.overview` has the state of a study.)"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from wellput.core.result import Result
from wellput.studies.assignment_rules import trials_per_judge
from wellput.studies.invitations import Invitation
from wellput.studies.study_setup import PlanKind, StudySetup


@dataclass(frozen=True, repr=False)
class StudySummary(Result):
    """The design, the questions, the systems, the plan and the numbers of trials of a study.
    `owner_token` is None unless the study was made just now. `open_link` is the link for everybody, if
    the study has one."""

    presented_by: ClassVar[str] = "wellput.reporting.study:summary_report"
    is_secret: ClassVar[bool] = True

    study: str
    design: str
    questions: tuple[str, ...]
    systems: tuple[str, ...]
    items: int
    trials: int
    plan: PlanKind
    judges: int
    per_item: int | None
    per_judge: int
    selection: Mapping[str, Any] | None
    seed: int
    owner_token: str | None
    open_link: str | None = None

    @classmethod
    def of(
        cls,
        setup: StudySetup,
        *,
        study: str,
        owner_token: str | None,
        open_link: str | None = None,
    ) -> StudySummary:
        plan = setup.plan
        return cls(
            study=study,
            design=setup.questionnaire.kind,
            questions=tuple(question.name for question in setup.questionnaire.questions),
            systems=setup.systems,
            items=len(setup.items),
            trials=len(setup.trials),
            plan=plan.kind,
            judges=plan.judges,
            per_item=plan.per_item if plan.kind == "per-item" else None,
            per_judge=trials_per_judge(setup),
            selection=dict(setup.selection) or None,
            seed=setup.seed,
            owner_token=owner_token,
            open_link=open_link,
        )

    def records(self) -> list[dict[str, Any]]:
        """One record, in which lists are texts with commas."""
        values = self.values()
        lists = {name: ", ".join(values[name]) for name in ("questions", "systems")}
        return [{**values, **lists}]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput study create`."""
        return asdict(self)


@dataclass(frozen=True, repr=False)
class InvitationList(Result):
    """New judges with their links, which are never shown again."""

    presented_by: ClassVar[str] = "wellput.reporting.study:invitations_report"
    is_secret: ClassVar[bool] = True

    invitations: tuple[Invitation, ...]

    def __iter__(self) -> Iterator[Invitation]:
        return iter(self.invitations)

    def __len__(self) -> int:
        return len(self.invitations)

    def records(self) -> list[dict[str, Any]]:
        """A record for each judge."""
        return [asdict(invitation) for invitation in self.invitations]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput study invite`."""
        return {"invitations": self.records()}


@dataclass(frozen=True, repr=False)
class Export(Result):
    """The number of `answers` written to the file `output`, and the names of the further files: the
    `design` (for Label Studio: the labeling interface), and the list of `payments` of a study with an
    open link."""

    presented_by: ClassVar[str] = "wellput.reporting.study:export_report"

    answers: int
    output: str
    design: str | None
    payments: str | None = None

    def records(self) -> list[dict[str, Any]]:
        """One record."""
        return [self.values()]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput study export`."""
        return asdict(self)


@dataclass(frozen=True, repr=False)
class Backup(Result):
    """A copy of the study in the file `output`, and how many answers and judges it has. An answer that
    was changed counts once for each version."""

    presented_by: ClassVar[str] = "wellput.reporting.study:backup_report"

    study: str
    output: str
    answers: int
    judges: int

    def records(self) -> list[dict[str, Any]]:
        """One record."""
        return [self.values()]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput study backup`."""
        return asdict(self)


@dataclass(frozen=True, repr=False)
class Forgotten(Result):
    """A judge who withdrew, and the number of erased answers."""

    presented_by: ClassVar[str] = "wellput.reporting.study:forgotten_report"

    judge: str
    answers_erased: int

    def records(self) -> list[dict[str, Any]]:
        """One record."""
        return [self.values()]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput study forget`."""
        return asdict(self)
