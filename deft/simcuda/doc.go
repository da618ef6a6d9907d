// Package simcuda simulates a GPU: a libcuda.so.1 in C whose kernels take time and compute
// nothing, and programs that use it. A hook, a policy and a whole experiment run on it as on
// a real driver, in real time, between real processes.
//
// There is one queue per process. Queues are served first come first served, in time
// slices, or together as under MPS, and the time of a kernel follows from its number of blocks. A process that dies
// takes its queue with it. The sources are embedded and compiled into a cache on first use,
// so only a C compiler must be installed.
//
// It models time only: kernels overlap only as under MPS, they do not share memory
// bandwidth, and nothing is computed. DESIGN.md of the module lists the consequences.
//
//	built, err := simcuda.Build(ctx, cache)
//	if err != nil {
//		return err
//	}
//	job := exec.Command(built.Workload, "--kernels", "400", "--kernel-ns", "100000", "--jobs", "10", "--csv", "a.csv")
//	job.Env = append(os.Environ(), simcuda.Device{File: "/dev/shm/gpu"}.Env(built)...)
//	err = job.Run()
package simcuda
