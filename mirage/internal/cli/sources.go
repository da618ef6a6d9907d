package cli

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"sync/atomic"
	"time"

	"github.com/foretime/foretime/mirage/internal/forecast"
	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/uncertainty"
)

// logged answers from a log, which may change meanwhile.
type logged struct {
	env   *cli.Env
	files *cli.Reread[*forecast.Log]
	last  *forecast.Log // that was read
	lines bool          // it ended with a newline
	seen  atomic.Int64  // when it was, Unix seconds
}

var _ source = (*logged)(nil)

func (s *logged) answer(_ context.Context, q forecast.Question) (*forecast.Answer, error) {
	k, err := s.files.Current(s.env)
	if err != nil {
		return nil, err
	}
	a, err := k.Answer(q)
	if stale := s.files.Stale(); stale != nil && err == nil {
		a.Notes = append(a.Notes, fmt.Sprintf("the log has changed and its new content is not used: %v", stale))
	}
	return a, asUsage(err)
}

// read reads the log, which must not have lost its end since it was read last: then it is being
// written.
func (s *logged) read(ctx context.Context, w *when, path string) (*forecast.Log, error) {
	k, err := w.read(ctx, s.env, path)
	if err != nil {
		return nil, err
	}
	if s.last != nil && k.End() < s.last.End() {
		return nil, fmt.Errorf("%s: its last submission is at %s, before it was at %s", path, k.Clock(k.End()), k.Clock(s.last.End()))
	}
	lines := endsWithNewline(path)
	if s.lines && !lines {
		return nil, fmt.Errorf("%s: its last line is not complete", path)
	}
	s.last, s.lines = k, lines
	s.seen.Store(time.Now().Unix())
	return k, nil
}

// endsWithNewline reports whether the last byte of a regular file is a newline.
func endsWithNewline(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	last := make([]byte, 1)
	_, err = f.ReadAt(last, info.Size()-1)
	return err == nil && last[0] == '\n'
}

// watched answers from a live Slurm, which is queried at most once per interval, even
// after an error.
type watched struct {
	w       *when
	every   time.Duration
	metrics *serveMetrics

	view  *slurmview.View
	err   error
	seen  time.Time         // last query
	asked map[int64]awaited // by job
}

// awaited is the prediction of a job that has not started yet.
type awaited struct {
	at   int64 // Unix seconds
	wait uncertainty.Prediction
}

var _ source = (*watched)(nil)

func (s *watched) answer(ctx context.Context, q forecast.Question) (*forecast.Answer, error) {
	v, err := s.fresh(ctx)
	if err != nil {
		return nil, err
	}
	q = submitter(q)
	a, err := forecast.Live(v, q, s.w.level, s.w.correct)
	return a, asUsage(err)
}

// submitter completes a question without a user: it is this process's, with its groups.
func submitter(q forecast.Question) forecast.Question {
	if q.User != "" {
		return q
	}
	u, err := user.Current()
	if err != nil {
		return q
	}
	q.User = u.Username
	ids, _ := u.GroupIds() // without them its groups are unknown
	for _, id := range ids {
		if g, err := user.LookupGroupId(id); err == nil {
			q.Groups = append(q.Groups, g.Name)
		}
	}
	return q
}

// fresh returns a recent snapshot of Slurm. It ignores cancellation, because other
// clients may wait for the same query.
func (s *watched) fresh(ctx context.Context) (*slurmview.View, error) {
	if s.seen.IsZero() || time.Since(s.seen) >= s.every {
		before := s.view
		client := &slurmview.Client{Runner: slurmview.Exec{}}
		s.view, s.err = client.Look(context.WithoutCancel(ctx), time.Now(), slurmview.Sight{Days: slurmview.AnswerDays})
		s.seen = time.Now()
		if before != nil && s.err == nil {
			s.learn(before, s.view)
		}
	}
	return s.view, s.err
}

// newcomers limits the new jobs per query whose starts are predicted.
const newcomers = 3

// learn predicts, from the snapshot before, the starts of some jobs that were submitted
// after it, and records the actual starts of jobs predicted earlier.
func (s *watched) learn(before, now *slurmview.View) {
	if s.asked == nil {
		s.asked = map[int64]awaited{}
	}
	fresh := 0
	for i := range now.Jobs {
		j := &now.Jobs[i]
		key := fmt.Sprintf("%d of %d", j.ID, j.Submit)
		earlier, asked := s.asked[j.ID]
		switch {
		case asked && j.HasStarted():
			wait := float64(max(j.Start-earlier.at, 0))
			s.w.record.Outcome(started, key, wait)
			s.metrics.outcome(earlier.wait, wait)
			delete(s.asked, j.ID)
		case asked && j.State.Over():
			delete(s.asked, j.ID)
		case !asked && j.Submit > before.Now && !j.State.Over() && !j.Held() && fresh < newcomers:
			fresh++
			expected, err := forecast.Expect(before, j.Ask(), s.w.level)
			if err != nil || len(expected.Unread) > 0 { // no answer, or one that cannot be wrong
				continue
			}
			s.w.record.Predict(started, key, expected.Wait)
			s.asked[j.ID] = awaited{before.Now, expected.Wait}
		}
	}
}

// started is the question under which starts on a live Slurm are recorded.
const started = "start"

// correct returns the interval, corrected by the coverage of earlier ones.
func (w *when) correct(p uncertainty.Prediction) uncertainty.Prediction {
	return w.record.Correct(started, p)
}
