"""How long a training job takes in all, from short runs of it.

    import allox_est

    job = allox_est.run("python3", "train.py", "--epochs", "{epochs}", epochs=500)
    print(job["cpu"].wall_seconds.value, job["cpu"].wall_seconds.high)

    for batch in allox_est.track(loader):  # a progress bar, as tqdm's, with an interval
        ...

Arguments by name are the flags of the commands. time_writter and
time_writter_callbacks, which tell epochs from within a job, come with it.
"""

import dataclasses
import typing

from ._program import Estimate, Failed, ask, typed
from ._track import Track, track, trange

__all__ = ["Estimate", "Failed", "Job", "Track", "estimate", "run", "track", "trange"]


@dataclasses.dataclass(frozen=True)
class Job:
    """The whole job on a device; what was refused is None."""

    wall_seconds: typing.Optional[Estimate]
    wall_uncontended_seconds: typing.Optional[Estimate]
    cpu_seconds: typing.Optional[Estimate]


def run(*command: str, **flags: object) -> typing.Dict[str, Job]:
    """Samples a job and returns what it takes, by device."""
    return _jobs(ask("run", "--", *command, **flags))


def estimate(*file: str, **flags: object) -> typing.Dict[str, Job]:
    """The same from the journal of earlier runs, without starting any."""
    return _jobs(ask("estimate", *file, **flags))


def _jobs(answer):
    def device(d):
        return Job(*(typed(Estimate, d[f.name]) if d.get(f.name) else None for f in dataclasses.fields(Job)))

    return {name: device(d) for name, d in answer["devices"].items()}
