"""How long one inference of an ONNX model takes, here and on other devices.

    import edgeprof

    best = edgeprof.rank("model.onnx")[0]
    print(best.node, best.seconds.value, best.seconds.low, best.seconds.high)
    print(edgeprof.time("model.onnx").p50_seconds)

Arguments by name are the flags of the commands: rank(path, source="file:devices.json").
"""

import dataclasses
import typing

from ._program import Estimate, Failed, ask, typed

__all__ = ["Candidate", "Estimate", "Failed", "Timing", "rank", "time"]


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A device, a runtime and the predicted time of one inference."""

    node: str
    device_model: str
    runtime: str
    seconds: Estimate
    reasons: typing.List[str]


@dataclasses.dataclass(frozen=True)
class Timing:
    """How long inferences took."""

    model: str
    runtime: str
    runs: int
    min_seconds: float
    p50_seconds: float
    p90_seconds: float


def rank(model: str, **flags: object) -> typing.List[Candidate]:
    """The devices by predicted time, the fastest first."""
    return [
        typed(Candidate, c, seconds=typed(Estimate, c, value=c["predicted_execution_time"]))
        for c in ask("rank", model, **flags)["candidates"]
    ]


def time(model: str, **flags: object) -> Timing:
    """Runs the model on this machine."""
    return typed(Timing, ask("time", model, **flags))
