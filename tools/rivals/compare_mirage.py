"""The waits of jobs."""
from rows import ROUNDS, figures, show, wheel


def test_only():
    """Our predicted job starts, and those of a real Slurm; a round is a queue."""
    line = "go test ./mirage/internal/slurm -count=1 -run TestRealWhen$ -when-seed {} -v"
    pattern = r"absolute error mean ([\d.]+), median [\d.]+ s; Slurm's --test-only ([\d.]+),"
    pairs = [p for seed in range(1, ROUNDS + 1) for p in figures(pattern, *line.format(seed).split())]
    show("mirage", "a job's wait on a real Slurm, mean error", "s", "Slurm's own --test-only", pairs, line.format("SEED"))


def waits():
    """Waits of jobs of published logs, and LightGBM on the same features; a round is a log."""
    line = "go test -count=1 -timeout=1h -run BesideLightGBM -v ./mirage/internal/backtest -lightgbm"
    pairs = figures(r"jobs, mean error ([\d.]+) h; LightGBM ([\d.]+) h", *line.split(), wheel("lightgbm==4.5.0"))
    show("mirage", "a job's wait, predicted from a log, mean error", "h", "LightGBM 4.5.0, its median by the same features", pairs, "go test -run BesideLightGBM -v ./mirage/internal/backtest -lightgbm WHEEL")
