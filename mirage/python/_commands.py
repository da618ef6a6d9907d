"""The commands of mirage that answer in JSON, as functions.

"release python" writes this file from the program's description of its commands.
"""

import typing

from ._answers import Start
from ._program import Answer, Date, Duration, Settings, Table, Text, Texts, as_duration, ask

__all__ = ["backtest", "fit", "generate", "log_stats", "log_synth", "provision", "record", "simulate", "status", "train", "validate", "when"]


def backtest(
    *words: Text,
    from_: typing.Optional[Date] = None,
    to: typing.Optional[Date] = None,
    level: typing.Optional[float] = None,
    seed: typing.Optional[int] = None,
    config: typing.Optional[Text] = None,
    set: typing.Optional[Settings] = None,
    nodes: typing.Optional[int] = None,
) -> Answer:
    """Predict the wait of each job submitted from --from until before --to, using only log
    entries from before its submission, and compare with the actual wait. The table also
    scores simple forecasts: the mean of the last 100 waits, and the median of the user's
    latest waits, of the user's latest waits for the same shape, and of the latest waits
    for about the same size and limit.

    Command: mirage backtest FILE
    from_: begin of the submissions, a date, inclusive
    to: end of the submissions, a date, exclusive
    level: level of the intervals (default 0.9)
    seed: random seed (default 1)
    config: settings file, YAML or JSON
    set: one setting, KEY=VALUE; may be repeated
    nodes: nodes of the cluster, or processors if the log counts processors (default: from the settings, the log, or its peak use)
    """
    answer: Answer = ask(
        ["backtest"],
        words,
        {
            "from": from_,
            "to": to,
            "level": level,
            "seed": seed,
            "config": config,
            "set": set,
            "nodes": nodes,
        },
    )
    return answer


def fit(
    *words: Text,
    out: Text,
    from_: typing.Optional[Date] = None,
    to: typing.Optional[Date] = None,
    held_to: typing.Optional[Text] = None,
    nodes: typing.Optional[int] = None,
    config: typing.Optional[Text] = None,
    set: typing.Optional[Settings] = None,
) -> Answer:
    """Search for the settings of a Slurm-like scheduler that reproduce the waits of the
    jobs submitted from --from until before --to, and write them to --out. The jobs of
    the four weeks before --from fill the queue. The range until --held-to is not used for
    the search; the result is tested on it.

    Example: mirage.fit("ls6-a100.log", from_="2022-11-01", to="2023-02-01", held_to="2023-03-01", out="config.json")

    Command: mirage fit FILE
    out: settings file to write
    from_: begin of the submissions, a date, inclusive
    to: end of the submissions, a date, exclusive
    held_to: end of the held-out range, exclusive; it begins at --to
    nodes: nodes of the cluster, if known (default: searched for)
    config: settings file, YAML or JSON
    set: one setting, KEY=VALUE; may be repeated
    """
    answer: Answer = ask(
        ["fit"],
        words,
        {
            "out": out,
            "from": from_,
            "to": to,
            "held-to": held_to,
            "nodes": nodes,
            "config": config,
            "set": set,
        },
    )
    return answer


