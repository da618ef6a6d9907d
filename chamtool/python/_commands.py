"""The commands of chamtool that answer in JSON, as functions.

"release python" writes this file from the program's description of its commands.
"""

import typing

from ._answers import Report
from ._program import Answer, Text, ask

__all__ = ["doctor", "replay", "report"]


def doctor(
    *words: Text,
    tool: typing.Optional[Text] = None,
) -> Answer:
    """Check this environment: whether the library that OpenMP's or Chameleon's runtime
    would load exists, exports the entry symbols and supports the patched runtime; whether
    programs built by gcc can be observed; the effective configuration; whether logs and
    models can be written; the clock and the core frequencies.

    Example: chamtool.doctor()

    Command: chamtool doctor [--tool libchamtool.so]
    tool: library to check (default: the one in CHAMELEON_TOOL_LIBRARIES or OMP_TOOL_LIBRARIES, else the one that chamtool run loads)
    """
    answer: Answer = ask(
        ["doctor"],
        words,
        {
            "tool": tool,
        },
    )
    return answer


def replay(
    *words: Text,
    format: typing.Optional[Text] = None,
    model: typing.Optional[Text] = None,
    plot: typing.Optional[Text] = None,
    train_fraction: typing.Optional[float] = None,
) -> Answer:
    """Predict every task of logs before learning from it, as in a running program.

    Command: chamtool replay FILE...
    format: file format: auto, csv, parquet or mxm, each also compressed with gzip (default auto)
    model: model: auto, median, local, last, near, speed, periodic (default auto)
    plot: draw predicted over actual times to this file, .svg or .png
    train_fraction: fraction of each file, from its start, whose predictions are not scored
    """
    answer: Answer = ask(
        ["replay"],
        words,
        {
            "format": format,
            "model": model,
            "plot": plot,
            "train-fraction": train_fraction,
        },
    )
    return answer


def report(
    *words: Text,
    plot: typing.Optional[Text] = None,
    trace: typing.Optional[Text] = None,
) -> Report:
    """Merge the logs of all ranks of a job: tasks and time, the imbalance of each
    iteration, the slowest ranks and functions, the prediction error and the tasks
    that moved. It names the ranks whose log is missing, torn or lacks dropped tasks.
    If LOGDIR has no log itself, the newest run below it is reported. All runs in LOGDIR
    and in the directories below it are listed.

    Example: chamtool.report("logs", plot="report.svg")

    Command: chamtool report LOGDIR
    plot: draw the loads of each iteration to this file, .svg or .png
    trace: write every task run to this file, for Perfetto or chrome://tracing; - is standard output
    """
    answer: Answer = ask(
        ["report"],
        words,
        {
            "plot": plot,
            "trace": trace,
        },
    )
    return Report.read(answer)
