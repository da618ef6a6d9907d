"""The commands of deft that answer in JSON, as functions.

"release python" writes this file from the program's description of its commands.
"""

import typing

from ._program import Answer, Duration, Text, Texts, as_duration, ask

__all__ = ["alone", "build_hook", "ctl_list", "ctl_pause", "ctl_policy", "ctl_priority", "ctl_resume", "ctl_weight", "doctor", "pair", "report", "run", "sweep"]


def alone(
    *words: Text,
    file: Text,
    device: typing.Optional[Text] = None,
    clock: typing.Optional[Text] = None,
    discipline: typing.Optional[Text] = None,
    out: typing.Optional[Text] = None,
    duration: typing.Optional[Duration] = None,
    seed: typing.Optional[int] = None,
) -> Answer:
    """Run each model of an experiment alone, one after another.

    Command: deft alone -f FILE
    file: file of the experiment, JSON (required)
    device: device: sim (simulated) or cuda (default sim)
    clock: clock: real (with processes) or virtual (a simulation) (default real)
    discipline: simulated device: fifo, turns (a GPU without MPS) or mps (default: the file's)
    out: directory for the logs of all models (default: each model's output_file_path)
    duration: duration of the run, such as 5s (default: the file's exp_dur)
    seed: random seed, 0 or more (default: the file's)
    """
    answer: Answer = ask(
        ["alone"],
        words,
        {
            "file": file,
            "device": device,
            "clock": clock,
            "discipline": discipline,
            "out": out,
            "duration": as_duration("duration", duration),
            "seed": seed,
        },
    )
    return answer


def build_hook(
    *words: Text,
    driver: typing.Optional[Text] = None,
    out: typing.Optional[Text] = None,
    shim: typing.Optional[bool] = None,
) -> Answer:
    """Build libdeft.so, the library for LD_PRELOAD, and deft.py.

    Example: deft.build_hook(out="lib")

    Command: deft build-hook
    driver: with --shim: the real driver's libcuda.so.1 (default: the one that the loader finds)
    out: directory for the library; created if missing (default .)
    shim: build a libcuda.so.1 that replaces the driver's, instead of libdeft.so
    """
    answer: Answer = ask(
        ["build-hook"],
        words,
        {
            "driver": driver,
            "out": out,
            "shim": shim,
        },
    )
    return answer


def ctl_list(
    *words: Text,
    device: typing.Optional[Text] = None,
    session: typing.Optional[Text] = None,
    session_dir: typing.Optional[Text] = None,
) -> Answer:
    """List the policy and the programs.

    Command: deft ctllist
    device: device: cuda or sim (simulated) (default cuda)
    session: name of the session (default: the device's)
    session_dir: directory of sessions, private to this user (default: $DEFT_SESSION_DIR, or /dev/shm/deft-UID)
    """
    answer: Answer = ask(
        ["ctl", "list"],
        words,
        {
            "device": device,
            "session": session,
            "session-dir": session_dir,
        },
    )
    return answer


def ctl_pause(
    *words: Text,
    device: typing.Optional[Text] = None,
    session: typing.Optional[Text] = None,
    session_dir: typing.Optional[Text] = None,
) -> Answer:
    """Stop a program at its next launch.

    Command: deft ctlpause CLIENT
    device: device: cuda or sim (simulated) (default cuda)
    session: name of the session (default: the device's)
    session_dir: directory of sessions, private to this user (default: $DEFT_SESSION_DIR, or /dev/shm/deft-UID)
    """
    answer: Answer = ask(
        ["ctl", "pause"],
        words,
        {
            "device": device,
            "session": session,
            "session-dir": session_dir,
        },
    )
    return answer


def ctl_policy(
    *words: Text,
    device: typing.Optional[Text] = None,
    session: typing.Optional[Text] = None,
    session_dir: typing.Optional[Text] = None,
) -> Answer:
    """Change the policy.

    Command: deft ctlpolicy NAME
    device: device: cuda or sim (simulated) (default cuda)
    session: name of the session (default: the device's)
    session_dir: directory of sessions, private to this user (default: $DEFT_SESSION_DIR, or /dev/shm/deft-UID)
    """
    answer: Answer = ask(
        ["ctl", "policy"],
        words,
        {
            "device": device,
            "session": session,
            "session-dir": session_dir,
        },
    )
    return answer


def ctl_priority(
    *words: Text,
    device: typing.Optional[Text] = None,
    session: typing.Optional[Text] = None,
    session_dir: typing.Optional[Text] = None,
) -> Answer:
    """Change the priority of a program: a larger one is more urgent.

    Command: deft ctlpriority CLIENT N
    device: device: cuda or sim (simulated) (default cuda)
    session: name of the session (default: the device's)
    session_dir: directory of sessions, private to this user (default: $DEFT_SESSION_DIR, or /dev/shm/deft-UID)
    """
    answer: Answer = ask(
        ["ctl", "priority"],
        words,
        {
            "device": device,
            "session": session,
            "session-dir": session_dir,
        },
    )
    return answer


