"""Asks the program that came with this package, and reads its JSON."""

import dataclasses
import importlib.metadata
import json
import os
import subprocess
import sys


class Failed(RuntimeError):
    """The program has no answer; its words say why."""


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A value and its interval: level is the share of such intervals that hold."""

    value: float
    low: float
    high: float
    level: float


def path(name: str) -> str:
    """Returns the path of a file that was installed with the package.

    The record of installed files gives it; pip install --target writes none that
    holds, and puts programs into bin and the other files next to the packages.
    """
    package = __package__.replace("_", "-")
    own = importlib.metadata.files("foretime-" + package) or []
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    places = [str(f.locate()) for f in own if f.name == name]
    places += [os.path.join(here, *folder, name) for folder in (("bin",), ("libexec", "foretime"))]
    for place in places:
        if os.path.isfile(place):
            return os.path.realpath(place)
    raise FileNotFoundError("%s of foretime-%s is not installed: looked in %s" % (name, package, ", ".join(places)))


def ask(*words: str, **flags: object) -> dict:
    """The answer to words and flags; job_nodes=4 is --job-nodes 4, wide=True is --wide."""
    command = [path(__package__.replace("_", "-")), words[0], "--json"]
    for name, value in flags.items():
        command.append("--%s=%s" % (name.replace("_", "-"), str(value).lower() if value in (True, False) else value))
    run = subprocess.run(command + list(words[1:]), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if run.returncode:
        raise Failed(run.stderr.strip())
    sys.stderr.write(run.stderr)
    return json.loads(run.stdout)


def typed(kind: type, answer: dict, **own: object):
    """A dataclass of the fields that an answer has under its names."""
    names = [f.name for f in dataclasses.fields(kind)]
    return kind(**{n: answer.get(n) for n in names if n not in own}, **own)
