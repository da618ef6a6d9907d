package tour

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/foretime/foretime/shared/uncertainty"
)

// pairs summarises the service pairs of one submission policy.
type pairs struct {
	Interruption struct{ Mean uncertainty.Prediction } `json:"interruption_hours"`
	Overlap      struct{ Mean uncertainty.Prediction } `json:"overlap_hours"`
}

// mirage generates two months of a batch queue's log, learns from the first when to
// submit a successor, and evaluates that on the second, compared with submitting at
// the end.
func mirage(ctx context.Context, s *Stage) Chapter {
	queue := []string{"month.log", "--nodes", "75", "--set", "user_limit=8"}
	learn := append([]string{"generate"}, queue...)
	judge := append([]string{"validate"}, queue...)
	judge = append(judge, "--episodes", "60", "--interval", "6h", "--start", "2023-02-08", "--json", "--model")
	for _, args := range [][]string{
		{"log", "synth", "--days", "60", "--seed", "1", "--out", "month.log"},
		append(learn, "--episodes", "150", "--interval", "4h", "--start", "2023-01-08", "--history", "7d", "--out-dir", "samples"),
		{"train", "samples", "--model", "boost", "--until", "2023-02-08", "--out", "boost.json"},
	} {
		s.run(ctx, "mirage", args...)
	}
	var reactive, boost pairs
	s.runJSON(ctx, &reactive, "mirage", append(judge, "reactive")...)
	s.runJSON(ctx, &boost, "mirage", append(judge, "boost.json")...)
	small := s.wait(ctx, "wait of a job of one node", 1)
	large := s.wait(ctx, "wait of a job of four nodes", 4)
	return Chapter{
		Story: []Line{
			small, large,
			{What: "interruption, learnt trees", Measured: boost.Interruption.Mean.Value, Unit: "h"},
			{What: "overlap, learnt trees", Measured: boost.Overlap.Mean.Value, Unit: "h"},
			{What: "interruption, submitted at the end", Measured: reactive.Interruption.Mean.Value, Unit: "h"},
		},
	}
}

// wait predicts, a second before its submission, the wait of the first job of at
// least so many nodes after a time, and compares it with the log.
func (s *Stage) wait(ctx context.Context, what string, nodes int) Line {
	job := s.findLogged("2023-02-15T12:00:00", nodes)
	var answer struct {
		Wait uncertainty.Prediction `json:"wait_hours"`
	}
	s.runJSON(ctx, &answer, "mirage", "when", "month.log", "--set", "nodes=75", "--at", job.submit.Add(-time.Second).Format(instant),
		"--user", job.user, "--job-nodes", job.nodes, "--job-limit", job.minutes+"m", "--json")
	return Line{What: what, Predicted: &answer.Wait, Measured: job.start.Sub(job.submit).Hours(), Unit: "h"}
}

// logged is a job of the synthetic log.
type logged struct {
	user, minutes, nodes string
	submit, start        time.Time
}

const instant = "2006-01-02T15:04:05"

// findLogged returns the first job submitted after a time with at least so many nodes.
func (s *Stage) findLogged(from string, nodes int) (first logged) {
	if s.hasFailed(nil) {
		return first
	}
	text, err := os.ReadFile(filepath.Join(s.Out, s.module, "month.log"))
	s.hasFailed(err)
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line) // JobID JobName UID Start Submit End Priority Timelimit ExitCode NNodes
		if len(f) != 10 || f[4] < from {
			continue
		}
		n, _ := strconv.Atoi(f[9])
		submit, err1 := time.Parse(instant, f[4])
		start, err2 := time.Parse(instant, f[3])
		if n >= nodes && err1 == nil && err2 == nil && (first.submit.IsZero() || submit.Before(first.submit)) {
			first = logged{f[2], f[7], f[9], submit, start}
		}
	}
	if first.submit.IsZero() {
		s.hasFailed(fmt.Errorf("month.log: no job of %d nodes from %s on", nodes, from))
	}
	return first
}
