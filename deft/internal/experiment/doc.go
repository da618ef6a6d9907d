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
// model without kernels of its own is an [*UnknownModelError], never a default.
//
// Fields of Deft: models[].model_name, model_weight, sleep_time (s between two jobs),
// input_file_path, output_file_path (directory), output_file_name (stem), priority (0 low,
// above 0 high), resize, resize_size ([height, width], px), batch_size, control.control,
// control.controlsync, control.controlEvent, control.queue_limit.sync and .event_group
// (kernels), sync_level, python_path, repo_path; exp_dur (s), device_id.
//
// Additional fields of the experiment: policy (name), min_jobs (per
// model, default 10), seed, jitter (fraction of a kernel's time, simulated devices),
// discipline ("fifo", "turns" or "mps", simulated devices), slice_ms, switch_ns, ahead and overlap
// (of a simulated device), slack (of policy priority), sync_ns (host time lost at
// a synchronization point, virtual clock), reaction_ns (time from a change to the policy's
// answer, virtual clock).
//
// Additional fields of a model: weight (default 1), deadline_ms (from the start of a job),
// kernels (launches per job), kernel_ns (a
// number, or one per kernel), graph (number of kernels per CUDA graph, simulated devices and
// virtual clock), launch_ns (host time of a launch, virtual clock), period_ms (time between
// the starts of two jobs, or more if the first is not done; 0: only sleep_time counts),
// compile (use torch.compile, on a GPU), start_ms (wait before the first job), trace (a
// recording of deft pair --save, relative to the file: the launches between two waits of the
// program, of the median device time, are a job). python_path
// and repo_path are fields of codegen and bloom.
package experiment
