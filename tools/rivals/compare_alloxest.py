"""The times of whole jobs."""
import csv
import gzip
import os

from rows import DATA, answer, show, version


def tqdm_error(path, series, value):
    """Returns the mean absolute error in percent of the total time that tqdm, on a
    simulated clock, shows for series of steps when a tenth of their steps is done."""
    import tqdm
    steps, errors = {}, []
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as f:
        for row in csv.DictReader(f):
            steps.setdefault(row[series], []).append(float(row[value]))
    for seconds in steps.values():
        now, bar = [0.0], tqdm.tqdm(total=len(seconds), file=open(os.devnull, "w"), disable=False)
        bar._time, bar.start_t, bar.last_print_t = (lambda: now[0]), 0.0, 0.0
        for s in seconds[:max(1, round(len(seconds) / 10))]:
            now[0] += s
            bar.update()
        d = bar.format_dict
        rate = d["rate"] or d["n"] / d["elapsed"]
        errors.append(abs((d["elapsed"] + (d["total"] - d["n"]) / rate) / sum(seconds) - 1))
    return 100 * sum(errors) / len(errors)


def rest():
    """Estimates of whole jobs from a tenth of their steps, and those of a progress bar; a
    round is a set of published series."""
    values, rival = [], "tqdm " + version("tqdm")
    for name, *columns in [
        ("steps-pai/minibatch.csv", "series", "batch_time_norm"), ("steps-azure/values.csv.gz", "series", "value"), ("steps-nanogpt/steps.csv", "series", "seconds"),
    ]:
        path = f"{DATA}/{name}"
        methods = answer("allox-est", "backtest", path, "--series", columns[0], "--value", columns[1], "--fraction", "0.1")["methods"]
        values.append((methods["auto"]["mape"], tqdm_error(path, *columns)))
    command = "allox-est backtest FILE --series S --value V --fraction 0.1 --json"
    show("allox-est", "a job's time from a tenth of its steps, mean error", "%", rival, values, command)
