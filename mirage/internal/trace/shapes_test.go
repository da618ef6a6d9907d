package trace

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// shape is a log of three jobs that another layout than the plain one spoils.
const plainShape = `JobID|JobName|User|Submit|Start|End|Timelimit|State|NNodes|Comment
71|fit|uma|2026-02-01T08:00:00|2026-02-01T08:10:00|2026-02-01T09:00:00|01:00:00|COMPLETED|2|
72|fit|vic|2026-02-01T08:05:00|2026-02-01T09:00:00|2026-02-01T09:30:00|1-00:00:00|TIMEOUT|1|
73|fit|uma|2026-02-01T08:06:00|2026-02-01T09:30:00|2026-02-01T09:31:00|02:00:00|FAILED|4|
`

// TestShapes: the same three jobs whatever the shape of the file.
func TestShapes(t *testing.T) {
	replace := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(plainShape) }
	header, _, _ := strings.Cut(plainShape, "\n")
	job := func(id, user string, nodes int, form func(int) string, state, limit string, submit, start, end int) string {
		return fmt.Sprintf(`{"job_id":%s,"name":"fit","user":%q,"state":{"current":%s,"reason":"None"},"allocation_nodes":%d,"time":{"submission":%d,"eligible":%d,"start":%d,"end":%d,"limit":%s},"tres":{"allocated":[{"type":"node","name":"","count":%d}]},"array":{"job_id":0}}`,
			id, user, state, nodes, submit, submit, start, end, limit, nodes)
	}
	const day = 1769904000 // 2026-02-01
	listed := func(jobs ...string) string {
		return `{"meta":{"plugin":{}},"warnings":[],"jobs":[` + strings.Join(jobs, ",") + `],"errors":[]}`
	}
	for name, text := range map[string]string{
		"bars in a name":           replace("71|fit", "71|lr=0.1|wd=2"),
		"line break in a name":     replace("72|fit", "72|two\nlines", "73|fit", "73|three\nmore\nlines"),
		"line break in the last":   replace("NNodes|Comment", "NNodes|SubmitLine", "|2|\n", "|2|sbatch --wrap=#!/bin/sh\nmodule load x\nsrun y | tee z\n", "|4|\n", "|4|sbatch\n\n1 more\n"),
		"header twice":             plainShape + header + "\n",
		"days in words":            replace("1-00:00:00", "1 days 00:00:00", "|01:00:00", "|0 days 01:00:00"),
		"thousands":                replace("FAILED|4", "FAILED|0.00390625K"),
		"commas, quoted partition": strings.ReplaceAll(replace("|Comment", "|Partition", "|2|\n", "|2|gpu\n", "|1|\n", "|1|gpu\n", "|4|\n", "|4|gpu\n"), "|", ","),
		"JSON": listed(
			job("71", "uma", 2, nil, `"COMPLETED"`, "60", day+8*3600, day+8*3600+600, day+9*3600),
			job("72", "vic", 1, nil, `"TIMEOUT"`, "1440", day+8*3600+300, day+9*3600, day+9*3600+1800),
			job("73", "uma", 4, nil, `["FAILED"]`, `{"set":true,"infinite":false,"number":120}`, day+8*3600+360, day+9*3600+1800, day+9*3600+1860)),
		"a row from 2096": plainShape + "74|fit|uma|2096-02-01T08:00:00|2096-02-01T08:10:00|2096-02-01T09:00:00|01:00:00|COMPLETED|2|\n",
		"runaway job":     plainShape + "70|fit|zoe|2026-01-20T08:00:00|2026-01-20T08:10:00|Unknown|1-00:00:00|RUNNING|2|\n",
	} {
		got := read(t, text, Options{})
		if len(got.Jobs) != 3 || len(got.Open) > 0 {
			t.Errorf("%s: %d jobs, %d open, bad %v", name, len(got.Jobs), len(got.Open), got.Bad)
			continue
		}
		s := ""
		for _, j := range got.Jobs {
			s += fmt.Sprintf("%s %s %d %d %d; ", strings.TrimLeft(j.ID, " "), j.User, j.Nodes, j.Wait(), j.Limit)
		}
		if want := "71 uma 2 600 3600; 72 vic 1 3300 86400; 73 uma 4 5040 7200; "; s != want {
			t.Errorf("%s: %s, want %s", name, s, want)
		}
		if n := map[string]int{"a row from 2096": 1}[name]; len(got.Bad) != n {
			t.Errorf("%s: bad rows %v", name, got.Bad)
		}
		if runaway := len(got.Warnings) > 0 && strings.Contains(got.Warnings[0].Error(), "runawayjobs"); runaway != (name == "runaway job") {
			t.Errorf("%s: warnings %v", name, got.Warnings)
		}
	}
}

// TestTornRows: a row whose end is lost is bad, and takes no other with it.
func TestTornRows(t *testing.T) {
	got := read(t, plainShape+"75|fit|uma|2026-02-01T08:00:00\n76|fit|uma|2026-02-01T09:00:00|2026-02-01T09:10:00|2026-02-01T10:00:00|01:00:00|COMPLETED|2|\n77|fit|uma", Options{})
	if len(got.Jobs) != 4 || len(got.Bad) != 2 || got.Bad[0].Line != 5 || got.Bad[1].Line != 7 {
		t.Errorf("%d jobs, bad %v", len(got.Jobs), got.Bad)
	}
	got = read(t, strings.Replace(plainShape, "|2|", "|4-8|", 1)+"78|fit|uma|2026-02-01T09:30:00|Unknown|Unknown|01:00:00|PENDING|16-32|\n", Options{})
	if len(got.Open) != 1 || got.Open[0].Nodes != 16 {
		t.Errorf("%+v", got.Open)
	}
}

// TestQueueIsNoLog: the output of squeue --json as a log is an error that says so.
func TestQueueIsNoLog(t *testing.T) {
	_, err := Read(strings.NewReader(`{"jobs":[{"job_id":1,"job_state":["RUNNING"],"submit_time":{"set":true,"number":1767000000}}]}`), "queue.json", Options{})
	if !errors.Is(err, ErrLayout) || !strings.Contains(err.Error(), "squeue --json") {
		t.Error(err)
	}
}
