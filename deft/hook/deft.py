"""Marks the jobs of a Python program for deft.

A program under libdeft.so marks where a job begins and ends, for the policy:

    import deft

    for image in images:
        with deft.job(slo_ms=50):
            model(image)
            torch.cuda.synchronize()

Without libdeft.so, or outside of a session, it has no effect: the same program
runs anywhere. It needs only the standard library.

In the package foretime-deft each command of deft that answers in JSON is a function too.
"""

import contextlib
import ctypes
import typing


def _find() -> typing.Optional[typing.Tuple[typing.Any, typing.Any]]:
    """The two C functions, from the preloaded library or the shim."""
    for name in (None, "libdeft.so", "libcuda.so.1"):
        try:
            library = ctypes.CDLL(name)
            begin, end = library.deft_job_begin, library.deft_job_end
        except (OSError, AttributeError):
            continue
        begin.argtypes, begin.restype = [ctypes.c_uint64], ctypes.c_int
        end.argtypes, end.restype = [], ctypes.c_int
        return begin, end
    return None


_functions = _find()


def present() -> bool:
    """Whether libdeft.so is in this process."""
    return _functions is not None


def job_begin(slo_ms: float = 0) -> bool:
    """Begins a job, which ends one still open. slo_ms is the time that the job
    may take in milliseconds, 0 for the default of DEFT_SLO_MS. Returns whether
    the program is in a session."""
    if slo_ms < 0:
        raise ValueError("slo_ms is negative: %r" % (slo_ms,))
    return _functions is not None and _functions[0](int(slo_ms * 1000000)) == 0


def job_end() -> bool:
    """Ends the job. Returns whether the program is in a session."""
    return _functions is not None and _functions[1]() == 0


@contextlib.contextmanager
def job(slo_ms: float = 0) -> typing.Iterator[None]:
    """A job as a block, ended also where the block raises."""
    job_begin(slo_ms)
    try:
        yield
    finally:
        job_end()


try:  # a copy of this file alone has no commands
    from ._commands import *  # noqa: F403
    from ._commands import __all__ as _commands
    from ._program import Answer, Estimate, ProgramError, ProgramTimeout, Rows, UsageError, version

    __version__ = version()
    __all__ = ["Answer", "Estimate", "ProgramError", "ProgramTimeout", "Rows", "UsageError"]
    __all__ += ["job", "job_begin", "job_end", "present", *_commands]
except ImportError:
    pass
