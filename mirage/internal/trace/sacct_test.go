package trace

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestSACCTRows: rows of sacct that are no plain job, by the jobs that they make: id, wait and
// run time in minutes, limit in hours; -1 is not known.
func TestSACCTRows(t *testing.T) {
	at := func(minute int) string {
		if minute < 0 {
			return "Unknown"
		}
		return time.Date(2026, 5, 4, 0, minute, 0, 0, time.UTC).Format("2006-01-02T15:04:05")
	}
	row := func(id string, submit, start, end int, limit, state string) string {
		return strings.Join([]string{id, "eva", "gpu", at(submit), at(start), at(end), limit, state, "1", "c1"}, "|") + "\n"
	}
	const header = "JobID|User|Partition|Submit|Start|End|Timelimit|State|NNodes|Cluster\n"
	plain := row("1", 0, 5, 65, "02:00:00", "COMPLETED")
	for name, tt := range map[string]struct {
		rows string
		want string
		open int
	}{
		"requeued, same submission": {row("7", 0, 10, 20, "01:00:00", "REQUEUED") + row("7", 0, 50, 80, "01:00:00", "COMPLETED"), "7 10 10 1; 7+50 30 30 1", 0},
		"requeued, its own":         {row("7", 0, 10, 20, "01:00:00", "REQUEUED") + row("7", 20, 50, 80, "01:00:00", "COMPLETED"), "7 10 10 1; 7+50 30 30 1", 0},
		"waits again":               {row("7", 0, 10, 20, "01:00:00", "REQUEUED") + row("7", 20, -1, -1, "01:00:00", "PENDING"), "7 10 10 1", 1},
		"requeued and waiting":      {row("7", 0, -1, -1, "01:00:00", "REQUEUED"), "", 1},
		"twice in the log":          {plain + plain, "1 5 60 2", 0},
		"twice, without a run time": {strings.Repeat(row("1", 0, 5, 5, "02:00:00", "COMPLETED"), 2), "1 5 0 2", 0},
		"used again, a year later":  {plain + row("1", 500000, 500001, 500003, "02:00:00", "COMPLETED"), "1 5 60 2; 1+500000 1 2 2", 0},
		"used again, while it ran":  {plain + row("1", 30, 31, 33, "02:00:00", "COMPLETED"), "1 5 60 2; 1+30 1 2 2", 0},
		"limit of the partition":    {plain + row("2", 0, 1, 2, "Partition_Limit", "COMPLETED"), "1 5 60 2; 2 1 1 2", 0},
		"no limit is known":         {row("2", 0, 1, 2, "Partition_Limit", "COMPLETED"), "2 1 1 8760", 0},
		"array":                     {row("3_[1-40]", 0, -1, -1, "01:00:00", "PENDING"), "", 40},
		"five at once":              {row("3_[1-40%5]", 0, -1, -1, "01:00:00", "PENDING"), "", 5},
		"two left of five at once":  {row("3_[39,40%5]", 0, -1, -1, "01:00:00", "PENDING"), "", 2},
	} {
		tr, err := Read(strings.NewReader(header+tt.rows), "x", Options{Zone: time.UTC})
		if err != nil && (tt.want != "" || !errors.Is(err, ErrNoJobs)) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err != nil { // only jobs that wait
			tr, err = Read(strings.NewReader(header+plain+tt.rows), "x", Options{Zone: time.UTC})
			if err != nil || len(tr.Open) != tt.open {
				t.Errorf("%s: %d wait, want %d: %v", name, len(tr.Open), tt.open, err)
			}
			continue
		}
		var got []string
		for _, j := range tr.Jobs {
			id, minute, again := strings.Cut(j.ID, "+") // ids of further runs contain seconds
			if again {
				var unix int64
				fmt.Sscan(minute, &unix)
				id += fmt.Sprint("+", (unix-time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC).Unix())/60)
			}
			got = append(got, fmt.Sprint(id, " ", j.Wait()/60, " ", j.Duration()/60, " ", j.Limit/3600))
		}
		if s := strings.Join(got, "; "); s != tt.want || len(tr.Open) != tt.open {
			t.Errorf("%s: %q and %d wait, want %q and %d", name, s, len(tr.Open), tt.want, tt.open)
		}
	}
	two := header + plain + strings.Replace(plain, "c1", "c2", 1)
	if _, err := Read(strings.NewReader(two), "x", Options{Zone: time.UTC}); !errors.Is(err, ErrClusters) || !strings.Contains(err.Error(), "c1, c2") {
		t.Errorf("two clusters: %v", err)
	}
	if tr, err := Read(strings.NewReader(two), "x", Options{Zone: time.UTC, Cluster: "c2"}); err != nil || len(tr.Jobs) != 1 || tr.Skipped["other cluster"] != 1 {
		t.Errorf("one of two clusters: %+v, %v", tr, err)
	}
}

// TestMirageRowsTwice: a row of the published layout that is in the log twice counts once.
func TestMirageRowsTwice(t *testing.T) {
	var log strings.Builder
	job := Job{ID: "7", User: "ann", Nodes: 2, Submit: 1.7e9, Start: 1.7e9 + 60, End: 1.7e9 + 600, Limit: 3600}
	other := job
	other.ID = "8"
	if err := WriteMirage(&log, []Job{job, other, job}, time.UTC); err != nil {
		t.Fatal(err)
	}
	got, err := Read(strings.NewReader(log.String()), "x", Options{Zone: time.UTC})
	if err != nil || got.Layout != Mirage || len(got.Jobs) != 2 || got.Skipped["repeated"] != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestCheckWaits: a log without a start is none to learn from.
func TestCheckWaits(t *testing.T) {
	for _, tt := range []struct {
		wait string
		want error
	}{{"-1", ErrNoJobs}, {"60", nil}} {
		tr, err := Read(strings.NewReader("; UnixStartTime: 0\n1 0 "+tt.wait+" 100 4 -1 -1 4 200 -1 1 1 1 -1 1 1 -1 -1\n"), "x.swf", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := tr.CheckWaits(); !errors.Is(err, tt.want) {
			t.Errorf("wait %s: %v", tt.wait, err)
		}
	}
}
