package slurmview

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// A new job gets the priority of its user's latest job, without the points for age; without
// one, the median of its partition. A queue in order of submission places it last.
func TestPriorityOfNewJob(t *testing.T) {
	const now = 1e6
	row := func(user, partition string, submit int64, priority float64) trace.Job {
		return trace.Job{User: user, Partition: partition, Submit: submit, Priority: priority, Nodes: 1, Limit: 60}
	}
	started := row("b", "gpu", now-5000, 700)
	started.Start = now - 4000
	ended := row("c", "cpu", now-9000, 300)
	ended.Start, ended.End = now-8000, now-7000
	st := &simulator.Standing{Now: now, Running: []trace.Job{started}, Ended: []trace.Job{ended}, Pending: []trace.Job{
		row("a", "gpu", now-1000, 600), row("a", "gpu", now-500, 550), row("d", "gpu", now-100, 110), row("e", "cpu", now-100, 310), row("a", "cpu", now-10, 901),
	}}
	aged := priorities{multifactor: true, agePoints: 1000, maxAge: 10_000 * time.Second}
	for name, tt := range map[string]struct {
		order           priorities
		user, partition string
		want            float64
	}{
		"its latest in the partition":    {aged, "a", "gpu", 500},
		"its latest in another":          {aged, "d", "cpu", 100},
		"a running one, at its start":    {aged, "b", "gpu", 600},
		"an ended one, at its start":     {aged, "c", "cpu", 200},
		"unknown: the partition's":       {aged, "z", "gpu", 500},
		"unknown everywhere: all":        {aged, "z", "debug", 500},
		"without points for age":         {priorities{multifactor: true}, "a", "gpu", 550},
		"in order of submission":         {priorities{}, "a", "gpu", 109},
		"no user: the median of its own": {aged, "", "cpu", 900},
	} {
		job := trace.Job{User: tt.user, Partition: tt.partition}
		if got := tt.order.forNew(&job, st); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
	if got := aged.forNew(&trace.Job{User: "a"}, &simulator.Standing{Now: now}); got != 0 {
		t.Errorf("an empty queue: %v", got)
	}
}

// A weight that cannot be read costs the points for age, not the answer.
func TestParsePriorities(t *testing.T) {
	multifactor := func(weight, age string) map[string]string {
		return map[string]string{"PriorityType": "priority/multifactor", "PriorityWeightAge": weight, "PriorityMaxAge": age}
	}
	for name, tt := range map[string]struct {
		config map[string]string
		want   priorities
		unread bool
	}{
		"with age":        {multifactor("1000", "7-00:00:00"), priorities{multifactor: true, agePoints: 1000, maxAge: 7 * 24 * time.Hour}, false},
		"without age":     {multifactor("0", "UNLIMITED"), priorities{multifactor: true}, false},
		"by submission":   {map[string]string{"PriorityType": "priority/basic"}, priorities{}, false},
		"unknown":         {nil, priorities{multifactor: true}, false},
		"no weight":       {multifactor("many", "7-00:00:00"), priorities{multifactor: true}, true},
		"no greatest age": {multifactor("1", "never"), priorities{multifactor: true}, true},
	} {
		p := parsePriorities(tt.config)
		if (p.unread != "") != tt.unread {
			t.Errorf("%s: %q", name, p.unread)
		}
		if p.unread = ""; p != tt.want {
			t.Errorf("%s: %+v, want %+v", name, p, tt.want)
		}
	}
}

// TestPlaceInQueue compares the expected priorities of new jobs with their own, in a log:
// the error is the share of the queue between the two places.
func TestPlaceInQueue(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one thread computes")
	}
	dir := os.Getenv("FORETIME_DATA")
	if dir == "" {
		t.Skip("needs FORETIME_DATA")
	}
	log, err := trace.Open(filepath.Join(dir, "ls6-a100", "ls6-a100-2022-10_2023-02.log"), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const every, weeks = 20, 2
	var ours, median, last, n float64
	for i := every; i < len(log.Jobs); i += every {
		job := log.Jobs[i]
		st := &simulator.Standing{Now: job.Submit}
		for _, j := range log.Jobs[:i] {
			switch {
			case j.Start > job.Submit:
				st.Pending = append(st.Pending, j)
			case j.End > job.Submit:
				st.Running = append(st.Running, j)
			case j.End > job.Submit-weeks*7*86400:
				st.Ended = append(st.Ended, j)
			}
		}
		if len(st.Pending) < 3 {
			continue
		}
		ahead := func(priority float64) float64 {
			before := 0.0
			for k := range st.Pending {
				if st.Pending[k].Priority >= priority {
					before++
				}
			}
			return before / float64(len(st.Pending))
		}
		was := ahead(job.Priority)
		ours += math.Abs(ahead(priorities{multifactor: true}.forNew(&job, st)) - was)
		median += math.Abs(ahead(trace.MedianPriority(st.Pending)) - was)
		last += 1 - was
		n++
	}
	t.Logf("%.0f jobs: %.3f of the queue off, with the median %.3f, at its end %.3f", n, ours/n, median/n, last/n)
	if n < 100 || ours > median/4 {
		t.Error("want at most a quarter of the error with the median")
	}
}
