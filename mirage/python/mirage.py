"""Predict when a job would start on a batch cluster, from its log or a live Slurm.

    import datetime, mirage

    job = mirage.when("month.log", at=datetime.datetime(2023, 1, 20, 12), job_nodes=4, job_limit="24h")
    print(job.start, job.wait_hours.low, job.wait_hours.high)
    print(job.alternatives.to_frame())  # with pandas

Each command that answers in JSON is a function; its named arguments are the flags of the
command, and its answer is a dataclass. Where a command reads a file, bytes, open files and
data frames are input too. Warnings go to logging.getLogger("mirage").
"""

from ._commands import *  # noqa: F403
from ._commands import __all__ as _commands
from ._program import Answer, Estimate, ProgramError, ProgramTimeout, Rows, UsageError, version

__version__ = version()
__all__ = ["Answer", "Estimate", "ProgramError", "ProgramTimeout", "Rows", "UsageError", *_commands]
