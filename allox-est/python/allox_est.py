"""Predict the time of a training job from short runs of it.

    import allox_est

    job = allox_est.run("python3", "train.py", "--epochs", "{epochs}", epochs=500)
    print(job["cpu"].wall_seconds.value, job["cpu"].wall_seconds.high)

    for batch in allox_est.track(loader):  # a progress bar like tqdm's, with an interval
        ...

Each command that answers in JSON is a function; its named arguments are the flags of the
command. The package contains the modules time_writter and time_writter_callbacks, which
report epochs from within a job.
"""

from ._answers import Job, Jobs
from ._commands import *  # noqa: F403
from ._commands import __all__ as _commands
from ._program import Answer, Estimate, ProgramError, UsageError, version
from ._track import Track, track, trange

__version__ = version()
__all__ = ["Answer", "Estimate", "Job", "Jobs", "ProgramError", "Track", "UsageError", "track", "trange", *_commands]
