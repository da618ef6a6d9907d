package job

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ErrName is returned for a job without a usable name.
var ErrName = errors.New("invalid job name")

// mark is the file that says whose a folder is.
const mark = ".chamtool_job"

// earlier owns a folder that has logs and no mark.
const earlier = "earlier runs"

// TakeFolder returns the folder for a job's logs: root, made where it is missing, or
// a folder below it where root holds another job's.
func TakeFolder(root, job string) (string, error) {
	if job == "" || job != filepath.Base(job) || strings.HasPrefix(job, ".") {
		return "", fmt.Errorf("%w: %q", ErrName, job)
	}
	owner, err := own(root, job)
	if err != nil || owner == job {
		return root, err
	}
	dir := filepath.Join(root, job)
	return dir, os.MkdirAll(dir, 0o755)
}

// own is who owns the folder: the job, if nobody did. The mark is linked whole
// or not at all, and a process writes no log before it: so that all processes
// of a job see the same owner, whichever comes first.
func own(root, job string) (owner string, err error) {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(root, mark)
	if text, err := os.ReadFile(path); err == nil {
		return string(text), nil
	}
	owner = job
	if logs, _ := filepath.Glob(filepath.Join(root, "chamtool_*")); len(logs) > 0 {
		owner = earlier
	}
	if err := link(root, path, owner); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	text, err := os.ReadFile(path)
	return string(text), err
}

func link(root, path, owner string) error {
	f, err := os.CreateTemp(root, mark+"-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(owner)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), path)
}

// Name names this job by what its launcher put into the environment, the same in
// all its processes and in no other job: Slurm's number with its step, and the
// name space of PMIx, a new one for each mpirun. Hydra, the launcher of MPICH and
// Intel MPI, puts no such thing there; hydra returns the name of its [ControlPort].
// alone is for a process that no launcher started.
func Name(lookup func(string) (string, bool), hydra func() string, alone string) string {
	var parts []string
	for _, names := range [][]string{{"SLURM_JOB_ID"}, {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "SLURM_STEP_ID", "PMI_JOBID"}} {
		for _, name := range names {
			if v, ok := lookup(name); ok && v != "" {
				parts = append(parts, clean(v))
				break
			}
		}
	}
	if _, ranked := lookup("PMI_RANK"); ranked && len(parts) == 0 {
		alone = cmp.Or(hydra(), alone)
	}
	if len(parts) == 0 {
		return "job-" + clean(alone)
	}
	return "job-" + strings.Join(parts, "-")
}

// ControlPort returns the host and port at which the mpiexec that started a process
// listens: Hydra passes them to its proxy on each node, an ancestor of the ranks there.
// It is "" for a process without such an ancestor. proc is a /proc.
func ControlPort(proc fs.FS, pid int) string {
	for range 32 { // a job script may start shells, debuggers and wrappers in between
		stat, err := fs.ReadFile(proc, fmt.Sprintf("%d/stat", pid))
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
		cmdline, err := fs.ReadFile(proc, fmt.Sprintf("%d/cmdline", pid))
		if err != nil {
			return ""
		}
		args := strings.Split(string(cmdline), "\x00")
		if i := slices.Index(args, "--control-port"); i >= 0 && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

// clean leaves what a file name may hold.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, s)
}
