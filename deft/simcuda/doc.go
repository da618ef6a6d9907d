// Package simcuda is a GPU that is not there: a libcuda.so.1 in C whose kernels
// take time and compute nothing, and programs that use it. A hook, a policy and
// a whole experiment run on it as they would on a real driver, in real time,
// between real processes.
//
// It decides how the simulated device behaves: one queue per process, run
// first come first served or in time slices, each kernel as long as its number
// of blocks says; a process that dies takes its queue with it. The sources are
// embedded and compiled into a cache on first use, so nothing has to be
// installed but a C compiler.
//
// It refuses to be a model of more than time: kernels of one device never
// overlap, memory bandwidth is not shared between kernels, and nothing is
// computed. DESIGN.md in the module's folder says what follows from that.
//
//	built, err := simcuda.Build(ctx, cc.Compiler{Cache: cache})
//	if err != nil {
//		return err
//	}
//	job := exec.Command(built.Workload, "--kernels", "400", "--kernel-ns", "100000", "--jobs", "10", "--csv", "a.csv")
//	job.Env = append(os.Environ(), simcuda.Device{File: "/dev/shm/gpu"}.Env(built)...)
//	err = job.Run()
package simcuda