def generate(
    *words: Text,
    start: Date,
    out: Text,
    episodes: typing.Optional[int] = None,
    interval: typing.Optional[Duration] = None,
    history: typing.Optional[Duration] = None,
    config: typing.Optional[Text] = None,
    set: typing.Optional[Settings] = None,
    nodes: typing.Optional[int] = None,
    probes: typing.Optional[int] = None,
    shard: typing.Optional[Text] = None,
    slurm: typing.Optional[int] = None,
    slurm_option: typing.Optional[Texts] = None,
) -> Answer:
    """Simulate service pairs on the queue of a log, submit the successor at several
    probes of each, and write the history before each probe and the resulting reward as
    Parquet files. The same command continues an interrupted run. Shards may run on
    different machines; copy their files into one directory. (train generates its own
    samples from a log.)

    Example: mirage.generate("ls6-a100.log", config="config.json", episodes=684, interval="4h", start="2022-11-01", set={"service.nodes": "1"}, out="samples/")

    Command: mirage generate FILE
    start: submission date of the first predecessor
    out: directory to write
    episodes: number of service pairs to simulate (default 684)
    interval: time between the submissions of two predecessors (4h, 1d) (default 4h)
    history: time simulated before --start, beginning with an idle cluster (default 14d)
    config: settings file, YAML or JSON
    set: one setting, KEY=VALUE; may be repeated
    nodes: nodes of the cluster, or processors if the log counts processors (default: from the settings, the log, or its peak use)
    probes: probed decisions per episode, the last one reactive (default 7)
    shard: I/N: only shard I of N, counted from 0
    slurm: run as a Slurm job array of N shards and wait for it
    slurm_option: option of sbatch, such as --partition=cpu (may be repeated)
    """
    answer: Answer = ask(
        ["generate"],
        words,
        {
            "start": start,
            "out": out,
            "episodes": episodes,
            "interval": as_duration("interval", interval),
            "history": as_duration("history", history),
            "config": config,
            "set": set,
            "nodes": nodes,
            "probes": probes,
            "shard": shard,
            "slurm": slurm,
            "slurm-option": slurm_option,
        },
    )
    return answer


def log_stats(
    *words: Text,
    config: typing.Optional[Text] = None,
    set: typing.Optional[Settings] = None,
) -> Answer:
    """Print statistics of a log and its unusable rows.

    Example: mirage.log_stats("sacct.log", set={"log.zone": "UTC"})

    Command: mirage logstats FILE
    config: settings file, YAML or JSON
    set: one setting, KEY=VALUE; may be repeated
    """
    answer: Answer = ask(
        ["log", "stats"],
        words,
        {
            "config": config,
            "set": set,
        },
    )
    return answer


def log_synth(
    *words: Text,
    out: Text,
    config: typing.Optional[Text] = None,
    set: typing.Optional[Settings] = None,
    jobs: typing.Optional[int] = None,
    days: typing.Optional[float] = None,
    start: typing.Optional[Text] = None,
    nodes: typing.Optional[int] = None,
    utilisation: typing.Optional[float] = None,
    seed: typing.Optional[int] = None,
) -> Answer:
    """Generate a log, in the layout of the published Mirage logs, whose jobs follow the
    distributions of the Lonestar6 A100 queue. The waits come from a simulated Slurm with
    --nodes nodes, on which a user runs at most eight jobs at once.

    Example: mirage.log_synth(days=28, nodes=75, seed=1, out="month.log")

    Command: mirage logsynth
    out: log to write
    config: settings file, YAML or JSON
    set: one setting, KEY=VALUE; may be repeated
    jobs: number of jobs
    days: number of days (default: 28, or as many as --jobs need)
    start: first day (default 2023-01-01)
    nodes: nodes of the simulated cluster; larger jobs are not generated (default 75)
    utilisation: submitted work as a fraction of the cluster's capacity (default: from the distributions)
    seed: random seed (default 1)
    """
    answer: Answer = ask(
        ["log", "synth"],
        words,
        {
            "out": out,
            "config": config,
            "set": set,
            "jobs": jobs,
            "days": days,
            "start": start,
            "nodes": nodes,
            "utilisation": utilisation,
            "seed": seed,
        },
    )
    return answer


