package slurm

import (
	"slices"
	"testing"
	"time"
)

// TestLinesOfHistory checks a line of an ended job by its fields.
func TestLinesOfHistory(t *testing.T) {
	for line, good := range map[string]bool{
		"12_3|COMPLETED|61|2026-01-02T03:04:05|/d|sbatch a.sh 1": true,
		"12|TIMEOUT|61|2026-01-02T03:04:05|/d|sbatch a.sh 1|2":   true,
		"12|FAILED|61|2026-01-02T03:04:05|/d|sbatch a.sh":        false,
		"12|COMPLETED|x|2026-01-02T03:04:05|/d|sbatch a.sh":      false,
		"12|COMPLETED|61|Unknown|/d|sbatch a.sh":                 false,
		"12|COMPLETED|61|2026-01-02T03:04:05|/d":                 false,
		"--option":                                               false,
	} {
		job, ok := parseEnded(line)
		if ok != good {
			t.Errorf("%s: %v", line, ok)
		}
		if !ok {
			continue
		}
		start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
		if job.Job != "12" || job.Seconds != 61 || job.Dir != "/d" || !job.Start.Equal(start) || job.Command[1] != "a.sh" {
			t.Errorf("%s: %+v", line, job)
		}
	}
	if cut, whole := (Ended{Seconds: 60, Cut: true}).Total(), (Ended{Seconds: 60}).Total(); cut != 120 || whole != 61 {
		t.Errorf("%v and %v s count", cut, whole)
	}
}

// The last words are the arguments, the word before them is the script, and a
// command comes before that.
func TestSameCommand(t *testing.T) {
	for _, tt := range []struct {
		command, args []string
		want          bool
	}{
		{[]string{"sbatch", "/a.sh", "1", "2"}, []string{"1", "2"}, true}, {[]string{"sbatch", "/a.sh", "1", "2"}, []string{"1 2"}, true}, {[]string{"sbatch", "/a.sh"}, nil, true},
		{[]string{"/a.sh"}, nil, false}, {[]string{"/a.sh", "1"}, []string{"1"}, false}, {nil, nil, false}, {[]string{"sbatch", "/a.sh", "1"}, []string{"2"}, false}, {[]string{"sbatch", "/b.sh"}, nil, false},
	} {
		if got := (Ended{Command: tt.command}).Ran("/a.sh", nil, tt.args); got != tt.want {
			t.Errorf("%q with %q: %v", tt.command, tt.args, got)
		}
	}
}

// TestTimesOfSlurm checks days, hours, minutes and seconds; nothing else.
func TestTimesOfSlurm(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"00:00:00": 0, "01:02:03": time.Hour + 2*time.Minute + 3*time.Second, "2-03:04:05": 51*time.Hour + 4*time.Minute + 5*time.Second,
		"01:02": -1, "01:02:03:04": -1, "x-01:02:03": -1, "01:x:03": -1, "01:02:x": -1, "x:02:03": -1, "": -1, "5": -1,
	} {
		got, err := parseTime(text)
		if (err == nil) != (want >= 0) || err == nil && got != want || err != nil && got != 0 {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
}

// Words without a name belong to the value before them.
func TestRecordOfARunningJob(t *testing.T) {
	r, err := parseRunning("x JobState=RUNNING Reason=a b =c d.e=f g=h 1=2 RunTime=00:00:07 TimeLimit=1-00:00:00 StdOut=/a b=c.log X=\nJobState=FAILED")
	if err != nil || r.State != "RUNNING" || r.Elapsed != 7*time.Second || r.Limit != 24*time.Hour || r.Log != "/a b=c.log" {
		t.Errorf("%+v, %v", r, err)
	}
	for _, limit := range []string{"UNLIMITED", "Partition_Limit"} {
		if r, err := parseRunning("JobState=RUNNING RunTime=00:00:07 TimeLimit=" + limit); err != nil || r.Limit != 0 {
			t.Errorf("%s: %+v, %v", limit, r, err)
		}
	}
	for _, text := range []string{"", "RunTime=00:00:07", "JobState=RUNNING RunTime=x TimeLimit=UNLIMITED", "JobState=RUNNING RunTime=00:00:07 TimeLimit=x"} {
		if _, err := parseRunning(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// A limit is whole minutes, at least one, rounded up but for rounding.
func TestMinutes(t *testing.T) {
	got := []int64{Minutes(0), Minutes(1), Minutes(60), Minutes(60 + 1e-8), Minutes(60 + 1e-6), Minutes(61), Minutes(120)}
	if want := []int64{1, 1, 1, 1, 2, 2, 2}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