def ctl_resume(
    *words: Text,
    device: typing.Optional[Text] = None,
    session: typing.Optional[Text] = None,
    session_dir: typing.Optional[Text] = None,
) -> Answer:
    """Resume a paused program.

    Command: deft ctlresume CLIENT
    device: device: cuda or sim (simulated) (default cuda)
    session: name of the session (default: the device's)
    session_dir: directory of sessions, private to this user (default: $DEFT_SESSION_DIR, or /dev/shm/deft-UID)
    """
    answer: Answer = ask(
        ["ctl", "resume"],
        words,
        {
            "device": device,
            "session": session,
            "session-dir": session_dir,
        },
    )
    return answer


def ctl_weight(
    *words: Text,
    device: typing.Optional[Text] = None,
    session: typing.Optional[Text] = None,
    session_dir: typing.Optional[Text] = None,
) -> Answer:
    """Change a program's share of the device.

    Command: deft ctlweight CLIENT N
    device: device: cuda or sim (simulated) (default cuda)
    session: name of the session (default: the device's)
    session_dir: directory of sessions, private to this user (default: $DEFT_SESSION_DIR, or /dev/shm/deft-UID)
    """
    answer: Answer = ask(
        ["ctl", "weight"],
        words,
        {
            "device": device,
            "session": session,
            "session-dir": session_dir,
        },
    )
    return answer


def doctor(
    *words: Text,
) -> Answer:
    """Run a program under libdeft.so and report whether its launches are seen and how
    it reaches the driver. The program's output goes to stderr. The exit code is 1
    if the hook saw no launch or the program failed.

    Example: deft.doctor("python3", "serve.py")

    Command: deft doctor -- COMMAND...
    """
    answer: Answer = ask(
        ["doctor"],
        words,
        {
        },
        dashes=True,
    )
    return answer


def pair(
    *words: Text,
    traces: typing.Optional[bool] = None,
    alone: typing.Optional[Text] = None,
    table: typing.Optional[Text] = None,
    device: typing.Optional[Text] = None,
    unmeasured: typing.Optional[bool] = None,
    leave_out: typing.Optional[Text] = None,
    seconds: typing.Optional[Duration] = None,
    save: typing.Optional[Text] = None,
    urgent: typing.Optional[Text] = None,
    slack: typing.Optional[float] = None,
    deadline_ms: typing.Optional[float] = None,
    constants: typing.Optional[Text] = None,
) -> Answer:
    """Predict the speed of two programs that share a device, relative to their speed alone.

    With two commands, each runs alone for --seconds under a hook that records its kernels,
    their times, the host's pace and where it waits for the device. The pair is then
    simulated in every way to share: time slices (a GPU without MPS), MPS, and policy
    priority with either program urgent. --save keeps the recordings; --traces predicts from
    two of them, without a device.

    --alone simulates the pair from each program's solo run (alone.json, written by deft
    alone): jobs, launches, device time and pauses. --table predicts from measured pairs, a
    CSV file with the columns
    model, other, alone, beside and, for several devices, device.
    The third and fourth are the speeds of model alone and next to other, in the same
    unit; larger is faster. A program without measurements is predicted from programs
    whose names differ only in numbers, such as the batch size.

    --leave-out model predicts every measured pair without the rows of one of its
    programs and compares the predictions with the measurements.

    Example: deft.pair("python3", "serve.py", "--", "python3", "train.py")

    Command: deft pair [-- COMMAND_A -- COMMAND_B]
    traces: predict from two recordings, JSON files of --save
    alone: JSON file of deft alone: each program's solo run
    table: CSV file of measured pairs
    device: with commands: cuda or sim (default cuda); with --table: the device, if it has several
    unmeasured: with --table: predict also programs that the table does not contain
    leave_out: model: predict each measured pair without the rows of one of its programs
    seconds: with commands: duration of each recording, from the first launch on (default 8s)
    save: with commands: write the recordings a.json and b.json into this directory
    urgent: A or B: the program that must not become slower than --slack
    slack: time of urgent jobs, relative to alone, that others' use of their gaps may cost (default 1.05)
    deadline_ms: with commands or --traces: deadline of each job of A, or of the --urgent program; prints the best way to keep it (0: none)
    constants: with commands or --traces: the device's measured constants, constants.json of deft gpu-check
    """
    answer: Answer = ask(
        ["pair"],
        words,
        {
            "traces": traces,
            "alone": alone,
            "table": table,
            "device": device,
            "unmeasured": unmeasured,
            "leave-out": leave_out,
            "seconds": as_duration("seconds", seconds),
            "save": save,
            "urgent": urgent,
            "slack": slack,
            "deadline-ms": deadline_ms,
            "constants": constants,
        },
        dashes=True,
    )
    return answer