def provision(
    *words: Text,
    state: Text,
    model: typing.Optional[Text] = None,
    sbatch_option: typing.Optional[Texts] = None,
    partition: typing.Optional[Text] = None,
    services: typing.Optional[int] = None,
    predecessor: typing.Optional[int] = None,
    release: typing.Optional[bool] = None,
    leave_successor: typing.Optional[bool] = None,
    resolve: typing.Optional[Text] = None,
    dry_run: typing.Optional[bool] = None,
    metrics: typing.Optional[Text] = None,
    config: typing.Optional[Text] = None,
    set: typing.Optional[Settings] = None,
) -> Answer:
    """Submit SCRIPT with sbatch, and each successor when a model or a baseline decides to,
    exactly once, for as long as this command runs. It may be stopped or killed at any
    time and started again with the same --state.

    The --state directory holds journal.jsonl (submissions and their outcomes),
    history.jsonl (snapshots of the queue) and decisions.jsonl (each decision with its
    features, the distribution of the start time and the chosen handover time). Its file
    system must support locks. --model is the output of mirage validate --json, whose
    policy and settings are run and whose date is printed, or the file of a trained model,
    or one of the baselines below; fixed needs policy.lead_hours. Baselines that forecast
    use the cluster that --config describes, or else the one that the controller reports:

      reactive    submit when the predecessor has ended
      avg         submit ahead by the mean of the last 100 waits
      quantile    submit ahead by a quantile of the last 500 waits
      fixed       submit ahead by a fixed time
      forecast    submit ahead by the wait from simulating the queue with time limits
      futures     least expected cost over sampled futures of the queue (run times and arrivals from the past)
      never-late  submit when the predecessor starts

    Example: mirage.provision("service.sh", state="chain", model="boost.json", set={"service.limit": "48h"}, sbatch_option="--partition=gpu")

    Command: mirage provision [flags] SCRIPT [ARG...]
    state: directory of the chain
    model: output of validate --json, model file, or a baseline: reactive, avg, quantile, fixed, forecast, futures, never-late (default: futures)
    sbatch_option: option of sbatch, such as --partition=gpu (may be repeated)
    partition: use the queue of this partition only; --sbatch-option sets the partition of the service
    services: number of services (default: no end)
    predecessor: running job that is the first service
    release: cancel a predecessor once its successor runs
    leave_successor: on exit, submit a missing successor that starts after the running service (sbatch --dependency)
    resolve: outcome of an unclear submission: the job's id, or none
    dry_run: log the decisions for --predecessor without submitting
    metrics: serve Prometheus metrics on this address, such as 127.0.0.1:9118
    config: settings file, YAML or JSON
    set: one setting, KEY=VALUE; may be repeated
    """
    answer: Answer = ask(
        ["provision"],
        words,
        {
            "state": state,
            "model": model,
            "sbatch-option": sbatch_option,
            "partition": partition,
            "services": services,
            "predecessor": predecessor,
            "release": release,
            "leave-successor": leave_successor,
            "resolve": resolve,
            "dry-run": dry_run,
            "metrics": metrics,
            "config": config,
            "set": set,
        },
    )
    return answer


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

    Example: mirage.record()

    Command: mirage record
    forget: remove the predictions of this key, or of this question, and their outcomes
    list: list predictions with their keys: all without an outcome, and the last 50 with one
    reset: remove all predictions of mirage and their outcomes; those of other tools stay
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


def simulate(
    *words: Text,
    from_: typing.Optional[Date] = None,
    to: typing.Optional[Date] = None,
    config: typing.Optional[Text] = None,
    set: typing.Optional[Settings] = None,
    nodes: typing.Optional[int] = None,
    history: typing.Optional[Duration] = None,
    out: typing.Optional[Text] = None,
) -> Answer:
    """Replay the jobs submitted from --from until before --to on a simulated cluster, and
    compare their waits with the log. For comparison, the class median is the median wait
    of jobs of about the same size and limit. The cluster begins idle; with --history the
    jobs of that span before --from fill it. They are written to --out but not counted.

    Example: mirage.simulate("ls6-a100.log", "\\\\", nodes=75, set={"user_limit": "8"}, set={"logged_priority": "true"})

    Command: mirage simulate FILE
    from_: begin of the submissions, a date, inclusive
    to: end of the submissions, a date, exclusive
    config: settings file, YAML or JSON
    set: one setting, KEY=VALUE; may be repeated
    nodes: nodes of the cluster, or processors if the log counts processors (default: from the settings, the log, or its peak use)
    history: span before --from whose jobs fill the cluster and are not counted, such as 28d
    out: write the start and end of every job to this CSV file
    """
    answer: Answer = ask(
        ["simulate"],
        words,
        {
            "from": from_,
            "to": to,
            "config": config,
            "set": set,
            "nodes": nodes,
            "history": as_duration("history", history),
            "out": out,
        },
    )
    return answer


def status(
    *words: Text,
) -> Answer:
    """Show the services of a chain from DIR, the --state directory of provision.

    Example: mirage.status("chain")

    Command: mirage status DIR
    """
    answer: Answer = ask(
        ["status"],
        words,
        {
        },
    )
    return answer


