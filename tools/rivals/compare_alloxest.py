"""The times of whole jobs."""
import csv
import gzip
import itertools

from compare_progress import tqdm_ends
from rows import DATA, answer, show, version


def tqdm_error(path, series, value):
    """Returns the mean absolute error in percent of the total time that tqdm, on a
    simulated clock, shows for series of steps when a tenth of their steps is done."""
    steps, errors = {}, []
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as f:
        for row in csv.DictReader(f):
            steps.setdefault(row[series], []).append(float(row[value]))
    for seconds in steps.values():
        done = seconds[:max(1, round(len(seconds) / 10))]
        events = zip(itertools.accumulate(done, initial=0.0), range(len(done) + 1))
        errors.append(abs(tqdm_ends(list(events), len(seconds))[-1][1] / sum(seconds) - 1))
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
