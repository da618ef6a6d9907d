"""The commands of allox-est that answer in JSON, as functions.

"release python" writes this file from the program's description of its commands.
"""

import typing

from ._answers import Jobs
from ._program import Answer, Settings, Table, Text, Texts, ask

__all__ = ["backtest", "estimate", "record", "run", "schedule", "slurm", "validate"]


def backtest(
    *words: Text,
    series: Text,
    value: Text,
    block: typing.Optional[Text] = None,
    stage_column: typing.Optional[Text] = None,
    fraction: typing.Optional[float] = None,
) -> Answer:
    """Estimate the total of each recorded series from its first steps, and compare the
    estimate with the actual total.

    FILE.csv or FILE.csv.gz has a header and one row per step, in order. Values may have
    any unit. Methods:
      auto   the estimator of allox-est, with the other blocks as the user's past
      alone  the estimator of allox-est without a past
      last   the rate of a progress bar (exponential mean), with an error of 10 %

    Command: allox-est backtest FILE.csv --series COL --value COL
    series: column with the name of the series
    value: column with the time of the step
    block: regular expression for the part of a series name that names its block: series of one job or machine form a block (default: the name without its trailing number)
    stage_column: column with the stage of the step, if the work changes during a run; the first three steps of each later stage are used too
    fraction: fraction of each series that the estimate uses (default 0.03)
    """
    answer: Answer = ask(
        ["backtest"],
        words,
        {
            "series": series,
            "value": value,
            "block": block,
            "stage-column": stage_column,
            "fraction": fraction,
        },
    )
    return answer


def estimate(
    *words: Text,
    epochs: typing.Optional[int] = None,
    pattern: typing.Optional[Text] = None,
    device: typing.Optional[Texts] = None,
    journal: typing.Optional[Text] = None,
    stages: typing.Optional[Text] = None,
    set: typing.Optional[Settings] = None,
    method: typing.Optional[Text] = None,
    plot: typing.Optional[Text] = None,
) -> Jobs:
    """Estimate from the runs in a journal, without starting any.

    Example: allox_est.estimate("job.yaml", method="ratio")

    Command: allox-est estimate JOB.yaml | estimate --epochs N -- COMMAND ... {epochs} ...
    epochs: epochs of the job (default: the job file's); needed for a command without a file
    pattern: regular expression of progress lines; its group matches the epoch number (default: the job file's, or found in the output)
    device: devices to estimate, cpu and gpu (default: the job's)
    journal: journal of the runs (default: NAME.jsonl)
    stages: epoch ranges in which the work differs, such as "0-600 600-1200"; {stage} in the command becomes the epoch after which a sample begins
    set: NAME=VALUE: a parameter of the job, or an entry of the job file by its path, such as unit=step or run.cpu_weight=5000 (may be repeated)
    method: estimation method, one of [auto ratio line] (default auto)
    plot: draw the time of each epoch on the first device to this file, .svg or .png
    """
    answer: Answer = ask(
        ["estimate"],
        words,
        {
            "epochs": epochs,
            "pattern": pattern,
            "device": device,
            "journal": journal,
            "stages": stages,
            "set": set,
            "method": method,
            "plot": plot,
        },
        dashes=True,
    )
    return Jobs.read(answer)


def record(
    *words: Text,
    forget: typing.Optional[Text] = None,
    list: typing.Optional[bool] = None,
    reset: typing.Optional[bool] = None,
) -> Table:
    """Show, for each question, how many of the last 50 known outcomes of this user's
    predictions were inside their interval, and by how much the others missed. From ten
    outcomes on this widens or narrows the next interval. An outcome far outside counts
    as at most ten times the interval until ten of them agree.

    The log is $XDG_STATE_HOME/foretime/record.jsonl (by default below ~/.local/state). It contains
    values, times and hashes, but no names. Lines that cannot be read are moved to
    record.jsonl.bad.

    Example: allox_est.record()

    Command: allox-est record
    forget: remove the predictions of this key, or of this question, and their outcomes
    list: list predictions with their keys: all without an outcome, and the last 50 with one
    reset: remove all predictions of allox-est and their outcomes; those of other tools stay
    """
    answer: Table = ask(
        ["record"],
        words,
        {
            "forget": forget,
            "list": list,
            "reset": reset,
        },
    )
    return answer


