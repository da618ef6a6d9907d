"""Predict the time of one inference of an ONNX model, here and on other devices.

    import edgeprof

    devices = edgeprof.rank("model.onnx").candidates
    print(devices[0].node, devices[0].seconds.value, devices[0].seconds.high)
    print(devices.to_frame())  # with pandas
    print(edgeprof.time("model.onnx").p50_seconds)

Each command that answers in JSON is a function; its named arguments are the flags of the
command, and its answer is a dataclass. Where a command reads a file, bytes, open files and
data frames are input too. Warnings go to logging.getLogger("edgeprof").
"""

from ._commands import *  # noqa: F403
from ._commands import __all__ as _commands
from ._program import Answer, Estimate, ProgramError, ProgramTimeout, Rows, UsageError, version

__version__ = version()
__all__ = ["Answer", "Estimate", "ProgramError", "ProgramTimeout", "Rows", "UsageError", *_commands]
