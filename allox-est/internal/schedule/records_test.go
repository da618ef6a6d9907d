package schedule

import (
	"math"
	"strings"
	"testing"
)

// Records in the forms that the simulator's input generators write.
func TestReadRecords(t *testing.T) {
	w, err := Load(strings.NewReader(`% jobs
# 0
1 late 1 14 queue1 7
stage -1 32.0 20.0 150.0 1.0 2.0 75.0 1 -0.5 0.02
0
# 1

1 early 1 0
stage -1 32 32 250 1 2 inf 1
0
`), "jobs.txt")
	if err != nil || len(w.Diagnostics) > 0 || len(w.Jobs) != 2 {
		t.Fatalf("%+v, %v", w, err)
	}
	early, late := w.Jobs[0], w.Jobs[1]
	if early.Name != "early" || early.User != "" || early.Arrival != 0 || early.Actual[CPU] != 250 || !math.IsInf(early.Actual[GPU], 1) {
		t.Errorf("%+v", early)
	}
	if late.User != "queue1" || late.Arrival != 14 || late.Actual[CPU] != 150 || late.Reported[CPU] != 75 || late.Reported[GPU] != 75*1.02 {
		t.Errorf("%+v", late)
	}
}

// A record that cannot be used is named by the line at which it begins, and the others
// are read.
func TestReadRecordsBad(t *testing.T) {
	const stage = "stage -1 32 20 150 1 2 75 1 0 0\n0\n"
	for bad, want := range map[string]string{
		"1 a 1 ARRIVAL_TIME q\n" + stage:                         `arrival: "ARRIVAL_TIME" is not a number`,
		"2 a 1 0 q\n" + stage:                                    "it has 2 stages and 0 edges",
		"1 a 1 0 q\nstage -1 32 20 150 1 2 75 1 0 0\n1\na b 1\n": "there are 4 lines",
		"1 a 1 0 q\nstage -1 32 20 150\n0\n":                     "the stage has 5 fields",
		"1 a 1\n" + stage:                                        "the job has 3 fields",
		"1 a 1 0 q\nstage -1 32 20 inf 1 2 inf 1 0 0\n0\n":       "can run on no device",
		"1 a 1 0 q\nstage -1 32 20 nan 1 2 75 1 0 0\n0\n":        "time is not above zero",
		"1 a 1 -1 q\n" + stage:                                   "invalid arrival",
		"1 a 1 0 q\n":                                            "there are 1 lines",
		"":                                                       "there are 0 lines",
	} {
		w, err := Load(strings.NewReader("# 0\n"+bad+"# 1\n1 good 1 0\n"+stage), "jobs.txt")
		if err != nil || len(w.Jobs) != 1 || w.Jobs[0].Name != "good" || w.Counts.Dropped != 1 {
			t.Errorf("%q: %+v, %v", bad, w, err)
			continue
		}
		if d := w.Diagnostics[0]; d.Line != 1 || !strings.Contains(d.Msg, want) {
			t.Errorf("%q: %v, want %q at line 1", bad, d, want)
		}
	}
	if _, err := readRecords(strings.NewReader("1 a 1 0\n"), "jobs.txt"); err == nil || !strings.Contains(err.Error(), "jobs.txt:1: ") {
		t.Errorf("no first line: %v", err)
	}
}

// Whatever the text, it is read or refused, and every record is counted.
func FuzzReadRecords(f *testing.F) {
	f.Add("# 0\n1 a 1 0 q\nstage -1 32 20 150 1 2 75 1 0 0\n0\n")
	f.Add("% x\n#\n#\n1")
	f.Fuzz(func(t *testing.T, text string) {
		w, err := readRecords(strings.NewReader(text), "jobs.txt")
		if err != nil {
			return
		}
		if w.Counts.Read != w.Counts.Used+w.Counts.Dropped || len(w.Jobs) != w.Counts.Used || len(w.Diagnostics) != w.Counts.Dropped {
			t.Errorf("%+v", w.Counts)
		}
		for _, job := range w.Jobs {
			if err := job.check(); err != nil {
				t.Error(err)
			}
		}
	})
}
