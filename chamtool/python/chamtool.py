"""Which tasks of an MPI or OpenMP program take how long.

    import os, subprocess, chamtool

    env = dict(os.environ, CHAMELEON_TOOL_LIBRARIES=chamtool.tool_path())
    subprocess.run(["mpirun", "-n", "2", "./your_program"], env=env, check=True)
    for f in chamtool.report("logs").functions:
        print(f.name, f.tasks, f.median_seconds)
"""

import dataclasses
import typing

from ._program import Failed, ask, path, typed

__all__ = ["Failed", "Function", "Report", "report", "tool_path"]


@dataclasses.dataclass(frozen=True)
class Function:
    """The tasks of one function; share is of the time of all."""

    name: str
    tasks: int
    task_seconds: float
    share: float
    median_seconds: typing.Optional[float]
    mape_percent: typing.Optional[float]


@dataclasses.dataclass(frozen=True)
class Report:
    """All ranks of a job; imbalance is of its iterations."""

    ranks: int
    tasks: int
    task_seconds: float
    iterations: int
    imbalance: float
    moved_tasks: int
    functions: typing.List[Function]


def tool_path() -> str:
    """The path of libchamtool.so, which the runtime loads."""
    return path("libchamtool.so")


def report(logs: str, **flags: object) -> Report:
    """The logs of a job put together."""
    answer = ask("report", logs, **flags)
    return typed(Report, answer, functions=[typed(Function, f) for f in answer["functions"]])
