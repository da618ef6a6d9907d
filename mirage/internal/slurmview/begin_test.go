package slurmview

import (
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/testkit/slurmtest"
)

// TestRealBegin: begin times mean what a real sbatch reads.
func TestRealBegin(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	c := slurmtest.Start(t)
	const slack = 120 // seconds from the reading of a time to the submission
	for _, text := range []string{
		"today", "tomorrow", "midnight", "noon", "fika", "teatime", "now", "now+2hours", "now + 2 hours", "now+1week", "now-1hour", "23:59", "00:01", "NOON", "4:30pm", "12:00AM",
		"2030-01-20", "2030-01-20T12:34", "01/20/30", "012030", "01.20.30", "01/20", "tomorrow noon", "noon tomorrow", "tomorrow 10:00", "tomorrowT10:00", "2020-01-01",
	} {
		before := time.Now().Unix()
		id, err := c.Run("sbatch", "--parsable", "--hold", "--output=/dev/null", "--begin="+text, "--wrap=true")
		if err != nil {
			t.Fatal(text, err)
		}
		out, err := c.Run("scontrol", "--oneliner", "show", "job", strings.TrimSpace(id))
		if err != nil {
			t.Fatal(err)
		}
		eligible := fieldsOf(out)["EligibleTime"]
		want, _ := trace.ParseDate(eligible, time.Local) // Unknown is at once
		agrees := false
		for _, now := range []int64{before, time.Now().Unix()} { // a day may end in between
			at, err := trace.ParseNext(text, time.Local, now)
			if want == 0 {
				agrees = agrees || err == nil && at <= now
			} else {
				agrees = agrees || err == nil && max(at-want, want-at) <= slack
			}
		}
		if at, err := trace.ParseNext(text, time.Local, before); !agrees {
			t.Errorf("%s: %s, %v; Slurm has %s", text, time.Unix(at, 0), err, eligible)
		}
	}
}
