"""Runs the program that came with this package, and reads its JSON answer."""

import contextlib
import ctypes
import dataclasses
import datetime
import importlib
import importlib.metadata
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import typing

Text = typing.Union[str, "os.PathLike[str]"]
Duration = typing.Union[datetime.timedelta, str]
Date = typing.Union[datetime.datetime, str]
Texts = typing.Union[str, typing.Sequence[str]]
Settings = typing.Union[typing.Mapping[str, object], typing.Sequence[str]]


class ProgramError(RuntimeError):
    """The program failed.

    message is its line of error: what failed, where and why; code is its exit status;
    answer is what it printed all the same, as a doctor whose checks failed does, or None.
    """

    def __init__(self, message: str, code: int, answer: typing.Any = None):
        super().__init__(message)
        self.message, self.code, self.answer = message, code, answer

    def __reduce__(self) -> typing.Any:
        """Lets a pool of processes pass the error on."""
        return type(self), (self.message, self.code, self.answer)


class UsageError(ProgramError, ValueError):
    """An argument is wrong."""


class Answer(typing.Dict[str, typing.Any]):
    """A JSON answer: a dict whose entries are attributes too."""

    def __getattr__(self, name: str) -> typing.Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError("the answer has no %s; it has %s" % (name, ", ".join(self))) from None

    def __dir__(self) -> typing.Iterable[str]:
        return [*super().__dir__(), *self]

    def to_frame(self, rows: typing.Optional[str] = None) -> typing.Any:
        """Returns a pandas.DataFrame of the rows of an entry; without a name, of the only list."""
        lists = [k for k, v in self.items() if isinstance(v, list) and v and isinstance(v[0], dict)]
        if rows is None and len(lists) != 1:
            raise ValueError("name the entry that becomes a frame: one of %s" % (", ".join(lists) or "none"))
        return frame(self[lists[0] if rows is None else rows])


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A value and its interval, which contains the truth with probability level.

    high is infinite if nothing bounds the value from above.
    """

    value: float
    low: float
    high: float
    level: float

    @classmethod
    def read(cls, answer: typing.Mapping[str, typing.Any], value: str = "value") -> "Estimate":
        high = answer.get("high")
        return cls(answer[value], answer["low"], float("inf") if high is None else high, answer["level"])


class Table(typing.List[typing.Any]):
    """A list of rows."""

    def to_frame(self) -> typing.Any:
        """Returns a pandas.DataFrame with a column for each field."""
        return frame(self)


def frame(rows: typing.Iterable[typing.Any]) -> typing.Any:
    """Returns a pandas.DataFrame of dicts or dataclasses; a nested field a.b is the column a_b."""
    try:
        pandas = importlib.import_module("pandas")
    except ImportError as e:
        raise ImportError("to_frame needs pandas: pip install pandas") from e
    plain = [dataclasses.asdict(r) if dataclasses.is_dataclass(r) and not isinstance(r, type) else r for r in rows]
    return pandas.json_normalize(plain, sep="_")


def version() -> str:
    """Returns the version of the package, or an empty text in a checkout."""
    try:
        return importlib.metadata.version(_project())
    except importlib.metadata.PackageNotFoundError:
        return ""


def _project() -> str:
    return "foretime-" + str(__package__).replace("_", "-")


def path(name: str) -> str:
    """Returns the path of a file that was installed with the package.

    The record of installed files names it, except after pip install --target: then
    programs are in bin, and the other files in libexec, next to the packages.
    """
    try:
        own = importlib.metadata.files(_project()) or []
    except importlib.metadata.PackageNotFoundError:
        own = []
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    places = [str(f.locate()) for f in own if f.name == name]
    places += [os.path.join(here, *folder, name) for folder in (("bin",), ("libexec", "foretime"))]
    for place in places:
        if os.path.isfile(place):
            return os.path.realpath(place)
    raise FileNotFoundError("%s of %s is not installed: looked at %s" % (name, _project(), ", ".join(places)))


def program() -> str:
    """Returns the path of the package's program; without a package, of that in PATH."""
    name = str(__package__).replace("_", "-")
    try:
        return path(name)
    except FileNotFoundError:
        found = shutil.which(name)
        if found is None:
            raise
        return found


