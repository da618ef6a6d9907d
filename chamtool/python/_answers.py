"""The answers of chamtool as classes."""

import dataclasses
import typing

from ._program import Answer, Table


@dataclasses.dataclass(frozen=True)
class Function:
    """The tasks of one function; share is of the time of all tasks."""

    name: str
    tasks: int
    task_seconds: float
    share: float
    median_seconds: typing.Optional[float]
    mape_percent: typing.Optional[float]


@dataclasses.dataclass(frozen=True)
class Report:
    """All ranks of a job; imbalance is that of its iterations. answer holds the rest."""

    ranks: int
    tasks: int
    task_seconds: float
    iterations: int
    imbalance: typing.Optional[float]
    moved_tasks: typing.Optional[int]
    functions: Table
    answer: Answer

    @classmethod
    def read(cls, answer: Answer) -> "Report":
        if answer.get("ranks") is None:
            return typing.cast("Report", answer)  # of models=True: the plain answer
        names = [f.name for f in dataclasses.fields(Function)]
        return cls(
            answer.ranks,
            answer.tasks,
            answer.task_seconds,
            answer.iterations,
            answer.get("imbalance"),
            answer.get("moved_tasks"),
            Table(Function(*(f.get(n) for n in names)) for f in answer.functions),
            answer,
        )
