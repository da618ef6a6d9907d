"""Runs programs and prints the rows of a comparison, one JSON object each."""
import json
import os
import re
import subprocess
import sys

ROUNDS = 5
OUT = os.path.abspath("out/rivals")
BIN = os.path.join(OUT, "bin")
DATA = os.environ.get("FORETIME_DATA", "$FORETIME_DATA")  # published data
os.environ["PATH"] = BIN + os.pathsep + os.environ["PATH"]


load = 0.0  # run-queue length at the start of the present comparison


def run(*line, **env):
    """Runs a program and returns what it prints."""
    print(" ", *line, file=sys.stderr, flush=True)
    done = subprocess.run(line, env={**os.environ, **env}, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr + done.stdout).strip().split("\n")[-1]
        raise RuntimeError(f"{' '.join(line)}: exit status {done.returncode}: {last}")
    return done.stdout


def answer(*line):
    return json.loads(run(*line, "--json"))


def show(tool, what, unit, rival, pairs, command, more=False, note=""):
    """Prints a row of pairs: a value of ours and one of the rival per round. A note counts
    what the row leaves out."""
    if not (pairs := list(pairs)):
        raise RuntimeError(f"{what}, {rival}: no round")
    ours, theirs = zip(*pairs)
    row = {"tool": tool, "what": what, "unit": unit, "rival": rival, "ours": ours, "theirs": theirs, "command": command, "load_1min": load}
    if more:
        row["more_is_better"] = True
    if note:
        row["note"] = note
    print(json.dumps(row), flush=True)


def figures(pattern, *line):
    """Returns a pair for each match of a pattern with two groups in a program's output."""
    found = re.findall(pattern, run(*line))
    if not found:
        raise RuntimeError(f"{' '.join(line)}: it skipped itself")
    return [(float(ours), float(theirs)) for ours, theirs in found]


def wheel(name):
    """Returns the directory of a PyPI package that tools/rivals.txt installs."""
    return os.path.abspath(os.path.join("out/real/pip", name))


def version(package, **env):
    return run("/usr/bin/python3", "-c", f"import {package}; print({package}.__version__)", **env).strip()


def metric(output, unit):
    """Returns a benchmark's values of a unit, one per run."""
    return [float(v) for v in re.findall(rf"^Benchmark.*\s(\S+) {re.escape(unit)}(?:\s|$)", output, re.M)]
