"""The answers of mirage as classes."""

import dataclasses
import datetime
import typing

from ._program import Answer, Estimate, Table


@dataclasses.dataclass(frozen=True)
class Alternative:
    """Another shape or partition of the job, with which it would start earlier."""

    shape: str
    wait_hours: Estimate
    earlier_hours: float


@dataclasses.dataclass(frozen=True)
class Start:
    """When a job that is submitted at a time would start.

    chance is the probability of a start by the time by, if one was given; answer holds
    everything that the program printed.
    """

    at: datetime.datetime
    start: datetime.datetime
    wait_hours: Estimate
    chance: typing.Optional[float]
    alternatives: Table
    answer: Answer

    @classmethod
    def read(cls, answer: Answer) -> "Start":
        return cls(
            datetime.datetime.fromisoformat(answer.at),
            datetime.datetime.fromisoformat(answer.start),
            Estimate.read(answer.wait_hours),
            answer.get("chance"),
            Table(
                Alternative(a.shape, Estimate.read(a.wait_hours), a.earlier_hours)
                for a in answer.get("alternatives") or []
            ),
            answer,
        )
