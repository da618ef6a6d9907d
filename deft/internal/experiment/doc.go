// Package experiment reads the configuration of a GPU sharing experiment: which models run
// concurrently, for how long, and how they are controlled.
//
// The format is that of Deft's experiments (a JSON object with "models", "exp_dur" and
// "device_id") with additional fields. It is read by a YAML parser, which accepts trailing
// commas. The quirks of existing files are interpreted and reported as a [Warning]: an absent
// batch_size is 1, an absent device_id is 0, an unknown field and controlEvent
// are ignored, a sync of 0 leaves the bound to the policy. If the
// file names no policy, the models with control.control are under priority, and the others are
// exempt from it ([Experiment.Terms]). A value that would
// run something else than the author meant is an error with line and field: a value of the
// wrong type, a size that is not two positive numbers, two models that write the same log, an
// experiment without a duration.
//
// The [Profile] of a model contains the kernels of one job in launch order: those in the
// file or in the recording that it names, or else those of an embedded table of models with
// published kernels, for an input size. Another
// model without kernels of its own is an error, [ErrUnknownModel], never a default.
//
// docs/reference.md lists the fields.
package experiment
