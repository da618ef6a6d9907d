package forecast

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/mirage/internal/wait"
)

// queued returns a log in which short jobs of one node wait 10 minutes and long jobs of
// two nodes wait 2 to 10 hours.
func queued(t *testing.T) (*Log, int64) {
	t.Helper()
	log := &trace.Trace{Zone: time.UTC, Unit: "nodes"}
	for i := range int64(200) {
		j := trace.Job{User: "a", Partition: "p", Nodes: 1, Limit: 3600, Submit: i * 600}
		if j.Start = j.Submit + 600; i%2 == 1 {
			j.Nodes, j.Limit, j.Start = 2, 86400, j.Submit+7200+i%9*3600
		}
		j.End = j.Start + 300
		log.Jobs = append(log.Jobs, j)
	}
	at := int64(200 * 600)
	l, err := NewLog(t.Context(), log, at, wait.Settings{Size: 8, Level: 0.8}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l, at
}

func TestAnswer(t *testing.T) {
	l, _ := queued(t)
	a, err := l.Answer(Question{Nodes: 2, Limit: 86400, User: "a", By: "1970-01-05", Overlap: 1})
	if err != nil {
		t.Fatal(err)
	}
	if !a.Wait.Contains(6) || a.Chance == nil || a.Handover == nil {
		t.Errorf("%+v", a)
	}
	if len(a.Alternatives) < 1 || a.Alternatives[0].Shape != "1 node" || a.Alternatives[0].EarlierHours <= 0 || !slices.IsSortedFunc(a.Alternatives, func(x, y Alternative) int { return int(1e6 * (y.EarlierHours - x.EarlierHours)) }) {
		t.Errorf("alternatives %+v", a.Alternatives)
	}
	a, err = l.Answer(Question{Nodes: 4, Limit: 2 * 86400, User: "new"})
	if err != nil {
		t.Fatal(err)
	}
	for _, note := range []string{"more than 2 nodes", "a limit above 24h", "user new has no job"} {
		if !strings.Contains(strings.Join(a.Notes, "\n"), note) {
			t.Errorf("no note %q in %q", note, a.Notes)
		}
	}
}

func TestQuestionErrors(t *testing.T) {
	l, _ := queued(t)
	good := Question{Nodes: 1, Limit: 3600}
	for want, change := range map[string]func(*Question){
		"at least one node":         func(q *Question) { q.Nodes = 0 },
		"and 60 s":                  func(q *Question) { q.Limit = 59 },
		"the cluster has 8":         func(q *Question) { q.Nodes = 9 },
		"it has p":                  func(q *Question) { q.Partition = "q" },
		"only used on a live Slurm": func(q *Question) { q.GPUs = 1 },
		"want numbers from 0":       func(q *Question) { q.MemoryMB = -1 },
		"want a time after":         func(q *Question) { q.By = "1970-01-02" },
		"want a number above 0":     func(q *Question) { q.Overlap = -1 },
	} {
		q := good
		change(&q)
		_, err := l.Answer(q)
		if wrong := (*QuestionError)(nil); !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := l.Answer(good); err != nil {
		t.Error(err)
	}
}
