package cli

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/internal/estimate"
	"github.com/foretime/foretime/allox-est/internal/follow"
	"github.com/foretime/foretime/allox-est/internal/history"
	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/allox-est/internal/progress"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/crash"
	"github.com/foretime/foretime/shared/file"
)

// loop is a program's loop whose progress is read from the standard input.
type loop struct {
	env     *cli.Env
	total   int
	name    string
	journal string
	own     bool // it is the one in the state directory, which is bounded
	parent  int  // the process with which this one ends
	tracker follow.Tracker
	marks   []progress.Mark
}

// newTrackCommand returns "track": estimates for a progress bar.
func newTrackCommand(env *cli.Env) *cobra.Command {
	l := loop{env: env}
	cmd := &cobra.Command{
		Use:   "track --total N",
		Short: "Estimate the rest of a loop that reports its progress on the standard input",
		Long: `Read the progress of a loop, a line "DONE SECONDS" for the items done and the seconds
since its begin, and print the estimated time left as a JSON line. A line "end SECONDS"
ends a loop that did all: it is added to the journal, and later ones of its name are
predicted with it. track of the Python package allox_est starts this command; it ends
with the program that started it.`,
		Example: `  allox-est track --total 100 --name train.py`,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return l.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.IntVar(&l.total, "total", 0, "items of the loop")
	flags.StringVar(&l.name, "name", "loop", "name of the loop")
	flags.IntVar(&l.parent, "parent", 0, "process with which this one ends (default: the one that started it)")
	flags.StringVar(&l.journal, "journal", "", "journal of the loops (default: in the user's state directory)")
	return cmd
}

// The least seconds of a loop that is kept, its marks, and the time between two looks at
// whether the program that started this one still runs.
const (
	keptSeconds = 1
	loopMarks   = 256
	parentEvery = time.Second
)

// loopBytes bounds the journal in the state directory: beyond, it becomes the older one,
// and the loops of the one before that are dropped.
const (
	loopBytes   = 2 << 20
	olderSuffix = ".old"
)

func (l *loop) run(ctx context.Context) error {
	if l.total <= 0 {
		return cli.Usagef("--total %d: want the number of items", l.total)
	}
	if l.journal == "" && l.env.State != "" {
		l.journal, l.own = filepath.Join(l.env.State, "foretime", "loops.jsonl"), true
	}
	l.tracker.Job = estimate.Job{Epochs: l.total, Unit: "item"}
	l.past()
	lines := make(chan string, 64)
	crash.Go(func() {
		defer close(lines)
		for in := bufio.NewScanner(file.Interruptible(l.env.Stdin)); in.Scan(); {
			select {
			case lines <- in.Text():
			case <-ctx.Done():
				return
			}
		}
	})
	parent, tick := cmp.Or(l.parent, os.Getppid()), time.NewTicker(parentEvery)
	defer tick.Stop()
	for {
		select {
		case line, more := <-lines:
			if !more {
				return nil
			}
			if err := l.line(line, len(lines) == 0); err != nil {
				return err
			}
		case <-tick.C:
			if os.Getppid() != parent {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// line takes a line of the loop, and prints the estimate if it is the last one that has
// come.
func (l *loop) line(text string, last bool) error {
	var done, seconds float64
	if _, err := fmt.Sscanf(text, "end %g", &seconds); err == nil {
		return l.end(seconds)
	}
	if _, err := fmt.Sscanf(text, "%g %g", &done, &seconds); err != nil || !(done >= 0 && seconds >= 0) {
		return fmt.Errorf("standard input: %q: want the items done and the seconds", text)
	}
	if n := len(l.marks); n > 0 && (done <= l.marks[n-1].Number || seconds <= l.marks[n-1].Seconds) {
		return nil
	}
	l.marks = progress.Thin(append(l.marks, progress.Mark{Number: done, Of: float64(l.total), Seconds: seconds}), loopMarks)
	if !last {
		return nil
	}
	u, more, err := l.tracker.Estimate(l.marks)
	if err != nil || !more {
		return err
	}
	return l.env.WriteJSONLine(u)
}

// job returns the hash that runs of this loop have in common.
func (l *loop) job() string {
	sum := sha256.Sum256([]byte("loop\x00" + l.name))
	return hex.EncodeToString(sum[:])
}

// past reads the earlier runs of the loop. A journal that cannot be read costs a warning.
func (l *loop) past() {
	if l.journal == "" {
		return
	}
	all := &journal.Journal{}
	for _, path := range []string{l.journal + olderSuffix, l.journal} {
		j, err := journal.ReadAll(path)
		if err != nil {
			l.env.Log.Warnf("earlier loops are not used: %v", err)
			continue
		}
		all.Runs = append(all.Runs, j.Runs...)
	}
	l.tracker.Past = history.Of(all.Runs, journal.Run{Job: l.job(), Device: jobspec.CPU})
}

// end keeps the loop in the journal.
func (l *loop) end(seconds float64) error {
	if l.journal == "" || seconds < keptSeconds || len(l.marks) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(l.journal), 0o755); err != nil {
		return err
	}
	if info, err := os.Stat(l.journal); err == nil && l.own && info.Size() >= loopBytes {
		if err := os.Rename(l.journal, l.journal+olderSuffix); err != nil {
			return err
		}
	}
	name, _, _ := strings.Cut(l.name, ":")
	_, err := journal.Add(l.journal, journal.Run{
		Job: l.job(), Name: cmp.Or(name, "loop"), Kind: journal.Full, Device: jobspec.CPU, Epochs: l.total,
		Start: time.Now().Add(-time.Duration(seconds * float64(time.Second))),
		Wall:  seconds, Marks: slices.Clone(l.marks),
	})
	return err
}
