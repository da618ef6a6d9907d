"""The remaining time of running jobs, with tqdm and with Lightning's bars."""
import json
import os
import re
import statistics
import subprocess
import sys
import threading
import time

from rows import OUT, show, version, wheel

SHARES = 0.1, 0.25, 0.5  # of the time, at which both sides are asked
LIMIT = 600  # seconds of all trainers; those that are left are counted


class Trainer:
    """A program of trainers.py whose output counts. The groups of the pattern are a number
    of epochs and one of steps in the present epoch, or a number of steps only. total is the
    number of all steps, size that of an epoch, first the number of the first step or epoch.
    epochs is the number that a user gives where the output has no total."""

    def __init__(self, name, pattern, total, size=1, first=1, epochs=None):
        self.name, self.pattern, self.total, self.size, self.first = name, re.compile(pattern), total, size, first
        self.options = ["--epochs", str(epochs)] if epochs else []

    def count(self, lines):
        """Returns the times and numbers of steps done, the first of them 0."""
        events, before, epoch, last = [], 0.0, 0, 0
        for at, line in lines:
            found = self.pattern.search(line)
            if not found:
                before = before if events else at
                continue
            groups = [g and int(g) for g in found.groups()]
            if len(groups) == 1:
                done = groups[0] - self.first + 1
            else:
                epoch = epoch if groups[0] is None else groups[0] - self.first
                done = epoch * self.size + (groups[1] or 0)
            if not events:
                events.append((before if done else at, 0))
            if done > last:
                events.append((at, done))
                last = done
        return events


TRAINERS = [
    Trainer("torch_tqdm", r"Epoch (\d+)/9: .*?(\d+)/300 \[", 2700, 300),
    Trainer("torch_outer", r"training: .*?(\d+)/32 \[", 32),
    Trainer("torch_prints", r"Epoch \[(\d+)/15\]", 15),
    Trainer("torch_gpt", r"iter (\d+):", 1800, epochs=1800),
    Trainer("torch_growing", r"step (\d+)/2400", 2400),
    Trainer("lightning_bar", r"Epoch (\d+): .*?(\d+)/300 \[", 2700, 300, first=0, epochs=9),
    Trainer("lightning_sparse", r"Epoch (\d+): .*?(\d+)/300 \[", 2400, 300, first=0, epochs=8),
    Trainer("lightning_rich", r"Epoch (\d+)/9 .*?(\d+)/250", 2500, 250, first=0, epochs=10),
    Trainer("lightning_bags", r"Epoch (\d+): .*?(\d+)/120 \[", 2880, 120, first=0, epochs=24),
    Trainer("transformers", r"(\d+)/600 \[", 600),
    Trainer("keras", r"Epoch (\d+)/20|\b(\d+)/100\b", 2000, 100),
    Trainer("xgboost", r"^\[(\d+)\]", 360, first=0, epochs=360),
    Trainer("lightgbm", r"^\[(\d+)\]", 700, epochs=700),
    Trainer("catboost", r"^(\d+):\t", 600, first=0, epochs=600),
    Trainer("sklearn_boosting", r"^ +(\d+) +[\d.]+ ", 250, epochs=250),
    Trainer("sklearn_search", r"\[CV (?=\d+/4; (\d+)/16\] END)(\d+)/4", 64, 4, epochs=64),
    Trainer("fastai", r"Epoch (\d+)/7 .*\[(\d+)/200 ", 1400, 200),
    Trainer("timm", r"Train: (\d+) \[ *(\d+)/40 ", 320, 40, first=0, epochs=8),
    Trainer("tabnet", r"^epoch (\d+)", 110, first=0, epochs=110),
    Trainer("stable_baselines", r"total_timesteps +\| (\d+)", 40960, epochs=40960),
]


def environment():
    """Returns the environment of a trainer: one thread, the packages of real.txt and
    rivals.txt, and the colours without which Rich draws no bar in a pipe."""
    names = [line.split()[1] for path in ("allox-est/real.txt", "tools/rivals.txt") for line in open(path) if line.startswith("pip ")]
    folders = [wheel(n) for n in names if not n.startswith(("xgboost", "onnx"))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(folders), "OMP_NUM_THREADS": "1", "FORCE_COLOR": "1", "COLUMNS": "120", "PYTHONUNBUFFERED": "1"}


