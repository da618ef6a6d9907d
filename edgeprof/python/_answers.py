"""The answers of edgeprof as classes."""

import dataclasses
import typing

from ._program import Answer, Estimate, Table


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A device and the predicted time of one inference.

    An infinite high end means that something in the model has no known cost.
    """

    node: str
    device_model: str
    seconds: Estimate
    reasons: typing.List[str]


class Candidates(Table):
    """The devices by predicted time, the fastest first; answer holds the exclusions and warnings too."""

    answer: Answer

    @classmethod
    def read(cls, answer: Answer) -> "Candidates":
        rows = cls(
            Candidate(c.node, c.device_model, Estimate.read(c, "predicted_execution_time"), c.reasons)
            for c in answer.candidates
        )
        rows.answer = answer
        return rows


@dataclasses.dataclass(frozen=True)
class Timing:
    """How long inferences took, in seconds."""

    model: str
    runs: int
    min_seconds: float
    p50_seconds: float
    p90_seconds: float
    answer: Answer

    @classmethod
    def read(cls, answer: Answer) -> "Timing":
        return cls(answer.model, answer.runs, answer.min_seconds, answer.p50_seconds, answer.p90_seconds, answer)
