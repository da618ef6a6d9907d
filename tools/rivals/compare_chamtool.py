"""The times of tasks, and how far down a recursion should create them."""
import json
import os
import re
import shutil
import statistics
import subprocess

from rows import BIN, OUT, ROUNDS, answer, run, show

HERE = os.path.dirname(os.path.abspath(__file__))
SLOTS = "1048576"  # of a ring: what the report recommends where tasks come faster than they are read


def models():
    """Predictions of a program's tasks, and the rules of runtimes."""
    replays = []
    for r in range(ROUNDS):
        logs = f"{OUT}/tasks-{r}"
        shutil.rmtree(logs, ignore_errors=True)  # logs of an earlier run
        run(*f"chamtool host --tool {BIN}/libchamtool.so -- --threads 1 --tasks 600 --iterations 5 --work matrix --sizes".split(),
            ",".join(map(str, range(24, 161, 8))), CHAMTOOL_HOME=logs + "/home", CHAMTOOL_LOG_DIR=logs, CHAMTOOL_CALIBRATE="2")
        replays.append(answer("chamtool", "replay", logs + "/chamtool_rank_0.csv"))
    for name, rival in [
        ("starpu", "mean of runs of the same sizes, as StarPU keeps it"),
        ("last_value", "the last run of the same sizes"),
        ("history", "the median of runs of the same sizes"),
    ]:
        show("chamtool", "error of predicted task times, weighted", "%", rival, [(r["wape"], r["baselines"][name]["wape"]) for r in replays], "chamtool replay LOG --json")


def compiled(name):
    program = f"{OUT}/{name}"
    run("clang", "-fopenmp", "-O1", "-g", "-o", program, f"{HERE}/programs/{name}.c", "-lm")
    return program


def observed(logs, *line):
    """Runs a program on two threads under the tool, with rings for all of its tasks if the
    report says that they were too small, and returns the report."""
    for slots in {}, {"CHAMTOOL_RING_SLOTS": SLOTS}:
        shutil.rmtree(logs, ignore_errors=True)
        report = json.loads(run("chamtool", "run", "--json", "--tool", BIN + "/libchamtool.so", "--logs", logs, "--", *line, OMP_NUM_THREADS="2", CHAMTOOL_HOME=logs + "/home", **slots))
        if not report["tasks_unlogged"]:
            break
    return report


def short_tasks():
    """Predictions of tasks of 1 to 100 us, and the last run of the same sizes; a round is
    a program."""
    program, weighted, middle, counts = compiled("tasks"), [], [], []
    for name, rounds in ("mandelbrot", 40), ("rows", 600), ("words", 30), ("stencil", 300), ("primes", 40), ("bodies", 40):
        logs = f"{OUT}/short-{name}"
        observed(logs, program, name, str(rounds))
        r = answer("chamtool", "replay", logs + "/chamtool_rank_0.csv")
        last = r["baselines"]["last_value"]
        weighted.append((r["wape"], last["wape"]))
        middle.append((r["median_ape"], last["median_ape"]))
        counts.append(f"{name} {r['tasks']}")
    command = "chamtool run -- tasks PROGRAM, chamtool replay LOG --json"
    for error, pairs in ("weighted", weighted), ("median", middle):
        show("chamtool", f"error of predicted times of tasks of 1 to 100 us, {error}", "%", "the last run of the same sizes", pairs, command, note="tasks: " + ", ".join(counts))


def cut_off():
    """The depth that the report proposes for a recursion, and the best of five that a person
    tries; a round is a program."""
    program, pairs, notes = compiled("recursions"), [], []

    def seconds(name, size, depth):
        out = run(program, name, str(size), str(depth), OMP_NUM_THREADS="2")
        return float(re.match(r"([\d.]+) s", out)[1])

    def best(name, size, depths, tries):
        """Returns the median seconds of depths, which take turns."""
        times = {d: [] for d in depths}
        for _ in range(tries):
            for d in depths:
                times[d].append(seconds(name, size, d))
        return {d: statistics.median(t) for d, t in times.items()}

    for name, size in ("sort", 50000), ("knapsack", 17), ("integral", 8), ("tours", 9), ("paths", 7):
        advice = observed(f"{OUT}/cut-{name}", program, name, str(size))["lost"].get("granularity")
        depth = advice["depth"] if advice else 1000
        tried = best(name, size, [2, 4, 6, 8, 10], 5)
        manual = min(tried, key=tried.get)
        both = best(name, size, [depth, manual, 1000], 11)
        pairs.append((1000 * both[depth], 1000 * both[manual]))
        notes.append(f"{name}: {f'depth {depth}' if advice else 'no advice'}, by hand {manual}, all tasks {1000 * both[1000]:.3g} ms")
    show("chamtool", "a recursion with the depth of tasks that the report proposes", "ms", "the best of five depths tried by hand", pairs, "chamtool run -- recursions PROGRAM SIZE", note="; ".join(notes))