def ask(
    command: typing.Sequence[str],
    words: typing.Sequence[Text],
    flags: typing.Mapping[str, object],
    dashes: bool = False,
) -> typing.Any:
    """Runs a command of the program with --json and returns its answer.

    flags maps names of flags to values; None leaves one out. With dashes the words are a
    command line and follow "--", except a single job file. What the program says on stderr appears on
    sys.stderr as it comes. The program ends when this process ends, or is interrupted.
    """
    arguments = [program(), *command, "--json"]
    for name, value in flags.items():
        arguments += _options(name, value)
    if dashes and not (len(words) == 1 and os.fspath(words[0]).endswith((".yaml", ".yml", ".json"))):
        arguments.append("--")
    arguments += [os.fspath(w) for w in words]
    run = subprocess.Popen(
        arguments,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ, FORETIME_PROGRESS="1" if _interactive() else "0"),
        preexec_fn=_end_with(os.getpid()),
    )
    said: typing.List[str] = []
    reader = threading.Thread(target=_relay, args=(run.stderr, said, "%s: " % os.path.basename(arguments[0])), daemon=True)
    reader.start()
    try:
        assert run.stdout is not None
        answer = run.stdout.read()
        code = run.wait()
    except BaseException:
        run.send_signal(signal.SIGINT)  # the program ends what it has started
        run.wait()
        raise
    finally:
        reader.join(5)
    last = "".join(said)
    if code:
        message = last.strip() or "%s ended with %d" % (arguments[0], code)
        raise (UsageError if code == 2 else ProgramError)(message, code, _parse(answer) if answer else None)
    _tell(last)
    return _parse(answer)


def _parse(answer: bytes) -> typing.Any:
    value = json.loads(answer, object_pairs_hook=Answer)
    return Table(value) if isinstance(value, list) else value


def _options(name: str, value: object) -> typing.List[str]:
    """Returns the arguments that set a flag."""
    flag = "--" + name
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        value = value.item()  # a number, where numpy's are none of Python's
    if value is None:
        return []
    if isinstance(value, bool):
        return ["%s=%s" % (flag, str(value).lower())]
    if isinstance(value, datetime.timedelta):
        return ["%s=%ss" % (flag, "%f" % value.total_seconds())]
    if isinstance(value, datetime.datetime):
        return ["%s=%s" % (flag, value.isoformat(timespec="seconds"))]
    if isinstance(value, typing.Mapping):
        return ["%s=%s=%s" % (flag, k, str(v).lower() if isinstance(v, bool) else v) for k, v in value.items()]
    if isinstance(value, (list, tuple)):
        return ["%s=%s" % (flag, os.fspath(v) if isinstance(v, os.PathLike) else v) for v in value]
    if isinstance(value, (str, int, float, os.PathLike)):
        return ["%s=%s" % (flag, os.fspath(value) if isinstance(value, os.PathLike) else value)]
    raise TypeError("%s: a %s is no value of a flag" % (name.replace("-", "_"), type(value).__name__))


def as_duration(name: str, value: object) -> object:
    """Returns a value that is a timedelta or a text such as "4h"; a bare number has no unit."""
    if value is None or isinstance(value, (datetime.timedelta, str)):
        return value
    raise TypeError("%s: want a timedelta or a text such as '4h', got %r" % (name, value))


def _interactive() -> bool:
    """Says whether somebody sees progress: in a terminal or in a notebook."""
    return "ipykernel" in sys.modules or bool(getattr(sys.stderr, "isatty", bool)())


def _tell(text: str) -> None:
    """Writes to sys.stderr, which a daemon or pythonw may lack."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()


def _relay(source: typing.Any, last: typing.List[str], name: str) -> None:
    """Copies the program's stderr as it comes, except a last line that begins with its name.

    That line becomes the text of the exception.
    """
    text = ""
    with source:
        while True:
            chunk = os.read(source.fileno(), 4096)
            text += chunk.decode("utf-8", "replace")
            begin = text.rfind("\n", 0, -1) + 1
            if not text.startswith(name, begin) or (chunk and not text.endswith("\n")):
                begin = len(text)
            _tell(text[:begin])
            text = text[begin:]
            if not chunk:
                last.append(text)
                return


_libc = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


def _end_with(parent: int) -> typing.Callable[[], None]:
    """Returns what a child calls to get SIGTERM when its parent ends (prctl(2))."""

    def call() -> None:
        _libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM))
        if os.getppid() != parent:
            os._exit(1)  # it ended before

    return call
