"""Runs the program that came with this package, and reads its JSON answer."""

import ast
import contextlib
import dataclasses
import datetime
import functools
import html
import importlib
import importlib.metadata
import json
import logging
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import typing

if typing.TYPE_CHECKING:
    import pandas  # type: ignore
    import polars  # type: ignore

T = typing.TypeVar("T")


class Readable(typing.Protocol):
    """An open file."""

    def read(self) -> typing.Union[str, bytes]: ...


class Frame(typing.Protocol):
    """A pandas or polars DataFrame."""

    def __dataframe__(self, nan_as_null: bool = ..., allow_copy: bool = ...) -> object: ...


Text = typing.Union[str, "os.PathLike[str]"]
Source = typing.Union[str, "os.PathLike[str]", bytes, Readable, Frame]
Integer = typing.SupportsIndex  # numpy's too
Number = typing.SupportsFloat
Duration = typing.Union[datetime.timedelta, str]
Date = typing.Union[datetime.date, str]
Timeout = typing.Union[typing.SupportsFloat, datetime.timedelta, None]
Settings = typing.Union[typing.Mapping[str, object], typing.Sequence[str]]
_bare = object()  # stands for a flag without a value


class ProgramError(RuntimeError):
    """The program failed.

    message is its line of error: what failed, where and why; code is its exit status;
    answer is what it printed all the same, as a doctor whose checks failed does, or None.
    """

    def __init__(self, message: str, code: int, answer: object = None):
        super().__init__(message)
        self.message, self.code, self.answer = message, code, answer

    def __reduce__(self) -> typing.Tuple[object, ...]:
        """Lets a pool of processes pass the error on."""
        return type(self), (self.message, self.code, self.answer)


class UsageError(ProgramError, ValueError):
    """An argument is wrong."""


class ProgramTimeout(ProgramError, TimeoutError):
    """The program took longer than the timeout of the call, and was ended."""


