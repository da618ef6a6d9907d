package cli

import (
	"fmt"
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

// reuse sets aside the runs of a journal that were made under other conditions than
// now, and logs how many they are and how old the others are.
func (f *sampleFlags) reuse(env *cli.Env, spec *jobspec.Spec, j *journal.Journal, devices []string) (journal.Identity, error) {
	now, err := sampling.Identify(spec, thisMachine(), os.Environ())
	if err != nil {
		return now, err
	}
	var left []journal.Run
	for _, name := range devices {
		left = append(left, setAside(env, j, spec.Hash(name), now, f.fresh)...)
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
			setAside(env, j, spec.Hash(device), made, false)
		}
	}
	return j, nil
}

// ours returns an error with the jobs in a journal that holds no run of this one.
func (f *jobFlags) ours(spec *jobspec.Spec, j *journal.Journal) error {
	var others []string
	for _, r := range j.Runs {
		if slices.ContainsFunc(f.devices, func(d string) bool { return r.Job == spec.Hash(d) }) {
			return nil
		}
		if name := r.Name + " on " + r.Device; !slices.Contains(others, name) {
			others = append(others, name)
		}
	}
	if len(others) == 0 {
		return nil
	}
	return fmt.Errorf("%s: no run of this command with these parameters and devices; it contains runs of %s by another command", f.journal, strings.Join(others, ", "))
}

// setAside takes the runs of a job out of a journal that were made under other
// conditions than now, or all of them, logs the reasons, and returns the others.
func setAside(env *cli.Env, j *journal.Journal, job string, now journal.Identity, all bool) []journal.Run {
	excluded, left := j.Exclude(job, func(r journal.Run) string {
		if all {
			return "--fresh"
		}
		return r.Differs(now)
	})
	for _, reason := range slices.Sorted(maps.Keys(excluded)) {
		env.Log.Warnf("%s of the journal not used: %s", plural.Count(excluded[reason], "run"), reason)
	}
	return left
}