def run(
    *words: Text,
    epochs: typing.Optional[int] = None,
    pattern: typing.Optional[Text] = None,
    device: typing.Optional[Texts] = None,
    journal: typing.Optional[Text] = None,
    stages: typing.Optional[Text] = None,
    set: typing.Optional[Settings] = None,
    method: typing.Optional[Text] = None,
    budget: typing.Optional[float] = None,
    fresh: typing.Optional[bool] = None,
    plot: typing.Optional[Text] = None,
) -> Jobs:
    """Sample a job and estimate how long it takes.

    Example: allox_est.run("python3", "train.py", "--epochs", "{epochs}", epochs=500)

    Command: allox-est run JOB.yaml | run --epochs N -- COMMAND ... {epochs} ...
    epochs: epochs of the job (default: the job file's); needed for a command without a file
    pattern: regular expression of progress lines; its group matches the epoch number (default: the job file's, or found in the output)
    device: devices to estimate, cpu and gpu (default: the job's)
    journal: journal of the runs (default: NAME.jsonl)
    stages: epoch ranges in which the work differs, such as "0-600 600-1200"; {stage} in the command becomes the epoch after which a sample begins
    set: NAME=VALUE: a parameter of the job, or an entry of the job file by its path, such as unit=step or run.cpu_weight=5000 (may be repeated)
    method: estimation method, one of [auto ratio line] (default auto)
    budget: largest time of the samples on each device, relative to the predicted time of the job (default: the job's, or 0.03; one sample is always made)
    fresh: ignore the runs in the journal and make new ones
    plot: draw the time of each epoch on the first device to this file, .svg or .png
    """
    answer: Answer = ask(
        ["run"],
        words,
        {
            "epochs": epochs,
            "pattern": pattern,
            "device": device,
            "journal": journal,
            "stages": stages,
            "set": set,
            "method": method,
            "budget": budget,
            "fresh": fresh,
            "plot": plot,
        },
        dashes=True,
    )
    return Jobs.read(answer)


def schedule(
    *words: Text,
    input: Text,
    policy: typing.Optional[Text] = None,
    cpu_nodes: typing.Optional[int] = None,
    gpu_nodes: typing.Optional[int] = None,
    out: typing.Optional[Text] = None,
) -> Answer:
    """Schedule jobs on simulated CPU and GPU nodes under a policy, and report job
    completion times (JCT).

    The input is a file of reports (allox-est run --json), a record file of the AlloX
    simulator (# ID, job, stage and edges, a line each; a job has one stage), or a CSV with
    one row per job and these columns:

      job, user, arrival       name, owner, arrival in seconds
      cpu, gpu                 estimated seconds on that device; empty if it cannot run there
      cpu_actual, gpu_actual   true seconds, if known

    Policies decide by the estimated times; jobs take their true times.

    Policies:
      allox  matching with minimum mean completion time (AlloX)
      srpt   shortest remaining estimated time first, with preemption
      sjf    shortest estimated time first
      fifo   first in, first out, each job on its faster device

    Example: allox_est.schedule(input="jobs.csv", policy="all", cpu_nodes=20, gpu_nodes=20)

    Command: allox-est schedule --input FILE --policy NAME --cpu-nodes N --gpu-nodes N
    input: file of jobs: reports, CSV or AlloX records; - is standard input
    policy: policy, several of them separated by commas, or all: allox, srpt, sjf, fifo (default allox)
    cpu_nodes: number of CPU nodes
    gpu_nodes: number of GPU nodes
    out: write the runs of each job to this .csv, .tsv, .jsonl or .parquet file
    """
    answer: Answer = ask(
        ["schedule"],
        words,
        {
            "input": input,
            "policy": policy,
            "cpu-nodes": cpu_nodes,
            "gpu-nodes": gpu_nodes,
            "out": out,
        },
    )
    return answer


