"""The times of tasks."""
import json
import os
import shutil

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
        report = json.loads(run("chamtool", "run", "--json", "--tool", BIN + "/libchamtool.so", "--log-dir", logs, "--", *line, OMP_NUM_THREADS="2", CHAMTOOL_HOME=logs + "/home", **slots))
        if not report["tasks_unlogged"]:
            break
    return report


def short_tasks():
    """Predictions of tasks of 1 to 100 us, and the last run of the same sizes; a round is
    a program."""
    program, weighted, counts = compiled("tasks"), [], []
    for name, rounds in ("mandelbrot", 40), ("rows", 600), ("words", 30), ("stencil", 300), ("primes", 40), ("bodies", 40):
        logs = f"{OUT}/short-{name}"
        observed(logs, program, name, str(rounds))
        r = answer("chamtool", "replay", logs + "/chamtool_rank_0.csv")
        last = r["baselines"]["last_value"]
        weighted.append((r["wape"], last["wape"]))
        counts.append(f"{name} {r['tasks']}")
    command = "chamtool run -- tasks PROGRAM, chamtool replay LOG --json"
    show("chamtool", "error of predicted times of tasks of 1 to 100 us, weighted", "%", "the last run of the same sizes", weighted, command, note="tasks: " + ", ".join(counts))
