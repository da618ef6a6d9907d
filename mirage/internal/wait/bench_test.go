package wait

import (
	"testing"

	"github.com/foretime/foretime/mirage/internal/trace"
)

// crowded is a log at whose end ten thousand jobs are pending.
func crowded() []trace.Job {
	jobs := queue(12000, 5)
	at := jobs[len(jobs)-1].Submit
	for i := range 10000 {
		j := jobs[i]
		j.Submit = at + int64(i)
		j.Start = j.Submit + 2*day
		j.End = j.Start + 3600
		jobs = append(jobs, j)
	}
	return jobs
}

// BenchmarkAsk is an answer from the beginning of a log on, with ten thousand
// jobs pending in the end.
func BenchmarkAsk(b *testing.B) {
	jobs := crowded()
	at := jobs[len(jobs)-1].Submit + 1
	for b.Loop() {
		f, err := NewForecaster(jobs, Settings{From: at, Level: .8})
		if err != nil {
			b.Fatal(err)
		}
		if err := f.Reach(b.Context(), at); err != nil {
			b.Fatal(err)
		}
		if _, err := f.Ask(trace.Job{User: "f", Nodes: 2, Limit: 7200, Submit: at}); err != nil {
			b.Fatal(err)
		}
	}
}
