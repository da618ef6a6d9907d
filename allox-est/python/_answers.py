"""The answers of allox-est as classes."""

import dataclasses
import typing

from ._program import Answer, Estimate, frame


@dataclasses.dataclass(frozen=True)
class Job:
    """The whole job on a device; what was refused is None."""

    wall_seconds: typing.Optional[Estimate]
    wall_uncontended_seconds: typing.Optional[Estimate]
    cpu_seconds: typing.Optional[Estimate]


class Jobs(typing.Dict[str, Job]):
    """The whole job by device, cpu or gpu; answer holds the samples and warnings too."""

    answer: Answer

    @classmethod
    def read(cls, answer: Answer) -> "Jobs":
        names = [f.name for f in dataclasses.fields(Job)]
        jobs = cls(
            (device, Job(*(Estimate.read(d[n]) if d.get(n) else None for n in names)))
            for device, d in answer.devices.items()
        )
        jobs.answer = answer
        return jobs

    def to_frame(self) -> typing.Any:
        """Returns a pandas.DataFrame with a row for each device."""
        return frame(dict(device=device, **dataclasses.asdict(job)) for device, job in self.items())