def train(
    *words: Text,
    out: Text,
    model: typing.Optional[Text] = None,
    until: typing.Optional[Text] = None,
    overlap_cost: typing.Optional[float] = None,
    forecast: typing.Optional[bool] = None,
    seed: typing.Optional[int] = None,
    start: typing.Optional[Date] = None,
    episodes: typing.Optional[int] = None,
    interval: typing.Optional[Duration] = None,
    history: typing.Optional[Duration] = None,
    config: typing.Optional[Text] = None,
    set: typing.Optional[Settings] = None,
    nodes: typing.Optional[int] = None,
) -> Answer:
    """Train a model that predicts how long a successor will wait.

    From a log, service pairs from --start on are simulated on its queue, and the state at
    each decision and its outcome are kept in the directory OUT.samples; after an
    interruption, the same command continues. Instead of a log, give one or more
    directories of samples written by mirage generate. The later part of each set of
    samples tests the model.

    Kinds of models:

      boost  gradient-boosted trees for the cost-optimal quantile of the wait
      moe    experimental: a mixture of ten expert networks, not better than the forecast with any seed

    Example: mirage.train("ls6-a100.log", config="config.json", start="2022-11-01", until="2023-02-01", out="boost.json")

    Command: mirage train LOG | DIR...
    out: model file to write
    model: kind of model: boost, moe (default boost)
    until: use only episodes whose successors all started before that day
    overlap_cost: cost of an hour of overlap in hours of interruption (default 1)
    forecast: give the model a forecast from simulating the queue with time limits as a feature; without it no model beats a simple baseline in a busier month (default true)
    seed: random seed (default 1)
    start: submission date of the first predecessor
    episodes: number of service pairs to simulate (default 684)
    interval: time between the submissions of two predecessors (4h, 1d) (default 4h)
    history: time simulated before --start, beginning with an idle cluster (default 14d)
    config: settings file, YAML or JSON
    set: one setting, KEY=VALUE; may be repeated
    nodes: nodes of the cluster, or processors if the log counts processors (default: from the settings, the log, or its peak use)
    """
    answer: Answer = ask(
        ["train"],
        words,
        {
            "out": out,
            "model": model,
            "until": until,
            "overlap-cost": overlap_cost,
            "forecast": forecast,
            "seed": seed,
            "start": start,
            "episodes": episodes,
            "interval": as_duration("interval", interval),
            "history": as_duration("history", history),
            "config": config,
            "set": set,
            "nodes": nodes,
        },
    )
    return answer


def validate(
    *words: Text,
    start: Date,
    episodes: typing.Optional[int] = None,
    interval: typing.Optional[Duration] = None,
    history: typing.Optional[Duration] = None,
    config: typing.Optional[Text] = None,
    set: typing.Optional[Settings] = None,
    nodes: typing.Optional[int] = None,
    model: typing.Optional[Text] = None,
    out: typing.Optional[Text] = None,
    overlap_cost: typing.Optional[float] = None,
    compare: typing.Optional[bool] = None,
) -> Answer:
    """Simulate service pairs on the queue of a log, let a policy decide every ten minutes
    whether to submit the successor, and compare with submitting it after the predecessor
    has ended (reactive) in the same episodes.

    --model is the file of a trained model, or one of the baselines:

      reactive    submit when the predecessor has ended
      avg         submit ahead by the mean of the last 100 waits
      quantile    submit ahead by a quantile of the last 500 waits
      fixed       submit ahead by a fixed time
      forecast    submit ahead by the wait from simulating the queue with time limits
      futures     least expected cost over sampled futures of the queue (run times and arrivals from the past)
      never-late  submit when the predecessor starts
      oracle      the decision with the best outcome (knows the future)

    policy.NAME sets the setting of a baseline; fixed needs policy.lead_hours.

    Example: mirage.validate("ls6-a100.log", config="config.json", model="avg", episodes=168, interval="3h", start="2023-02-01", out="reward.log")

    Command: mirage validate FILE
    start: submission date of the first predecessor
    episodes: number of service pairs to simulate (default 156)
    interval: time between the submissions of two predecessors (4h, 1d) (default 4h)
    history: time simulated before --start, beginning with an idle cluster (default 14d)
    config: settings file, YAML or JSON
    set: one setting, KEY=VALUE; may be repeated
    nodes: nodes of the cluster, or processors if the log counts processors (default: from the settings, the log, or its peak use)
    model: model file, or a baseline: reactive, avg, quantile, fixed, forecast, futures, never-late, oracle (default futures)
    out: write the reward log to this file
    overlap_cost: cost of an hour of overlap in hours of interruption (default 1)
    compare: simulate avg, quantile, forecast, futures too and test the difference to each
    """
    answer: Answer = ask(
        ["validate"],
        words,
        {
            "start": start,
            "episodes": episodes,
            "interval": as_duration("interval", interval),
            "history": as_duration("history", history),
            "config": config,
            "set": set,
            "nodes": nodes,
            "model": model,
            "out": out,
            "overlap-cost": overlap_cost,
            "compare": compare,
        },
    )
    return answer


