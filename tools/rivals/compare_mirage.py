"""The waits of jobs."""
import re
from concurrent.futures import ThreadPoolExecutor

from rows import ROUNDS, figures, run, show


def test_only():
    """Our predicted job starts, and those of a real Slurm; a round is a queue."""
    line = "go test ./mirage/internal/slurmview -count=1 -run TestRealWhen$ -when-seed {} -v"
    pattern = r"absolute error mean ([\d.]+), median [\d.]+ s; Slurm's --test-only ([\d.]+),"
    pairs = [p for seed in range(1, ROUNDS + 1) for p in figures(pattern, *line.format(seed).split())]
    show("mirage", "a job's wait on a real Slurm, mean error", "s", "Slurm's own --test-only", pairs, line.format("SEED"))


def start():
    """Our answers about pending jobs, by the function behind mirage when --job, and the times
    of squeue --start at the same moments. A round is the mean of four queues, each with jobs
    of its own, on real Slurms that run at once: their jobs sleep."""
    kinds = ["alone", "maintenance", "QOS_limit", "dependency"]
    line = "go test ./mirage/internal/slurmview -count=1 -run TestRealQueued$/{} -queued-jobs 8 -queued-past 16 -queued-seed {} -timeout 25m -v"
    pattern = r"all: (\d+) answers, .*, 80 % intervals hold ([\d.]+), .*; squeue --start: (\d+) answers, ([\d.]+) s \(ours ([\d.]+) s\)"
    def queue(seed):
        found = re.search(pattern, run(*line.format(kinds[seed % len(kinds)], seed).split()))
        if not found:
            raise RuntimeError("TestRealQueued skipped itself")
        return [float(v) for v in found.groups()]
    found, pairs = [], []
    with ThreadPoolExecutor(len(kinds)) as pool:
        for seed in range(100, 100 + ROUNDS * len(kinds), len(kinds)):
            queues = list(pool.map(queue, range(seed, seed + len(kinds))))
            pairs.append(tuple(sum(q[side] for q in queues) / len(queues) for side in (4, 3)))
            found += queues
    asked, known = (sum(f[i] for f in found) for i in (0, 2))
    note = (f"{len(found)} queues with {asked:.0f} answers about pending jobs; squeue --start knows {known:.0f} of the starts, over which the errors of both are taken; "
            f"our intervals of 80 % hold {sum(f[0] * f[1] for f in found) / asked:.2f}")
    show("mirage", "a pending job's wait on a real Slurm, mean error", "s", "squeue --start", pairs, line.format("KIND", "SEED"), note=note)