def report(
    *words: Text,
    run: typing.Optional[Text] = None,
    log: typing.Optional[Texts] = None,
    alone: typing.Optional[Text] = None,
    alone_log: typing.Optional[Texts] = None,
    deadline_ms: typing.Optional[typing.Sequence[float]] = None,
) -> Answer:
    """Describe a run: completion times, inflation, fairness, missed deadlines.

    Command: deft report
    run: run: run.json, or the output of deft run --json
    log: instead of --run: logs of completion times, one per model
    alone: the same models alone: alone.json, or the output of deft alone --json
    alone_log: instead of --alone: logs of the models alone, in the same order
    deadline_ms: with --log: one deadline per model (0: none)
    """
    answer: Answer = ask(
        ["report"],
        words,
        {
            "run": run,
            "log": log,
            "alone": alone,
            "alone-log": alone_log,
            "deadline-ms": deadline_ms,
        },
    )
    return answer


def run(
    *words: Text,
    file: Text,
    device: typing.Optional[Text] = None,
    clock: typing.Optional[Text] = None,
    discipline: typing.Optional[Text] = None,
    out: typing.Optional[Text] = None,
    duration: typing.Optional[Duration] = None,
    seed: typing.Optional[int] = None,
    slack: typing.Optional[float] = None,
    policy: typing.Optional[Text] = None,
    queue_log: typing.Optional[Text] = None,
) -> Answer:
    """Run an experiment: several models on one device under a policy.

    Policies:
      none      no control: launches are passed on at once
      priority  the most urgent job runs alone, others stop at their gate
      sync      less urgent clients wait for their queue every N launches, or keep two groups of N in flight
      rr        one client at a time, in turn, for a quantum
      fair      device time in proportion to weights
      edf       the job with the earliest deadline runs alone
      quota     each client gets at most its share of the device time

    If neither --policy nor the file names one, the models with control in the file are under
    priority and the others run freely.

    The table shows inflation if deft alone was run before with the same --out.

    Example: deft.run("-f", "input.json", "with", "processes", "on", "a", "simulated", "device")

    Command: deft run -f FILE
    file: file of the experiment, JSON (required)
    device: device: sim (simulated) or cuda (default sim)
    clock: clock: real (with processes) or virtual (a simulation) (default real)
    discipline: simulated device: fifo, turns (a GPU without MPS) or mps (default: the file's)
    out: directory for the logs of all models (default: each model's output_file_path)
    duration: duration of the run, such as 5s (default: the file's exp_dur)
    seed: random seed, 0 or more (default: the file's)
    slack: time of urgent jobs, relative to alone, that others' use of their gaps may cost (default 1.05)
    policy: policy for all models (default: the file's control): [none priority sync rr fair edf quota]
    queue_log: write the launches in flight, one row per millisecond, to this CSV file
    """
    answer: Answer = ask(
        ["run"],
        words,
        {
            "file": file,
            "device": device,
            "clock": clock,
            "discipline": discipline,
            "out": out,
            "duration": as_duration("duration", duration),
            "seed": seed,
            "slack": slack,
            "policy": policy,
            "queue-log": queue_log,
        },
    )
    return answer


def sweep(
    *words: Text,
    file: Text,
    device: typing.Optional[Text] = None,
    clock: typing.Optional[Text] = None,
    discipline: typing.Optional[Text] = None,
    out: typing.Optional[Text] = None,
    duration: typing.Optional[Duration] = None,
    seed: typing.Optional[int] = None,
    slack: typing.Optional[float] = None,
    policy: typing.Optional[Text] = None,
    sync: typing.Optional[typing.Sequence[int]] = None,
) -> Answer:
    """Measure an experiment under several synchronization intervals.

    Command: deft sweep -f FILE
    file: file of the experiment, JSON (required)
    device: device: sim (simulated) or cuda (default sim)
    clock: clock: real (with processes) or virtual (a simulation) (default real)
    discipline: simulated device: fifo, turns (a GPU without MPS) or mps (default: the file's)
    out: directory for the logs of all models (default: each model's output_file_path)
    duration: duration of the run, such as 5s (default: the file's exp_dur)
    seed: random seed, 0 or more (default: the file's)
    slack: time of urgent jobs, relative to alone, that others' use of their gaps may cost (default 1.05)
    policy: policy for all models (default: the file's control): [none priority sync rr fair edf quota]
    sync: synchronization intervals in launches, for the models below the highest priority (default [1,2,4,8,10,20,50,100,500,1000,5000,10000,1000000])
    """
    answer: Answer = ask(
        ["sweep"],
        words,
        {
            "file": file,
            "device": device,
            "clock": clock,
            "discipline": discipline,
            "out": out,
            "duration": as_duration("duration", duration),
            "seed": seed,
            "slack": slack,
            "policy": policy,
            "sync": sync,
        },
    )
    return answer

