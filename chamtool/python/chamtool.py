"""Measure and predict the times of the tasks of an MPI or OpenMP program.

    import os, subprocess, chamtool

    env = dict(os.environ, CHAMELEON_TOOL_LIBRARIES=chamtool.tool_path())
    subprocess.run(["mpirun", "-n", "2", "./your_program"], env=env, check=True)
    for f in chamtool.report("logs").functions:
        print(f.name, f.tasks, f.median_seconds)

Each command that answers in JSON is a function; its named arguments are the flags of the
command, and its answer is a dataclass. Where a command reads a file, bytes, open files and
data frames are input too. Warnings go to logging.getLogger("chamtool").
"""

from ._commands import *  # noqa: F403
from ._commands import __all__ as _commands
from ._program import Answer, Estimate, ProgramError, ProgramTimeout, Rows, UsageError, path, version

__version__ = version()
__all__ = ["Answer", "Estimate", "ProgramError", "ProgramTimeout", "Rows", "UsageError", "tool_path", *_commands]


def tool_path() -> str:
    """Returns the path of libchamtool.so, which the runtime loads."""
    return path("libchamtool.so")
