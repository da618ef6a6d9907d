"""The commands of deft that answer in JSON, as functions.

"release python" writes this file from the program's description of its commands.
"""

import typing

from ._program import Answer, Duration, Text, as_duration, ask

__all__ = ["build_hook", "ctl_list", "ctl_pause", "ctl_policy", "ctl_priority", "ctl_resume", "ctl_weight", "doctor", "pair", "run"]


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
    device: typing.Optional[Text] = None,
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

    Example: deft.pair("python3", "serve.py", "--", "python3", "train.py")

    Command: deft pair [-- COMMAND_A -- COMMAND_B]
    traces: predict from two recordings, JSON files of --save
    device: with commands: cuda or sim (default cuda)
    seconds: with commands: duration of each recording, from the first launch on (default 8s)
    save: with commands: write the recordings a.json and b.json into this directory
    urgent: A or B: the program that must not become slower than --slack
    slack: time of urgent jobs, relative to alone, that others' use of their gaps may cost (default 1.05)
    deadline_ms: with commands or --traces: deadline of each job of A, or of the --urgent program; prints the best way to keep it (0: none)
    constants: with commands or --traces: the device's measured constants, constants.json of gpu/checks.py
    """
    answer: Answer = ask(
        ["pair"],
        words,
        {
            "traces": traces,
            "device": device,
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


def run(
    *words: Text,
    file: Text,
    device: typing.Optional[Text] = None,
    clock: typing.Optional[Text] = None,
    discipline: typing.Optional[Text] = None,
    out: typing.Optional[Text] = None,
    duration: typing.Optional[Duration] = None,
    seed: typing.Optional[int] = None,
    alone: typing.Optional[bool] = None,
    sync: typing.Optional[typing.Sequence[int]] = None,
    slack: typing.Optional[float] = None,
    policy: typing.Optional[Text] = None,
) -> Answer:
    """Run an experiment: several models on one device under a policy.

    Policies:
      none      no control: launches are passed on at once
      priority  the most urgent job runs alone, others stop at their gate
      sync      less urgent clients wait for their queue every N launches
      fair      device time in proportion to weights
      edf       the job with the earliest deadline runs alone

    If neither --policy nor the file names one, the models with control in the file are under
    priority and the others run freely.

    The table shows inflation if the models ran alone before (--alone) with the same --out.

    Example: deft.run("-f", "input.json", "with", "processes", "on", "a", "simulated", "device")

    Command: deft run -f FILE
    file: file of the experiment, JSON (required)
    device: device: sim (simulated) or cuda (default sim)
    clock: clock: real (with processes) or virtual (a simulation) (default real)
    discipline: simulated device: fifo, turns (a GPU without MPS) or mps (default: the file's)
    out: directory for the logs of all models (default: each model's output_file_path)
    duration: duration of the run, such as 5s (default: the file's exp_dur)
    seed: random seed, 0 or more (default: the file's)
    alone: run the models one after another instead, each alone on the device
    sync: run under each of these synchronization intervals, in launches, of the models below the highest priority
    slack: time of urgent jobs, relative to alone, that others' use of their gaps may cost (default 1.05)
    policy: policy for all models (default: the file's control): [none priority sync fair edf]
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
            "alone": alone,
            "sync": sync,
            "slack": slack,
            "policy": policy,
        },
    )
    return answer