def when(
    *words: Text,
    at: typing.Optional[Date] = None,
    curve: typing.Optional[typing.Union[bool, float]] = None,
    job: typing.Optional[Text] = None,
    by: typing.Optional[Date] = None,
    job_nodes: typing.Optional[int] = None,
    job_limit: typing.Optional[Duration] = None,
    job_partition: typing.Optional[Text] = None,
    user: typing.Optional[Text] = None,
    job_gpus: typing.Optional[int] = None,
    config: typing.Optional[Text] = None,
    set: typing.Optional[Settings] = None,
    no_cache: typing.Optional[bool] = None,
    level: typing.Optional[float] = None,
) -> Start:
    """Predict when a job would start if it were submitted now: the wait with an interval,
    the probability of a start by a given time, and the shorter or smaller shapes or other
    partitions that would start earlier.

    Without a log, the live Slurm is queried: its nodes, partitions, reservations, limits,
    queue and the run times of recent jobs. The job is that of SCRIPT, a batch script with
    #SBATCH lines, and of sbatch's own options (-N 2, --time=4:00:00, --gres=gpu:a100:1,
    --constraint, --reservation, --array); or, with --job, one that waits in the queue. The
    start that sbatch --test-only predicts, or for a queued job squeue --start, is shown for
    comparison. With --config, the rules of that file replace Slurm's own priorities.

    With an accounting log, "now" is the end of the log, or --at. Jobs pending or running
    at its end are its rows without a start or an end, as sacct prints them, or those of
    QUEUE: the output of squeue --json, or of squeue with the columns JOBID, USER, STATE,
    SUBMIT_TIME, START_TIME, TIME_LIMIT and NODES.

    Example: mirage.when("ls6-a100.log", at="2023-02-10T12:00", job_nodes=4, job_limit="12h", user="00312", by="2023-02-11")

    Command: mirage when [SCRIPT | LOG [QUEUE]]
    at: submission date of the job (default: the last submission in the log, or the log's end if it contains a queue)
    curve: print the distribution of the start time, and when to submit a successor if an hour of overlap costs C hours of interruption (--curve=C; --curve alone: 1)
    job: live Slurm: a job that waits in the queue, 12345 or 12345_7
    by: print the probability of a start by this date (2026-11-23T08:00, 08:00, tomorrow, now+2hours)
    job_nodes: nodes of the job, or processors if the log counts processors (default 1)
    job_limit: time limit of the job (default 24h)
    job_partition: partition of the job
    user: user who submits the job, as named in the log
    job_gpus: live Slurm: GPUs of the job on all its nodes (default: whole nodes)
    config: settings file, YAML or JSON
    set: one setting, KEY=VALUE; may be repeated
    no_cache: do not keep what is learnt from a log in the user's cache directory
    level: level of the interval (default 0.8)
    """
    answer: Answer = ask(
        ["when"],
        words,
        {
            "at": at,
            "curve": curve,
            "job": job,
            "by": by,
            "job-nodes": job_nodes,
            "job-limit": as_duration("job_limit", job_limit),
            "job-partition": job_partition,
            "user": user,
            "job-gpus": job_gpus,
            "config": config,
            "set": set,
            "no-cache": no_cache,
            "level": level,
        },
    )
    return Start.read(answer)

