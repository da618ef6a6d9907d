package cli

import (
	"context"
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
)

// reuse sets aside the runs of a journal that do not stand for the job as it
// would run now, and says what became of them and how old the others are.
func (f *sampleFlags) reuse(ctx context.Context, env *cli.Env, spec *jobspec.Spec, j *journal.Journal, devices []string) (journal.Identity, error) {
	now, err := sampling.Identify(spec, thisMachine(), os.Environ())
	if err != nil {
		return now, err
	}
	var left []journal.Run
	for _, name := range devices {
		id := now
		if device := sampling.NewRemote(spec, name); device != nil {
			if id, err = device.Identity(ctx, now); err != nil {
				return now, err
			}
		}
		left = append(left, setAside(env, j, spec.Hash(name), id, f.fresh)...)
	}
	if len(left) == 0 {
		return now, nil
	}
	oldest := slices.MinFunc(left, func(a, b journal.Run) int { return a.Start.Compare(b.Start) })
	env.Log.Infof("%d runs of the journal are used again, the oldest %v old; --fresh makes new ones", len(left), time.Since(oldest.Start).Round(time.Second))
	return now, nil
}

// newest reads a journal and sets aside the runs of a job on each device that were
// made otherwise than the last one there, on this host or another. It says where
// that one was made on this host otherwise than it would be now.
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
				env.Log.Warnf("%s: the runs were made with %s than there are now: run makes new ones", device, made.Differs(now))
			}
			setAside(env, j, spec.Hash(device), made, false)
		}
	}
	return j, nil
}

// ours says whose runs a journal has that holds none of the job's.
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
	return fmt.Errorf("%s: no run of this command, parameters and devices; it has runs of %s by another", f.journal, strings.Join(others, ", "))
}

// setAside takes the runs of a job out of a journal that were made otherwise than now,
// or all of them, says why, and returns the others.
func setAside(env *cli.Env, j *journal.Journal, job string, now journal.Identity, all bool) []journal.Run {
	aside, left := j.SetAside(job, func(r journal.Run) string {
		if all {
			return "asked for fresh ones"
		}
		return r.Differs(now)
	})
	for _, reason := range slices.Sorted(maps.Keys(aside)) {
		env.Log.Warnf("%d runs of the journal are left out: %s", aside[reason], reason)
	}
	return left
}