class Answer:
    """A JSON answer, or a part of one: a dataclass."""

    def to_dict(self) -> typing.Dict[str, object]:
        """Returns the fields, those of the parts as dicts too."""
        return dict(dataclasses.asdict(typing.cast(typing.Any, self)))

    def to_json(self) -> str:
        """Returns the fields as JSON: times in ISO 8601, null for what is infinite."""
        none = (math.inf, -math.inf)
        fields = dataclasses.asdict(typing.cast(typing.Any, self), dict_factory=lambda pairs: {k: None if v in none else v for k, v in pairs})
        return json.dumps(fields, default=datetime.datetime.isoformat)

    def __repr__(self) -> str:
        fields = ("%s=%s" % (k, _short(v)) for k, v in vars(self).items() if v is not None)
        return "%s(%s)" % (type(self).__name__, ", ".join(fields))

    def _repr_html_(self) -> str:
        return _table((), [(k, v) for k, v in vars(self).items() if v is not None])


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A value and its interval, which contains the truth with probability level.

    An end is infinite if nothing bounds the value there; level is None if it is unknown.
    """

    value: float
    low: float
    high: float
    level: typing.Optional[float]

    def __float__(self) -> float:
        return float(self.value)

    def __format__(self, spec: str) -> str:
        return "%s [%s, %s]" % tuple(format(x, spec or ".4g") for x in (self.value, self.low, self.high))

    def __str__(self) -> str:
        return format(self)


class Rows(typing.List[T]):
    """A list of answers that are the rows of a table; so is a slice of it."""

    @typing.overload
    def __getitem__(self, at: typing.SupportsIndex) -> T: ...

    @typing.overload
    def __getitem__(self, at: slice) -> "Rows[T]": ...

    def __getitem__(self, at: typing.Any) -> typing.Any:
        picked = super().__getitem__(at)
        return Rows(picked) if isinstance(at, slice) else picked

    def to_json(self) -> str:
        """Returns a list in JSON, as Answer.to_json does."""
        return "[%s]" % ", ".join(typing.cast(Answer, row).to_json() for row in self)

    def to_dicts(self) -> typing.List[typing.Dict[str, object]]:
        """Returns a dict for each row; a nested field a.b has the key a_b."""
        return [_flat(row) for row in self]

    def to_frame(self) -> "pandas.DataFrame":
        """Returns a pandas.DataFrame with a row for each answer and the columns of to_dicts."""
        return importlib.import_module("pandas").DataFrame(self.to_dicts())

    def to_polars(self) -> "polars.DataFrame":
        """Returns a polars.DataFrame with a row for each answer and the columns of to_dicts."""
        return importlib.import_module("polars").DataFrame(self.to_dicts(), infer_schema_length=None)

    def __repr__(self) -> str:
        more = ", ... %d in all" % len(self) if len(self) > 3 else ""
        return "[%s%s]" % (", ".join(repr(row) for row in self[:3]), more)

    def _repr_html_(self) -> str:
        rows = [_flat(row) for row in self[:20]]
        names = list(dict.fromkeys(name for row in rows for name in row))
        more = "" if len(self) <= 20 else "<p>%d rows</p>" % len(self)
        return _table(names, [[row.get(name) for name in names] for row in rows]) + more


def _flat(row: object) -> typing.Dict[str, object]:
    """Returns the fields of an answer, with those of its parts."""
    flat: typing.Dict[str, object] = {}
    for name, value in vars(row).items():
        if isinstance(value, (Answer, Estimate)):
            flat.update((name + "_" + k, v) for k, v in _flat(value).items())
        else:
            flat[name] = value
    return flat


def _short(value: object) -> str:
    """Returns a value in a few words."""
    if isinstance(value, float):
        return "%.4g" % value
    if isinstance(value, (Estimate, datetime.datetime)):
        return str(value)
    if isinstance(value, (list, dict)) and len(value) > 3:
        return "[%d items]" % len(value)
    if isinstance(value, dict):
        return "{%s}" % ", ".join("%r: %s" % (k, _short(v)) for k, v in value.items())
    text = repr(value)
    return text if len(text) <= 200 else text[:200] + "..."


def _table(names: typing.Sequence[str], rows: typing.Iterable[typing.Iterable[object]]) -> str:
    """Returns a table in HTML."""
    lines = ["<tr>" + "".join("<th>%s</th>" % html.escape(name) for name in names) + "</tr>"] if names else []
    for row in rows:
        cells = (v if isinstance(v, str) else "" if v is None else _short(v) for v in row)
        lines.append("<tr>" + "".join("<td>%s</td>" % html.escape(cell) for cell in cells) + "</tr>")
    return "<table>" + "".join(lines) + "</table>"


def version() -> str:
    """Returns the version of the package, or an empty text in a checkout."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(_project())
    return ""


def _project() -> str:
    return "foretime-" + str(__package__).replace("_", "-")


