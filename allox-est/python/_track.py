"""The progress bar of allox_est.track."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import weakref

from . import _program

# Seconds: between two drawings of a bar, between two lines where nothing can be drawn
# over, until the program is started, and that it has to end.
DRAW = 0.1
LINE = 60.0
START = 0.5
END = 2.0

BAR = 10  # the characters of a bar
PARTS = " ▏▎▍▌▋▊▉█"


def track(iterable=None, desc=None, total=None, **options):
    """Returns the items of an iterable and shows the remaining time of the loop.

    It is used like tqdm: for batch in track(loader), or with track(total=9) as bar and
    bar.update(). The remaining time has an interval, which allox-est predicts from the
    loop so far and from earlier runs of the same loop. Options are leave, file, disable,
    unit, initial, mininterval and postfix of tqdm, and journal, the file of the earlier
    runs; other options of tqdm, such as position, are accepted and have no effect. Without a total, or
    with one that the loop passes, there is only a rate. A failure of the bar or of
    allox-est does not stop the loop.
    """
    return Track(iterable, desc, total, **options)


class Track:
    """A progress bar: see track."""

    _newest = staticmethod(lambda: None)  # a weak reference to the open bar that began last

    def __init__(self, iterable=None, desc=None, total=None, leave=True, file=None, ncols=None,
                 mininterval=DRAW, maxinterval=10.0, miniters=None, ascii=None, disable=False, unit="it",
                 unit_scale=False, dynamic_ncols=False, smoothing=0.3, bar_format=None, initial=0,
                 position=None, postfix=None, journal=None, **_):
        if total is None:
            try:
                total = len(iterable)
            except (TypeError, AttributeError):
                pass  # its length is not known
        self.iterable, self.desc, self.total = iterable, desc or "", None if total == float("inf") else total
        self.n = self.initial = initial
        self.leave, self.unit, self.disable, self.journal = leave, unit, bool(disable), journal
        self.mininterval = max(DRAW, mininterval or 0)
        self.postfix = postfix if isinstance(postfix, str) else ""
        self._file = file
        self._process = os.getpid()
        self._begin = time.perf_counter()
        self._program = self._answer = None
        self._asked = False  # the program was started, once
        self._drawn = float("-inf")
        self._width = 0  # of what was drawn last
        self._tenth, self._line = -1, self._begin  # of the way, and the time, of the line printed last
        self._printed = None  # the items done in that line
        self._closed = self.disable
        self._outer = Track._newest  # of a loop around this one
        if not self.disable:
            Track._newest = weakref.ref(self)
        if isinstance(postfix, dict):
            self.set_postfix(postfix, refresh=False)
        self.refresh()

    def __len__(self):
        if hasattr(self.iterable, "__len__"):
            return len(self.iterable)
        if self._total() is None:
            raise TypeError("the length is not known")
        return int(self.total)

    def __bool__(self):
        if self.total is not None:
            return self.total > 0
        if self.iterable is None:
            raise TypeError("the length is not known")
        return bool(self.iterable)

    def __iter__(self):
        try:
            for item in self.iterable:
                yield item
                self.update()
        finally:
            self.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()

    def update(self, n=1):
        """Counts n more items as done."""
        self.n += n
        if self._closed:
            return
        now = time.perf_counter()
        if now - self._drawn >= self.mininterval:
            self._safely(self._step, now)

    def refresh(self, *_, **__):
        """Draws the bar."""
        if not self._closed:
            self._safely(self._draw, time.perf_counter())

    def set_description(self, desc=None, refresh=True):
        """Sets the words before the bar."""
        self.desc = desc or ""
        if refresh:
            self.refresh()

    set_description_str = set_description

    def set_postfix(self, ordered_dict=None, refresh=True, **values):
        """Sets the values after the bar."""
        values = dict(ordered_dict or {}, **values)
        self.set_postfix_str(", ".join("%s=%s" % (k, "%.3g" % v if isinstance(v, float) else v) for k, v in values.items()), refresh)

    def set_postfix_str(self, s="", refresh=True):
        """Sets the text after the bar."""
        self.postfix = str(s)
        if refresh:
            self.refresh()

    def reset(self, total=None):
        """Begins again."""
        self._safely(self._stop, False)
        self._answer, self._asked, self.n, self.total = None, False, self.initial, self.total if total is None else total
        self._begin, self._closed = time.perf_counter(), self.disable
        self._tenth, self._printed = -1, None
        self.refresh()

    def clear(self, *_, **__):
        """Removes the bar until it is drawn again."""
        self._safely(self._erase)

    def close(self):
        """Ends the bar; a loop that did all of its items is kept for later ones."""
        if getattr(self, "_closed", True):
            return
        self._closed = True
        self._safely(self._finish)

    @property
    def format_dict(self):
        """The state of the bar, by the names of tqdm."""
        elapsed = time.perf_counter() - self._begin
        return {"n": self.n, "total": self.total, "elapsed": elapsed, "rate": self._rate(elapsed), "unit": self.unit, "prefix": self.desc, "postfix": self.postfix}

    @property
    def interval(self):
        """The seconds left: what is expected, the least and the most; None if not known."""
        answer = self._answer
        if not answer or not answer.get("left_seconds") or answer.get("refused"):
            return None
        since = time.perf_counter() - self._begin - answer["elapsed_seconds"]
        left = answer["left_seconds"]
        return tuple(max(0.0, left[k] - since) for k in ("value", "low", "high"))

    @staticmethod
    def write(s, file=None, end="\n", nolock=False):
        """Prints a text above the bar that began last."""
        out, bar = file or sys.stdout, Track._newest()
        if bar is not None:
            bar.clear()
        out.write(str(s) + end)
        out.flush()
        if bar is not None and bar._drawable():
            bar.refresh()

    # Below, anything may fail: the callers go on.

    def _safely(self, do, *args):
        try:
            if os.getpid() == self._process:  # no worker that the loop has forked
                do(*args)
        except Exception:  # noqa: BLE001 - a bar never ends a loop
            program, self._program = self._program, None
            if program is not None:
                program.poll()

    def _step(self, now):
        self._tell(now)
        self._draw(now)

    def _tell(self, now):
        elapsed = now - self._begin
        if not self._total() or elapsed < START:
            return
        if not self._asked:
            self._asked = True
            self._start()
        if self._program is not None:
            try:
                os.write(self._program.stdin.fileno(), b"%d %.6f\n" % (self.n - self.initial, elapsed))
            except BlockingIOError:
                pass  # it has enough to do: a later number will do

    def _start(self):
        words = [find(), "track", "--total=%d" % (self.total - self.initial), "--name=" + self._name(), "--parent=%d" % os.getpid()]
        if self.journal is not None:
            words.append("--journal=%s" % self.journal)
        program = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
        os.set_blocking(program.stdin.fileno(), False)
        self._program = program
        threading.Thread(target=self._listen, args=(program,), daemon=True).start()

    def _listen(self, program):
        try:
            with program.stdout as answers:
                for line in answers:
                    self._answer = json.loads(line)
        except Exception:  # noqa: BLE001 - what it says cannot be read
            pass
        self._answer = None

    def _name(self):
        """The loop: its script and its description."""
        script = os.path.abspath(sys.argv[0]) if sys.argv and sys.argv[0] not in ("", "-c", "-m") else "python"
        return "%s:%s" % (os.path.basename(script), hashlib.sha256((script + "\0" + self.desc).encode()).hexdigest()[:12])

    def _stop(self, done):
        program, self._program = self._program, None
        if program is None:
            return
        now = time.perf_counter()
        until = now + END
        while done:
            try:
                os.write(program.stdin.fileno(), b"end %.6f\n" % (now - self._begin))
                break
            except BlockingIOError:  # it does not read
                if time.perf_counter() > until:
                    break
                time.sleep(0.02)
            except OSError:
                break  # it has ended
        try:
            program.stdin.close()
        except OSError:
            pass
        try:
            program.wait(max(0.0, until - time.perf_counter()))
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()

    def _finish(self):
        if Track._newest() is self:
            Track._newest = self._outer
        try:
            self._stop(self._total() is not None and self.n >= self.total)
        finally:
            if self.leave or not self._drawable():
                self._draw(time.perf_counter(), last=True)
            else:
                self._erase()

    def _total(self):
        """The total; None if it is not known, or proves wrong."""
        total = self.total
        try:
            return total if total >= 0 and self.n < total + 0.5 else None
        except TypeError:
            return None

    def _out(self):
        return self._file or sys.stderr

    def _drawable(self):
        out = self._out()
        return getattr(out, "isatty", lambda: False)() or "ipykernel" in sys.modules

    def _erase(self):
        if self._drawable() and self._width:
            self._out().write("\r" + " " * self._width + "\r")
            self._width = 0

    def _draw(self, now, last=False):
        self._drawn = now
        out, text = self._out(), self._text(now - self._begin, last)
        if self._drawable():
            out.write("\r" + text + " " * max(0, self._width - len(text)) + ("\n" if last else ""))
            self._width = len(text)
        else:
            tenth = 10 * self.n // self.total if self._total() else 0
            if not last and (self.n in (self.initial, self.total) or tenth == self._tenth and now - self._line < LINE):
                return
            self._around(now)
            self._print(now, tenth, text)
        out.flush()

    def _around(self, now):
        """Prints a loop around this one first, so a reader knows this one as a part."""
        outer = self._outer()
        if self._printed is None and outer is not None and not outer._closed and not outer._drawable() and outer._printed != outer.n:
            outer._around(now)
            outer._print(now, 10 * outer.n // outer.total if outer._total() else 0, outer._text(now - outer._begin, False))

    def _print(self, now, tenth, text):
        self._tenth, self._line, self._printed = tenth, now, self.n
        self._out().write(text + "\n")

    def _rate(self, elapsed):
        return (self.n - self.initial) / elapsed if elapsed > 0 and self.n > self.initial else None

    def _text(self, elapsed, last):
        rate = self._rate(elapsed)
        speed = "?%s/s" % self.unit if not rate else "%.2f%s/s" % (rate, self.unit) if rate >= 1 else "%.2fs/%s" % (1 / rate, self.unit)
        prefix = self.desc + ": " if self.desc and not self.desc.endswith(": ") else self.desc
        postfix = ", " + self.postfix if self.postfix else ""
        if not self._total():
            return "%s%d%s [%s, %s%s]" % (prefix, self.n, self.unit, clock(elapsed), speed, postfix)
        share = min(1.0, self.n / self.total)
        left = clock((self.total - self.n) / rate) if rate else "?"
        known = self.interval
        if last or self.n >= self.total:
            left = clock(0)
        elif known:
            left = "%s (%s-%s)" % tuple(clock(s) for s in known)
        full, part = divmod(int(share * BAR * 8), 8)
        bar = ("█" * full + (PARTS[part] if full < BAR else "")).ljust(BAR)
        return "%s%3d%%|%s| %d/%d [%s<%s, %s%s]" % (prefix, int(100 * share), bar, self.n, self.total, clock(elapsed), left, speed, postfix)


def clock(seconds):
    """Formats seconds as tqdm does: 01:02, 1:02:03."""
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return "%d:%02d:%02d" % (hours, minutes, seconds) if hours else "%02d:%02d" % (minutes, seconds)


def find():
    """Returns the program: of this package, else on the path."""
    try:
        return _program.path("allox-est")
    except Exception:  # noqa: BLE001 - no package is installed
        found = shutil.which("allox-est")
        if found is None:
            raise FileNotFoundError("allox-est is not on the path")
        return found


track.write = Track.write


def trange(*args, **options):
    """Returns track(range(...))."""
    return Track(range(*args), **options)
