package follow

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/foretime/foretime/allox-est/internal/progress"
)

// TestBoard: of twenty jobs with twenty speeds, each row has the end of its own job and the
// probability of being killed before; the jobs that end first are the first rows.
func TestBoard(t *testing.T) {
	const jobs, units, done = 20, 40, 10
	dir := t.TempDir()
	now := time.Now()
	var board Board
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan string, jobs)
	for i := range jobs {
		name, unit := fmt.Sprintf("job%02d", i), time.Duration(jobs-i)*time.Minute
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for n := 1; n <= done; n++ {
			at := now.Add(time.Duration(n-done) * unit)
			fmt.Fprintf(f, "%s epoch %d/%d loss 0.5\n", at.Format("2006-01-02 15:04:05"), n, units)
		}
		limit := time.Time{}
		if i%2 == 0 { // at the time at which the job ends, half an hour before or after
			limit = now.Add((units-done)*unit + time.Duration(i/2%3-1)*30*time.Minute)
		}
		board.Add(name, limit, Tracker{})
		log := Log{Path: f.Name(), Reader: &progress.Reader{}, Every: time.Millisecond, Proc: "/proc"}
		go func() {
			board.Follow(ctx, name, log, func() time.Time { return now })
			ended <- name
		}()
	}
	var rows []Row
	for try := 0; slices.ContainsFunc(rows, func(r Row) bool { return r.State != Running }) || len(rows) == 0; try++ {
		if rows = board.Rows(now); try == 30_000 {
			t.Fatalf("not all are running: %+v", rows)
		}
		time.Sleep(10 * time.Millisecond)
	}
	for k, r := range rows {
		i := jobs - 1 - k // the slowest is job00
		unit := float64(jobs-i) * 60
		if want := fmt.Sprintf("job%02d", i); r.Job != want || r.Done != done || r.Epochs != units || r.Left == nil {
			t.Fatalf("row %d: %+v, want %s", k, r, want)
		}
		if rest := unit * (units - done); r.Left.Value < 0.9*rest || r.Left.Value > 1.1*rest || !r.Left.Contains(rest) {
			t.Errorf("%s: %v s left, %v true", r.Job, r.Left, rest)
		}
		if (i%2 == 0) != (r.Killed != nil) || (r.Killed != nil) != (r.Limit != nil) {
			t.Errorf("%s: killed %v, limit %v", r.Job, r.Killed, r.Limit)
			continue
		}
		if r.Killed == nil {
			continue
		}
		if p, place := *r.Killed, i/2%3; place == 0 && p < 0.5 || place == 2 && p > 0.5 || p < 0 || p > 1 {
			t.Errorf("%s: probability %v with the limit at place %d", r.Job, p, place)
		}
	}
	later := board.Rows(now.Add(time.Minute))
	if before, after := rows[5].Left.Value, later[5].Left.Value; after > before-59 || after < before-61 {
		t.Errorf("a minute later %v s are left, were %v", after, before)
	}
	for _, r := range board.Rows(now.Add(10_000 * time.Hour)) {
		if r.Left.Value != 0 || r.Left.Low != 0 || r.Left.High != 0 {
			t.Errorf("%s: long after its end %+v are left", r.Job, r.Left)
		}
	}
	for _, r := range rows {
		board.End(r.Job, "it is no longer in the queue")
	}
	stop()
	for range jobs {
		<-ended
	}
	for _, r := range board.Rows(now) {
		if r.State != Ended || r.Left != nil || r.Killed != nil || r.Note != "it is no longer in the queue" {
			t.Errorf("after the end: %+v", r)
		}
	}
	board.Add("lost", time.Time{}, Tracker{})
	board.Follow(t.Context(), "lost", Log{Path: filepath.Join(dir, "none"), Reader: &progress.Reader{}}, time.Now)
	if rows := board.Rows(now); rows[len(rows)-1].State != Unread {
		t.Errorf("a log that is not there: %+v", rows[len(rows)-1])
	}
}

// TestBoardNote: what happens to a log is in its row.
func TestBoardNote(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprint(f, hours(1, 9))
	var board Board
	board.Add("job", time.Time{}, Tracker{})
	go board.Follow(t.Context(), "job", Log{Path: path, Reader: &progress.Reader{}, Every: time.Millisecond, Proc: "/proc"}, time.Now)
	waitFor := func(what string, is func(Row) bool) {
		t.Helper()
		for try := 0; !is(board.Rows(time.Now())[0]); try++ {
			if try == 30_000 {
				t.Fatalf("not %s: %+v", what, board.Rows(time.Now())[0])
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	waitFor("running", func(r Row) bool { return r.State == Running })
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
	waitFor("noted", func(r Row) bool { return r.Note == "the log was cut; it is read again from its beginning" })
}
