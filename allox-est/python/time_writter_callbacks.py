"""Callbacks that call time_writter from a framework's training loop.

Copy this file and time_writter.py beside the job and hand one over:

    Trainer(..., callbacks=[time_writter_callbacks.hugging_face()])
    lightning.Trainer(..., callbacks=[time_writter_callbacks.lightning()])
    model.fit(..., callbacks=[time_writter_callbacks.keras()])

The set-up begins where the callback is made and the teardown ends with the
program, which then prints the report: of several processes only the first one
does. Evaluation during the training, and with Hugging Face the checkpoints too,
are costs by name. unit="step" makes a lap of every step in place of every epoch.
Where a schedule changes the work, stage= names it: a function that is called at
the start of each, with the number of the epoch or step, and returns a name.
"""

import atexit
import os
import time

import time_writter


def hugging_face(unit="epoch", stage=None):
    """Returns a callback for transformers.Trainer."""
    from transformers import TrainerCallback

    class TimeWritter(TrainerCallback):
        since = None  # the end of the step or epoch before

        def on_epoch_begin(self, args, state, control, **kwargs):
            _lap(unit, "epoch")

        def on_step_begin(self, args, state, control, **kwargs):
            _lap(unit, "step")

        def on_step_end(self, args, state, control, **kwargs):
            self.since = time.perf_counter()

        def on_epoch_end(self, args, state, control, **kwargs):
            self.since = time.perf_counter()

        def on_evaluate(self, args, state, control, **kwargs):
            self._cost("evaluate")

        def on_save(self, args, state, control, **kwargs):
            self._cost("checkpoint")

        def on_train_end(self, args, state, control, **kwargs):
            self.since = None
            time_writter.LogUpdate()

        def _cost(self, name):
            if self.since is not None:
                now = time.perf_counter()
                time_writter.AddCost(name, now - self.since)
                self.since = now

    return _begin(TimeWritter(), stage)


def lightning(unit="epoch", stage=None):
    """Returns a callback for the Trainer of PyTorch Lightning."""
    try:
        from lightning.pytorch import Callback
    except ImportError:
        from pytorch_lightning import Callback

    class TimeWritter(Callback):
        def on_train_epoch_start(self, trainer, pl_module):
            _lap(unit, "epoch")

        def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
            _lap(unit, "step")

        def on_validation_start(self, trainer, pl_module):
            self.since = time.perf_counter()

        def on_validation_end(self, trainer, pl_module):
            time_writter.AddCost("evaluate", time.perf_counter() - self.since)

        def on_train_end(self, trainer, pl_module):
            time_writter.LogUpdate()

    return _begin(TimeWritter(), stage)


def keras(unit="epoch", stage=None):
    """Returns a callback for the fit of a Keras model."""
    try:
        from keras.callbacks import Callback
    except ImportError:
        from tensorflow.keras.callbacks import Callback

    class TimeWritter(Callback):
        def on_epoch_begin(self, epoch, logs=None):
            _lap(unit, "epoch")

        def on_train_batch_begin(self, batch, logs=None):
            _lap(unit, "step")

        def on_test_begin(self, logs=None):
            self.since = time.perf_counter()

        def on_test_end(self, logs=None):
            time_writter.AddCost("evaluate", time.perf_counter() - self.since)

        def on_train_end(self, logs=None):
            time_writter.LogUpdate()

    return _begin(TimeWritter(), stage)


_laps = 0
_stage = None


def _lap(unit, begins):
    global _laps
    if unit == begins:
        time_writter.LogUpdate()
        if _stage is not None and _first():
            time_writter.Stage(_stage(_laps))
        _laps += 1


def _begin(callback, stage):
    global _stage
    _stage = stage
    time_writter.Start()
    atexit.register(_end)
    return callback


def _first():
    return os.environ.get("RANK", os.environ.get("SLURM_PROCID", "0")) == "0"


def _end():
    if _first():
        time_writter.LogUpdate()
        time_writter.PrintResults()
