package job

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/foretime/foretime/chamtool/internal/summary"
)

// ErrName is returned for a job without a usable name.
var ErrName = errors.New("invalid job name")

// jobMark is the file that names the job which owns a directory.
const jobMark = ".chamtool_job"

// earlierRuns owns a directory that has logs and no mark.
const earlierRuns = "earlier runs"

// Claim returns the directory for the logs of a rank: root, created if it is missing, or a
// directory below it if root belongs to another job. A rank has one program in a directory:
// a second program of the same job and rank gets the next one. The file that
// says so is created with the claim, and belongs to the caller.
func Claim(root, job string, rank int) (dir string, err error) {
	for n := 1; ; n++ {
		name := job
		if n > 1 {
			name = fmt.Sprintf("%s.%d", job, n)
		}
		if dir, err = directory(root, name); err != nil {
			return dir, err
		}
		f, err := os.OpenFile(filepath.Join(dir, summary.FileName(rank)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err == nil {
			return dir, f.Close()
		}
		if !errors.Is(err, os.ErrExist) {
			return dir, err
		}
	}
}

// directory returns the directory of a job below root.
func directory(root, job string) (string, error) {
	if job == "" || job != filepath.Base(job) || strings.HasPrefix(job, ".") {
		return "", fmt.Errorf("%w: %q", ErrName, job)
	}
	owner, err := claimOwner(root, job)
	if err != nil || owner == job {
		return root, err
	}
	dir := filepath.Join(root, job)
	return dir, os.MkdirAll(dir, 0o755)
}

// claimOwner returns the job that owns a directory: this one, if nobody did. The mark is linked
// whole or not at all, and a process writes no log before it, so all processes
// of a job see the same owner, whichever comes first.
func claimOwner(root, job string) (owner string, err error) {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(root, jobMark)
	if text, err := os.ReadFile(path); err == nil {
		return string(text), nil
	}
	owner = job
	if logs, _ := filepath.Glob(filepath.Join(root, "chamtool_*")); len(logs) > 0 {
		owner = earlierRuns
	}
	if err := link(root, path, owner); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	text, err := os.ReadFile(path)
	return string(text), err
}

func link(root, path, owner string) error {
	f, err := os.CreateTemp(root, jobMark+"-")
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
