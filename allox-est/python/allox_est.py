"""Predict the time of a training job from short runs of it.

    import allox_est

    cpu = allox_est.run("python3", "train.py", "--epochs", "{epochs}", epochs=500).devices["cpu"]
    print(cpu.wall_seconds)

    for batch in allox_est.track(loader):  # a progress bar like tqdm's, with an interval
        ...

Each command that answers in JSON is a function; its named arguments are the flags of the
command, and its answer is a dataclass. Where a command reads a file, bytes, open files and
data frames are input too. Warnings go to logging.getLogger("allox_est"). The package contains the modules time_writter and time_writter_callbacks, which
report epochs from within a job.
"""

from ._commands import *  # noqa: F403
from ._commands import __all__ as _commands
from ._program import Answer, Estimate, ProgramError, ProgramTimeout, Rows, UsageError, version
from ._track import Track, track, trange

__version__ = version()
__all__ = ["Answer", "Estimate", "ProgramError", "ProgramTimeout", "Rows", "UsageError", "Track", "track", "trange", *_commands]
