package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/allox-est/internal/sampling"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/plural"
)

// reuse sets aside the runs of a journal that failed or were made under other conditions
// than now, and logs how many they are and how old the others are. With --fresh none of them
// counts in later calls either.
func (f *sampleFlags) reuse(env *cli.Env, spec *jobspec.Spec, j *journal.Journal, devices []string) (journal.Identity, error) {
	now, err := sampling.Identify(spec, thisMachine(), os.Environ())
	if err != nil {
		return now, err
	}
	var left []journal.Run
	for _, name := range devices {
		left = append(left, setAside(env, j, spec.Hash(name), func(r journal.Run) string {
			switch timeout := spec.Sample.Timeout.Seconds(); {
			case f.fresh:
				return "--fresh"
			case r.HasFailed():
				return "failed: " + r.Error
			case r.Timeout > 0 && (timeout == 0 || timeout > r.Timeout):
				return "ended by a shorter timeout"
			}
			return r.Differs(now)
		})...)
		if f.fresh {
			mark := journal.Run{Job: spec.Hash(name), Name: spec.Name, Kind: journal.Fresh, Device: name, Start: time.Now().UTC(), Identity: now}
			if err := j.Append(mark); err != nil {
				return now, err
			}
		}
	}
	if len(left) == 0 {
		return now, nil
	}
	oldest := slices.MinFunc(left, func(a, b journal.Run) int { return a.Start.Compare(b.Start) })
	env.Log.Infof("%s of the journal reused, the oldest is %v old; --fresh makes new ones", plural.Count(len(left), "run"), time.Since(oldest.Start).Round(time.Second))
	return now, nil
}

// newest reads a journal and sets aside the runs of a job on each device that were
// made under other conditions than the last one there, on this host or another. It
// warns if the last one was made on this host under other conditions than now.
func (f *jobFlags) newest(env *cli.Env, spec *jobspec.Spec) (*journal.Journal, error) {
	j, err := journal.Read(f.journal)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: no run yet: start one with run, or name its journal by --journal", err)
	}
	if err != nil {
		return nil, err
	}
	now, err := sampling.Identify(spec, thisMachine(), os.Environ())
	if err != nil {
		return nil, err
	}
	for _, device := range f.devices {
		last := -1
		for i, r := range j.Runs {
			if r.Job == spec.Hash(device) {
				last = i
			}
		}
		if last >= 0 {
			made := j.Runs[last].Identity
			if made.Host == now.Host && made.Differs(now) != "" {
				env.Log.Warnf("%s: the runs were made with %s than now: run makes new ones", device, made.Differs(now))
			}
			setAside(env, j, spec.Hash(device), func(r journal.Run) string { return r.Differs(made) })
		}
	}
	return j, nil
}

// ours returns an error with the jobs in a journal that holds no run of this one.
func (f *jobFlags) ours(spec *jobspec.Spec, j *journal.Journal) error {
	others := map[string]bool{}
	for _, r := range j.Runs {
		if slices.ContainsFunc(f.devices, func(d string) bool { return r.Job == spec.Hash(d) }) {
			return nil
		}
		others[r.Name+" on "+r.Device] = true
	}
	if len(others) == 0 {
		return nil
	}
	return fmt.Errorf("%s: no run of this command with these parameters and devices; it contains runs of %s by another command", f.journal, strings.Join(slices.Sorted(maps.Keys(others)), ", "))
}

// setAside takes the runs of a job out of a journal for which there is a reason, logs the
// reasons, and returns the others.
func setAside(env *cli.Env, j *journal.Journal, job string, reason func(journal.Run) string) []journal.Run {
	excluded, left := j.Exclude(job, reason)
	for _, reason := range slices.Sorted(maps.Keys(excluded)) {
		env.Log.Warnf("%s of the journal not used: %s", plural.Count(excluded[reason], "run"), reason)
	}
	return left
}