def path(name: str) -> str:
    """Returns the path of a file that was installed with the package.

    The record of installed files names it. Without a record, or after pip install
    --target, it is where programs and data of this Python, or next to the packages, are.
    """
    own: typing.Sequence[importlib.metadata.PackagePath] = ()
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        own = importlib.metadata.files(_project()) or ()
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    prefixes = [here, os.path.abspath(os.path.join(here, "..", "..", "..")), sysconfig.get_path("data")]
    places = [str(f.locate()) for f in own if f.name == name]
    places += [os.path.join(p, *folder, name) for p in prefixes for folder in (("bin",), ("libexec", "foretime"))]
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
    kind: typing.Type[T],
    command: typing.Sequence[str],
    words: typing.Sequence[object],
    flags: typing.Mapping[str, object],
    timeout: Timeout = None,
    dashes: bool = False,
) -> T:
    """Runs a command of the program with --json and returns its answer.

    flags maps names of flags to values; None leaves one out. With dashes the words are a
    command line and follow "--", except files of jobs or traces. The program's log goes to the logger
    of the package, and the rest of stderr to sys.stderr. The program ends when this process
    ends, when the call is interrupted, or after the timeout.
    """
    if isinstance(timeout, datetime.timedelta):
        timeout = timeout.total_seconds()
    seconds = math.inf if timeout is None else float(timeout)
    if not seconds >= 0:
        raise ValueError("timeout: want seconds or a timedelta, got %r" % (timeout,))
    with tempfile.TemporaryDirectory() as scratch:
        arguments = [program(), *command, "--json"]
        for name, value in flags.items():
            arguments += _options(name, value, scratch)
        texts = [_word(w, scratch) for w in words if w is not None]
        if dashes and not all(t.endswith((".yaml", ".yml", ".json")) for t in texts) or not dashes and any(t.startswith("-") for t in texts):
            arguments.append("--")
        answer, last, code = _run(arguments + texts, seconds if seconds <= 2e6 else None)  # the system waits no longer
    if not code and answer.strip():
        _tell(last)
        try:
            return typing.cast(T, _read(kind, json.loads(answer)))
        except json.JSONDecodeError as e:
            raise UsageError("%s printed more than its answer, as for a file called -: %s" % (arguments[0], e), code) from None
    printed = None
    with contextlib.suppress(ValueError, TypeError, LookupError):
        printed = _read(kind, json.loads(answer))
    message = last.strip() or "%s ended with %d" % (arguments[0], code)
    raise (UsageError if code == 2 else ProgramError)(message, code, printed)


def _run(arguments: typing.List[str], seconds: typing.Optional[float]) -> typing.Tuple[bytes, str, int]:
    """Runs the program, and returns its answer, its last line of stderr, and its exit status."""
    run = subprocess.Popen(
        arguments,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ, FORETIME_PROGRESS="1" if _interactive() else "0", FORETIME_PARENT=str(os.getpid())),
    )
    said: typing.List[str] = []
    source, run.stderr = run.stderr, None  # communicate reads the other one
    reader = threading.Thread(target=_relay, args=(source, said, "%s: " % os.path.basename(arguments[0])), daemon=True)
    reader.start()
    try:
        answer, _ = run.communicate(timeout=seconds)
    except BaseException as e:
        run.send_signal(signal.SIGINT)  # the program ends what it has started
        try:
            run.wait(None if seconds is None else 10)
        except subprocess.TimeoutExpired:
            run.kill()
            run.wait()
        if isinstance(e, subprocess.TimeoutExpired):
            raise ProgramTimeout("%s took longer than %g s" % (os.path.basename(arguments[0]), seconds or 0), 124) from None
        raise
    finally:
        reader.join(5)
    return answer, "".join(said), run.returncode


_hints = functools.lru_cache(maxsize=None)(typing.get_type_hints)


