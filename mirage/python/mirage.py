"""When a job would start on a batch cluster, by its log or a Slurm in reach.

    import mirage

    answer = mirage.when("month.log", at="2023-01-20T12:00", job_nodes=4, job_limit="24h")
    print(answer.start, answer.wait_hours.low, answer.wait_hours.high)

Arguments by name are the flags of the command.
"""

import dataclasses
import typing

from ._program import Estimate, Failed, ask, typed

__all__ = ["Alternative", "Answer", "Estimate", "Failed", "when"]


@dataclasses.dataclass(frozen=True)
class Alternative:
    """Another shape of the job, which would start earlier."""

    shape: str
    wait_hours: Estimate
    earlier_hours: float


@dataclasses.dataclass(frozen=True)
class Answer:
    """When a job that is submitted at an instant would start."""

    at: str
    wait_hours: Estimate
    start: str
    alternatives: typing.List[Alternative]


def when(*log: str, **flags: object) -> Answer:
    """When a job would start: of a log and its queue, or of the Slurm in reach."""
    answer = ask("when", *log, **flags)
    return typed(
        Answer,
        answer,
        wait_hours=typed(Estimate, answer["wait_hours"]),
        alternatives=[
            typed(Alternative, a, wait_hours=typed(Estimate, a["wait_hours"])) for a in answer.get("alternatives") or []
        ],
    )
