package job

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// ErrLauncher is returned if a launcher's variables contradict one another.
var ErrLauncher = errors.New("unusable variables of a launcher")

// Process is the place of a process in its job.
type Process struct {
	Launcher string // "Open MPI", "Hydra", "PMIx", "Slurm" or "none"
	Job      string // the same in all processes of one launch, and in no other launch
	Rank     int
	Ranks    int // 0 if the launcher does not say
}

// System gives access to what a process can read about itself.
type System struct {
	Lookup func(name string) (string, bool) // of the environment
	Proc   fs.FS                            // a /proc
	PID    int
	Name   string // names a process that no launcher started; no other process has this name
}

// Locate finds the launcher of a process, and the job and rank that it sets. Launchers start
// one another: mpiexec runs in a job of Slurm and starts its proxies with srun, whose variables
// the ranks inherit. So the variables of MPI count before those of Slurm, and those of Slurm only
// in a step of srun: in a batch script SLURM_PROCID is 0 for every program. With an error, the
// process is alone. Where a launcher names no job, each rank has the name of a process alone.
func Locate(s System) (Process, error) {
	for _, launcher := range []func(System) (Process, bool, error){openMPI, hydra, pmix, slurm} {
		p, found, err := launcher(s)
		if err == nil && found && p.Ranks > 0 && p.Rank >= p.Ranks {
			err = fmt.Errorf("%w: %s: rank %d of %d", ErrLauncher, p.Launcher, p.Rank, p.Ranks)
		}
		if err != nil {
			return s.single(), err
		}
		if found {
			p.Job = "job-" + clean(s.joinJob(cmp.Or(p.Job, s.Name)))
			return p, nil
		}
	}
	return s.single(), nil
}

func (s System) single() Process {
	return Process{Launcher: "none", Job: "job-" + clean(s.joinJob(s.Name)), Ranks: 1}
}

// joinJob returns a name with the number of the Slurm job before it.
func (s System) joinJob(name string) string {
	if id := s.value("SLURM_JOB_ID"); id != "" && !strings.HasPrefix(name, id+"-") {
		return id + "-" + name
	}
	return name
}

// value returns the first of the variables that is set and not empty.
func (s System) value(names ...string) string {
	for _, name := range names {
		if v, ok := s.Lookup(name); ok && v != "" {
			return v
		}
	}
	return ""
}

// readRank reads a rank and a number of ranks. It finds none if the rank is not set.
func (s System) readRank(launcher, rank string, ranks ...string) (Process, bool, error) {
	p := Process{Launcher: launcher}
	text := s.value(rank)
	if text == "" {
		return p, false, nil
	}
	var err error
	if p.Rank, err = strconv.Atoi(text); err != nil || p.Rank < 0 {
		return p, false, fmt.Errorf("%w: %s=%q", ErrLauncher, rank, text)
	}
	for _, name := range ranks {
		if text := s.value(name); text != "" {
			if p.Ranks, err = strconv.Atoi(text); err != nil || p.Ranks < 1 {
				return p, false, fmt.Errorf("%w: %s=%q", ErrLauncher, name, text)
			}
			return p, true, nil
		}
	}
	return p, true, nil
}

// openMPI finds ranks of mpirun and prterun.
func openMPI(s System) (Process, bool, error) {
	p, found, err := s.readRank("Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")
	p.Job = s.value("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid")
	return p, found, err
}

// hydra finds ranks of the mpiexec of MPICH and Intel MPI, and of srun --mpi=pmi2, which sets
// the same variables and the job's name.
func hydra(s System) (Process, bool, error) {
	p, found, err := s.readRank("Hydra", "PMI_RANK", "PMI_SIZE")
	if p.Job = s.controlPort(); p.Job == "" {
		p.Job = s.value("PMI_JOBID")
		if step, inStep := s.step(); inStep {
			p.Launcher, p.Job = "Slurm", step
		}
	}
	return p, found, err
}

// pmix finds ranks of other launchers that use PMIx, such as srun --mpi=pmix.
func pmix(s System) (Process, bool, error) {
	p, found, err := s.readRank("PMIx", "PMIX_RANK")
	p.Job = s.value("PMIX_NAMESPACE")
	if _, inStep := s.step(); inStep && found && err == nil {
		_, _, err = s.readRank("Slurm", "SLURM_PROCID")
		p.Ranks, _ = strconv.Atoi(s.value("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"))
	}
	return p, found, err
}

// slurm finds tasks of srun.
func slurm(s System) (Process, bool, error) {
	step, inStep := s.step()
	if !inStep {
		return Process{}, false, nil
	}
	p, found, err := s.readRank("Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS")
	p.Job = step
	return p, found, err
}

// firstSpecialStep is the first of Slurm's step numbers that are no steps of srun: the
// batch script, the interactive shell of salloc and others.
const firstSpecialStep = 0xfffffff0

// step returns the job and step that srun started a process in.
func (s System) step() (name string, ok bool) {
	job, step := s.value("SLURM_JOB_ID"), s.value("SLURM_STEP_ID", "SLURM_STEPID")
	n, err := strconv.ParseUint(step, 10, 32)
	return job + "-" + step, job != "" && err == nil && n < firstSpecialStep
}

// controlPort returns the host and port at which the mpiexec that started a process
// listens: Hydra passes them to its proxy on each node, an ancestor of the ranks there.
// It is "" for a process without such an ancestor.
func (s System) controlPort() string {
	pid := s.PID
	for range 32 { // a job script may start shells, debuggers and wrappers in between
		stat, err := fs.ReadFile(s.Proc, fmt.Sprintf("%d/stat", pid))
		if err != nil {
			return ""
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // state, parent, ...
		if len(fields) < 2 {
			return ""
		}
		if pid, err = strconv.Atoi(fields[1]); err != nil || pid <= 1 {
			return ""
		}
		cmdline, err := fs.ReadFile(s.Proc, fmt.Sprintf("%d/cmdline", pid))
		if err != nil {
			return ""
		}
		args := strings.Split(string(cmdline), "\x00")
		if port := following(args, "--control-port"); port != "" { // of MPICH
			return port
		}
		if port := following(args, "--upstream-port"); port != "" { // of Intel MPI
			return following(args, "--upstream-host") + ":" + port
		}
	}
	return ""
}

// following returns the argument after an option, or "".
func following(args []string, option string) string {
	if i := slices.Index(args, option); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return ""
}

// clean replaces what a file name may not hold.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, s)
}