def _read(kind: typing.Any, value: typing.Any) -> object:
    """Returns a JSON value as a value of a type."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Union:  # with None
        return None if value is None else _read(parts[0], value)
    if origin in (Rows, list):
        rows = [value] if isinstance(value, dict) else value or []
        return origin(_read(parts[0], row) for row in rows)
    if origin is dict:
        return {k: _read(parts[1], v) for k, v in (value or {}).items()}
    if kind is Estimate:
        low, high = (float(sign + "inf") if value[end] is None else value[end] for sign, end in (("-", "low"), ("", "high")))
        return Estimate(value["value"], low, high, value.get("level"))
    if dataclasses.is_dataclass(kind):
        names = {f.name: f.metadata.get("json", f.name) for f in dataclasses.fields(kind)}
        return kind(**{k: _read(hint, value.get(names[k])) for k, hint in _hints(kind).items()})
    if kind is datetime.datetime:
        return datetime.datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", value).replace("Z", "+00:00"))
    if kind is float and isinstance(value, int):
        return float(value)
    if kind in (float, int, str) and not isinstance(value, kind):
        raise TypeError("the answer of the program has %r, not a value of type %s" % (value, kind.__name__))
    return bool(value) if kind is bool else value


def _word(value: object, scratch: str) -> str:
    """Returns the text of a value; the content of bytes, a file or a frame is written to a file below scratch."""
    if type(value).__module__ == "numpy" and hasattr(value, "item") and not getattr(value, "shape", ()):
        value = value.item()
    if isinstance(value, (str, os.PathLike)):
        return str(os.fspath(value))
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.timedelta):
        return "%fs" % value.total_seconds()
    if isinstance(value, datetime.date):
        return value.isoformat(timespec="seconds") if isinstance(value, datetime.datetime) else value.isoformat()
    if isinstance(value, typing.SupportsIndex):
        return str(value.__index__())
    frame = typing.cast(typing.Any, value)
    at = os.path.join(tempfile.mkdtemp(dir=scratch), "frame.csv" if hasattr(value, "__dataframe__") else "content")
    if hasattr(value, "write_csv"):
        frame.write_csv(at)
    elif hasattr(value, "to_csv"):
        frame.to_csv(at, index=False)
    elif isinstance(value, bytes) or hasattr(value, "read"):
        content = value if isinstance(value, bytes) else frame.read()
        with open(at, "wb") as to:
            to.write(content.encode() if isinstance(content, str) else content)
    elif isinstance(value, typing.SupportsFloat):
        return "%r" % float(value)
    else:
        raise TypeError("want a text, a number, or a file by its path, its bytes or a frame; got a %s" % type(value).__name__)
    return at


def _options(name: str, value: object, scratch: str) -> typing.List[str]:
    """Returns the arguments that set a flag."""
    flag = "--" + name
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        value = value.tolist()  # a number or a list, where numpy's are none of Python's
    if value is None:
        return []
    if value is _bare:
        return [flag]
    if isinstance(value, typing.Mapping):
        missing = [key for key, of in value.items() if of is None]
        if missing:
            raise TypeError("%s: %s is None" % (name, missing[0]))
        return ["%s=%s=%s" % (flag, key, of if isinstance(of, (list, dict)) else _word(of, scratch)) for key, of in value.items()]
    try:
        return ["%s=%s" % (flag, _word(v, scratch)) for v in (value if isinstance(value, (list, tuple)) else [value])]
    except TypeError as e:
        raise TypeError("%s: %s" % (name.replace("-", "_"), e)) from None


def as_bare(value: object) -> object:
    """Returns a value that may be True for the flag alone, or False for none."""
    if isinstance(value, bool):
        return _bare if value else None
    return value


def as_duration(name: str, value: object) -> object:
    """Returns a value that is a timedelta or a text such as "4h"; a bare number has no unit."""
    if type(value).__name__ == "timedelta64":
        return getattr(value, "astype")("timedelta64[us]").item()
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


_log_line = re.compile(r'\blevel=(\w+) msg=("(?:[^"\\]|\\.)*"|\S*)(.*)\n')
_logger = logging.getLogger(__package__)


def _log(line: "re.Match[str]") -> str:
    """Passes a line of the program's log on to the logger of the package."""
    level, message, fields = line.groups()
    with contextlib.suppress(SyntaxError, ValueError):
        message = ast.literal_eval(message)
    _logger.log(getattr(logging, level.upper(), logging.INFO), "%s%s", message, fields)
    return ""


def _relay(source: typing.Any, last: typing.List[str], name: str) -> None:
    """Passes the program's stderr on as it comes, except a last line that begins with its name.

    That line becomes the text of the exception.
    """
    text = ""
    with source:
        while True:
            chunk = os.read(source.fileno(), 4096)
            text += chunk.decode("utf-8", "replace")
            begin = text.rfind("\n", 0, -1) + 1
            if not text.startswith(name, begin) and ("level=" not in text[begin:] or text.endswith("\n")):
                begin = len(text)
            _tell(_log_line.sub(_log, text[:begin]))
            text = text[begin:]
            if not chunk:
                last.append(text)
                return