def slurm(
    *words: Text,
    epochs: int,
    quantile: typing.Optional[float] = None,
    journal: typing.Optional[Text] = None,
    pattern: typing.Optional[Text] = None,
    device: typing.Optional[Text] = None,
    sbatch_option: typing.Optional[Texts] = None,
    fresh: typing.Optional[bool] = None,
    submit: typing.Optional[bool] = None,
) -> Answer:
    """Sample a batch job where it will run, as one short Slurm job with the script's own
    #SBATCH lines, and print the --time that it needs; --submit submits it. The script
    takes its number of epochs as an argument. allox-est and the journal must have the
    same paths on the nodes. Samples of an earlier call are reused.

    Example: allox_est.slurm("train.sbatch", "--epochs", "{epochs}", epochs=500)

    Command: allox-est slurm --epochs N -- SCRIPT ... {epochs} ...
    epochs: epochs of the job
    quantile: fraction of such jobs for which the limit suffices (default 0.95)
    journal: journal of the runs (default: SCRIPT.jsonl)
    pattern: regular expression of the output lines that end an epoch, if the job makes no time-writer report
    device: device of the job, cpu or gpu (default cpu)
    sbatch_option: option of sbatch for both jobs (may be repeated); --time applies to the samples only, --array, --dependency and --time-min to the job only
    fresh: ignore the samples in the journal and make new ones
    submit: submit the job
    """
    answer: Answer = ask(
        ["slurm"],
        words,
        {
            "epochs": epochs,
            "quantile": quantile,
            "journal": journal,
            "pattern": pattern,
            "device": device,
            "sbatch-option": sbatch_option,
            "fresh": fresh,
            "submit": submit,
        },
        dashes=True,
    )
    return answer


def validate(
    *words: Text,
    epochs: typing.Optional[int] = None,
    pattern: typing.Optional[Text] = None,
    device: typing.Optional[Texts] = None,
    journal: typing.Optional[Text] = None,
    stages: typing.Optional[Text] = None,
    set: typing.Optional[Settings] = None,
    method: typing.Optional[Text] = None,
    budget: typing.Optional[float] = None,
    fresh: typing.Optional[bool] = None,
    plot: typing.Optional[Text] = None,
    full: typing.Optional[int] = None,
) -> Answer:
    """Sample a job, run it whole, and show the error of the estimate.

    Example: allox_est.validate("lenet.yaml", full=3)

    Command: allox-est validate JOB.yaml | validate --epochs N -- COMMAND ... {epochs} ...
    epochs: epochs of the job (default: the job file's); needed for a command without a file
    pattern: regular expression of progress lines; its group matches the epoch number (default: the job file's, or found in the output)
    device: devices to estimate, cpu and gpu (default: the job's)
    journal: journal of the runs (default: NAME.jsonl)
    stages: epoch ranges in which the work differs, such as "0-600 600-1200"; {stage} in the command becomes the epoch after which a sample begins
    set: NAME=VALUE: a parameter of the job, or an entry of the job file by its path, such as unit=step or run.cpu_weight=5000 (may be repeated)
    method: estimation method, one of [auto ratio line] (default auto)
    budget: largest time of the samples on each device, relative to the predicted time of the job (default: the job's, or 0.03; one sample is always made)
    fresh: ignore the runs in the journal and make new ones
    plot: draw the time of each epoch on the first device to this file, .svg or .png
    full: whole runs on each device (default 1)
    """
    answer: Answer = ask(
        ["validate"],
        words,
        {
            "epochs": epochs,
            "pattern": pattern,
            "device": device,
            "journal": journal,
            "stages": stages,
            "set": set,
            "method": method,
            "budget": budget,
            "fresh": fresh,
            "plot": plot,
            "full": full,
        },
        dashes=True,
    )
    return answer

