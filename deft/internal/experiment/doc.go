// Package experiment reads the configuration of a GPU sharing experiment: which
// models run side by side, for how long, and how they are controlled.
//
// The format is that of Deft's experiments (a JSON object with "models",
// "exp_dur" and "device_id"), with fields of our own beside; YAML's parser reads
// it, for which a trailing comma is none. The package decides for its caller what
// the quirks of existing files mean and says so as a [Warning]: an absent
// batch_size is 1, an absent device_id is 0, an unknown field is ignored,
// controlEvent wins over controlsync, a sync of 0 sets no synchronization point.
// It refuses, with the line and the field, what would run something else than
// the author meant: a value of the wrong type, a size that is not two positive
// numbers, two models that write the same log, an experiment of no duration.
//
// What one job of a model asks of a GPU, its kernels in launch order, is its
// [Profile]: its own kernels where the file states them, else those of an embedded
// table, for a model and an input size. What a row of the table rests on is its
// [Source]. A model that the table does not hold is an [*UnknownModelError], never a
// default.
//
// Fields of Deft: models[].model_name, model_weight, sleep_time (s between two
// jobs), input_file_path, output_file_path (folder), output_file_name (stem),
// priority (0 low, above 0 high), resize, resize_size ([height, width], px),
// batch_size, control.control, control.controlsync, control.controlEvent,
// control.queue_limit.sync and .event_group (kernels), sync_level, python_path,
// repo_path; exp_dur (s), device_id.
//
// Fields of our own, of the experiment: policy (name), quantum_ms (of rr),
// min_jobs (of each model, default 10), seed, jitter (share of a kernel's time,
// simulated devices), discipline ("fifo" or "timeslice", simulated devices),
// slice_ms, sync_ns (host time lost at a synchronization point, virtual clock),
// reaction_ns (time from a change to the policy's answer, virtual clock). Of a
// model: weight (default 1), deadline_ms (from the begin of a job), share (0 to
// 1 of the device, quota), kernels (launches of a job), kernel_ns (a number, or
// one for each kernel), graph (so many kernels are launched as one CUDA graph,
// simulated devices and virtual clock), launch_ns (host time of a launch, virtual clock),
// period_ms (jobs begin this far apart where the one before is done; 0: only
// sleep_time counts), compile (through torch.compile, on a GPU), start_ms (wait
// before the first job). python_path and repo_path are those of codegen and bloom.
package experiment