def record(trainer):
    """Runs a trainer under allox-est follow, and returns the seconds that it took, its lines
    with their times, and the answers with theirs. The recording is kept."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "trainers.py")
    print(" ", "trainers.py", trainer.name, file=sys.stderr, flush=True)
    follow = subprocess.Popen(["allox-est", "follow", "--log", "-", "--json", *trainer.options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    begin, chunks, answers = time.monotonic(), [], []
    job = subprocess.Popen(["/usr/bin/python3", script, trainer.name], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    reader = threading.Thread(target=lambda: answers.extend((time.monotonic() - begin, json.loads(line)) for line in follow.stdout))
    reader.start()
    try:
        while chunk := os.read(job.stdout.fileno(), 65536):
            chunks.append((time.monotonic() - begin, chunk.decode(errors="replace")))
            follow.stdin.write(chunk)
            follow.stdin.flush()
        status, took = job.wait(), time.monotonic() - begin
    finally:
        job.kill()
        follow.stdin.close()
        reader.join()
        follow.wait()
    lines, rest = [], ""
    for at, chunk in chunks:
        *whole, rest = re.split(r"[\r\n]", rest + chunk)
        lines += [(at, line) for line in whole if line]
        if rest and chunk == chunks[-1][1]:
            lines.append((at, rest))
    os.makedirs(OUT + "/trainers", exist_ok=True)
    with open(f"{OUT}/trainers/{trainer.name}.json", "w") as f:
        json.dump({"seconds": took, "lines": lines, "answers": answers}, f)
    if status:
        raise RuntimeError(f"trainers.py {trainer.name}: exit status {status}: {lines[-1:]}")
    return took, lines, answers


def tqdm_ends(events, total):
    """Returns the times at which tqdm, its clock set to those of the events, shows a
    remaining time, and the end that this means."""
    import tqdm
    if not events:
        raise RuntimeError("no step was counted")
    now, ends = [events[0][0]], []
    bar = tqdm.tqdm(total=total, file=open(os.devnull, "w"), disable=False)
    bar._time, bar.start_t, bar.last_print_t = (lambda: now[0]), now[0], now[0]
    for (_, before), (at, done) in zip(events, events[1:]):
        now[0] = at
        bar.update(done - before)
        d = bar.format_dict
        rate = d["rate"] or d["elapsed"] and d["n"] / d["elapsed"]
        if rate:
            ends.append((at, at + (total - done) / rate))
    return ends


SHOWN = re.compile(r"Epoch (\d+).*?(?:\[([\d:]+)<([\d:]+),|([\d:]+) • (-?[\d:]+))")  # TQDMProgressBar, RichProgressBar


def lightning_ends(lines, epochs):
    """Returns the times of the remaining times that Lightning's bar shows, with the end of
    the epoch, and with the job's end if every epoch takes as long as this one."""
    def seconds(text):
        return sum(int(part) * 60**i for i, part in enumerate(reversed(text.split(":"))))
    epoch, job = [], []
    for at, line in lines:
        found = SHOWN.search(line)
        if not found or "-" in (found[5] or ""):
            continue
        spent, left = seconds(found[2] or found[4]), seconds(found[3] or found[5])
        epoch.append((at, at + left))
        job.append((at, at + left + (spent + left) * (epochs - 1 - int(found[1]))))
    return epoch, job


def at_share(answers, at):
    """Returns the latest answer at a time, or None."""
    known = [a for a in answers if a[0] <= at]
    return known[-1][1] if known else None


class Moment:
    """What both sides say at a share of a trainer's time."""

    def __init__(self, share, took, answers, rivals):
        self.at, self.took = share * took, took
        answer = at_share(answers, self.at) or {}
        self.refused, self.unsure = bool(answer.get("refused")), bool(answer.get("not_enough_to_tell"))
        self.total = None if self.refused else answer.get("total_seconds")
        self.ours = self.total and self.total["value"]
        self.rivals = {name: at_share(ends, self.at) for name, ends in rivals.items()}

    def inside(self):
        return self.total["low"] <= self.took <= self.total["high"]

    def errors(self, rival):
        """Returns the errors of both sides in percent of the remaining time, or None."""
        ends = self.ours, self.rivals.get(rival)
        if None in ends:
            return None
        return tuple(100 * abs(max(end - self.at, 0) / (self.took - self.at) - 1) for end in ends)


def remaining():
    """The remaining time of running jobs at a tenth, a quarter and half of their time; a
    round is a trainer, and both sides read the same recording."""
    begin, moments, absent = time.monotonic(), [], []
    rounds = {"tqdm": [], "epoch": [], "job": []}
    ran = 0
    for trainer in TRAINERS:
        if time.monotonic() - begin > LIMIT:
            break
        try:
            took, lines, answers = record(trainer)
        except RuntimeError as e:
            absent.append(str(e))
            continue
        ran += 1
        ends = {"tqdm": tqdm_ends(trainer.count(lines), trainer.total)}
        if trainer.name.startswith("lightning"):
            ends["epoch"], ends["job"] = lightning_ends(lines, trainer.total // trainer.size)
        asked = [Moment(share, took, answers, ends) for share in SHARES]
        moments += asked
        for rival, pairs in rounds.items():
            if errors := [e for m in asked if (e := m.errors(rival))]:
                pairs.append(tuple(statistics.mean(side) for side in zip(*errors)))
        print(f"  {trainer.name} took {took:.1f} s; ours and tqdm's:", [m.errors("tqdm") for m in asked], file=sys.stderr, flush=True)
    sure = [m for m in moments if m.total]
    levels = " or ".join(f"{100 * level:.0f} %" for level in sorted({m.total["level"] for m in sure}))
    note = (f"{ran} of {len(TRAINERS)} trainers ran, asked at {len(moments)} moments; both answer at {sum(m.errors('tqdm') is not None for m in moments)}, of {len(rounds['tqdm'])} trainers; "
            f"no answer of ours at {sum(m.ours is None for m in moments)}, at {sum(m.refused for m in moments)} of them since the pace changes, of tqdm at {sum(m.rivals['tqdm'] is None for m in moments)}; "
            f"the actual time is inside {sum(m.inside() for m in sure)} of our {len(sure)} intervals ({levels}), {sum(m.unsure for m in sure)} of which say that they are not enough to tell")
    command = "python3 tools/rivals/programs/trainers.py NAME 2>&1 | allox-est follow --log - --json"
    what = "the remaining time of a running job at 10, 25 and 50 %, mean error"
    show("allox-est", what, "%", "tqdm " + version("tqdm"), rounds["tqdm"], command, note="; ".join([note, *absent]))
    show("allox-est", what, "%", "Lightning's bar, which shows the epoch's end", rounds["epoch"], command)
