"""Times the segments of a training job and prints them for allox-est.

Copy this file beside the job and mark four places:

    import time_writter

    def train():
        time_writter.Start()                # first line
        model = build()
        for epoch in range(epochs):
            time_writter.LogUpdate()        # at the start of each epoch
            model.run_epoch()
        time_writter.LogUpdate()            # after the last epoch
        model.save()
        time_writter.LogUpdate()            # at the very end
        time_writter.PrintResults()

A job of k epochs then prints k+2 times in seconds: set-up, epochs, teardown.
It needs Python 3.6 and nothing else.
"""

import math
import re
import time

OPEN = "<TIME_WRITTER_OUTPUT>"
CLOSE = "</TIME_WRITTER_OUTPUT>"

_NUMBER = re.compile(r"(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


class NotStarted(RuntimeError):
    """LogUpdate was called before Start."""


class BadOutput(ValueError):
    """An output holds no report that can be used."""


class TimeWritter:
    """Measures laps by a clock that returns seconds."""

    def __init__(self, clock=time.perf_counter):
        self._clock = clock
        self.reset()

    def reset(self):
        """Forgets the laps and the start."""
        self._laps = []
        self._last = None

    def start(self):
        """Begins the first lap."""
        self._last = self._clock()

    def log_update(self):
        """Ends a lap and begins the next."""
        if self._last is None:
            raise NotStarted("LogUpdate before Start")
        now = self._clock()
        self._laps.append(max(0.0, float(now - self._last)))
        self._last = now

    def get_results(self):
        """Returns the laps so far as one line of text."""
        return OPEN + repr(self._laps) + CLOSE

    def print_results(self):
        """Prints the laps so far at once, so that a kill cannot lose them."""
        print(self.get_results(), flush=True)


_writter = TimeWritter()


def Start():
    """Begins the set-up."""
    _writter.start()


def LogUpdate():
    """Ends the set-up, an epoch or the teardown."""
    _writter.log_update()


def PrintResults():
    """Prints the report."""
    _writter.print_results()


def GetResults():
    """Returns the report as text."""
    return _writter.get_results()


def Reset():
    """Forgets everything."""
    _writter.reset()


def parse_output(output):
    """Returns the laps, in seconds, of the last complete report in an output.

    The output is text or bytes. Every complete report must begin with the laps
    of the one before it. Raises BadOutput if there is no complete report, if
    one holds anything but finite times of zero or more, or if one contradicts
    an earlier one. A torn report is left out.
    """
    if isinstance(output, (bytes, bytearray)):
        output = output.decode("utf-8", "replace")
    laps = None
    for piece in output.split(OPEN)[1:]:
        text, closed, _ = piece.partition(CLOSE)
        if not closed:
            continue
        later = _parse_list(text)
        if laps is not None and later[: len(laps)] != laps:
            raise BadOutput("a later report does not extend the earlier one")
        laps = later
    if laps is None:
        raise BadOutput("no complete report in %d characters" % len(output))
    return laps


def _parse_list(text):
    text = text.strip(" \t\r\n")
    if not (text.startswith("[") and text.endswith("]")):
        raise BadOutput("not a list: %.40r" % text)
    inside = text[1:-1].strip(" \t\r\n")
    if not inside:
        return []
    laps = []
    for word in inside.split(","):
        word = word.strip(" \t\r\n")
        if not _NUMBER.fullmatch(word) or math.isinf(float(word)):
            raise BadOutput("not a time: %.40r" % word)
        laps.append(float(word))
    return laps
