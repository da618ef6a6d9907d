"""Callbacks that call time_writter from a framework's training loop.

Copy this file and time_writter.py next to the job and pass one callback:

    Trainer(..., callbacks=[time_writter_callbacks.hugging_face()])
    lightning.Trainer(..., callbacks=[time_writter_callbacks.lightning()])
    model.fit(..., callbacks=[time_writter_callbacks.keras()])

The set-up begins when the callback is created and the teardown ends with the
program, which then prints the report; of several processes only the first one
prints it. unit="step" makes a lap of every step instead of every epoch.
bar=True shows the progress with the remaining time, as allox_est.track does; it needs
the package, not only these files.
"""

import atexit
import math
import os

import time_writter


def hugging_face(unit="epoch", bar=False):
    """Returns a callback for transformers.Trainer."""
    from transformers import TrainerCallback

    class TimeWritter(TrainerCallback):
        def on_epoch_begin(self, args, state, control, **kwargs):
            _lap(unit, "epoch", math.ceil(getattr(args, "num_train_epochs", 0)))

        def on_step_begin(self, args, state, control, **kwargs):
            _lap(unit, "step", getattr(state, "max_steps", 0))

        def on_train_end(self, args, state, control, **kwargs):
            _done()

    return _begin(TimeWritter(), bar)


def lightning(unit="epoch", bar=False):
    """Returns a callback for the Trainer of PyTorch Lightning."""
    try:
        from lightning.pytorch import Callback
    except ImportError:
        from pytorch_lightning import Callback

    class TimeWritter(Callback):
        def on_train_epoch_start(self, trainer, pl_module):
            _lap(unit, "epoch", getattr(trainer, "max_epochs", 0))

        def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
            _lap(unit, "step", getattr(trainer, "estimated_stepping_batches", 0))

        def on_train_end(self, trainer, pl_module):
            _done()

    return _begin(TimeWritter(), bar)


def keras(unit="epoch", bar=False):
    """Returns a callback for the fit of a Keras model."""
    try:
        from keras.callbacks import Callback
    except ImportError:
        from tensorflow.keras.callbacks import Callback

    class TimeWritter(Callback):
        def on_epoch_begin(self, epoch, logs=None):
            _lap(unit, "epoch", self._epochs())

        def on_train_batch_begin(self, batch, logs=None):
            _lap(unit, "step", self._epochs() * (self._param("steps") or 0))

        def _epochs(self):
            return self._param("epochs") or 0

        def _param(self, name):
            return (getattr(self, "params", None) or {}).get(name)

        def on_train_end(self, logs=None):
            _done()

    return _begin(TimeWritter(), bar)


_track = None  # makes the bar, if one is wanted
_bar = None


def _lap(unit, begins, total):
    global _bar
    if unit == begins:
        time_writter.LogUpdate()
        if _bar is not None:
            _bar.update()
        elif _track is not None and _first():
            _bar = _track(total=int(total) if 0 < total < math.inf else None, desc="training", unit=unit)


def _done():
    global _bar
    time_writter.LogUpdate()
    if _bar is not None:
        _bar.update()
        _bar.close()
        _bar = None


def _begin(callback, bar):
    global _track
    if bar:
        from allox_est import track as _track
    time_writter.Start()
    atexit.register(_end)
    return callback


def _first():
    return os.environ.get("RANK", os.environ.get("SLURM_PROCID", "0")) == "0"


def _end():
    if _first():
        time_writter.LogUpdate()
        time_writter.PrintResults()
