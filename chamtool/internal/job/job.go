package job

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/foretime/foretime/chamtool/internal/summary"
	"github.com/foretime/foretime/chamtool/internal/task"
	"github.com/foretime/foretime/shared/plural"
)

// ErrNoLogs is returned for a directory without a rank's log.
var ErrNoLogs = errors.New("no logs of chamtool in this directory")

// Job is the logs of a job's ranks.
type Job struct {
	Dir     string
	Ranks   []Rank  // in order
	Missing []int   // ranks without a log that can be read
	Torn    []int   // ranks whose log has lines that cannot be read, or that did not come to their end
	Reasons []error // of both
}

// Rank is one rank's log.
type Rank struct {
	Rank    int
	Log     *task.Log
	Summary *summary.Summary // nil where there is none
}

// names match the log files of a rank, in order of precedence. The original tool's layout
// contains neither functions nor lanes.
var names = []*regexp.Regexp{
	regexp.MustCompile(`^chamtool_rank_(\d+)\.csv(\.gz)?$`),
	regexp.MustCompile(`^chamtool_logfile_rank_(\d+)\.csv(\.gz)?$`),
	regexp.MustCompile(`^chamtool_summary_rank_(\d+)\.json$`),
}

// summaries is the place of the summary in names, and fileKinds their number.
const summaries, fileKinds = 2, 3

// Load reads a directory of logs, and calls read with numbers of bytes read from logs; nil is not
// called.
func Load(ctx context.Context, dir string, read func(bytes int)) (*Job, error) {
	files, err := find(dir)
	if err != nil {
		return nil, err
	}
	j := &Job{Dir: dir, Missing: []int{}, Torn: []int{}}
	count := 0
	for _, rank := range slices.Sorted(maps.Keys(files)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		count = max(count, rank+1, j.rank(ctx, rank, files[rank], read))
	}
	if err := ctx.Err(); err != nil {
		return nil, err // a log that was cut short is none that is torn
	}
	if len(j.Ranks) == 0 {
		return nil, errors.Join(append([]error{fmt.Errorf("%s: %w", dir, ErrNoLogs)}, j.Reasons...)...)
	}
	for rank := range count {
		if !slices.ContainsFunc(j.Ranks, func(r Rank) bool { return r.Rank == rank }) {
			j.Missing = append(j.Missing, rank)
		}
	}
	if why := j.missing(); why != "" {
		j.Reasons = append(j.Reasons, errors.New(why))
	}
	return j, nil
}

// HasLogs reports whether a directory has a rank's log or summary.
func HasLogs(dir string) bool {
	files, err := find(dir)
	return err == nil && len(files) > 0
}

// find returns the files of each rank, by their kind in names.
func find(dir string) (map[int][fileKinds]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	files := map[int][fileKinds]string{}
	for _, e := range entries {
		for kind, pattern := range names {
			m := pattern.FindStringSubmatch(e.Name())
			if m == nil {
				continue
			}
			rank, err := strconv.Atoi(m[1])
			path := filepath.Join(dir, e.Name())
			if err != nil || rank >= 1<<20 {
				return nil, fmt.Errorf("%s: no job has a rank of this number", path)
			}
			of := files[rank]
			of[kind] = path
			files[rank] = of
		}
	}
	return files, nil
}

// rank reads one rank's files, and returns the number of ranks in its summary.
func (j *Job) rank(ctx context.Context, rank int, files [fileKinds]string, read func(int)) (ranks int) {
	one := Rank{Rank: rank}
	if files[summaries] != "" {
		if s, err := summary.Read(files[summaries]); err != nil {
			j.Reasons = append(j.Reasons, err)
		} else {
			one.Summary, ranks = s, s.Ranks
		}
	}
	for _, path := range files[:summaries] {
		if path == "" {
			continue
		}
		log, err := task.Scan(ctx, path, task.Options{Read: read})
		if errors.Is(err, task.ErrEmpty) && one.Summary != nil && (one.Summary.Ended > 0 || len(one.Summary.Times) > 0) {
			if one.Summary.Ended > 0 && one.countUnlogged() == 0 {
				j.Reasons = append(j.Reasons, err)
			}
			log, err = &task.Log{Name: path, Format: task.FormatCSV}, nil // its tasks were only counted
		}
		if err != nil {
			j.Reasons = append(j.Reasons, err)
			continue
		}
		one.Log = log
		break
	}
	if one.Log == nil {
		if one.Summary != nil && !one.Summary.Complete {
			j.Reasons = append(j.Reasons, fmt.Errorf("rank %d: %w", rank, missingEnd(one.Summary, 0)))
		}
		return ranks
	}
	if why := tornReason(one); why != nil {
		j.Torn = append(j.Torn, rank)
		j.Reasons = append(j.Reasons, fmt.Errorf("%s: %w", one.Log.Name, why))
	}
	j.Ranks = append(j.Ranks, one)
	return ranks
}

// missingEnd returns the error for a program whose end the tool did not see.
func missingEnd(s *summary.Summary, rows int) error {
	return fmt.Errorf("the tool did not see the program's end (_exit, exec, a kill, or it still runs): its log has %s, its counts end %.3g s after the start at %s created; what came later is missing", plural.Count(rows, "row"), s.RunSeconds, plural.Count(int(s.Created), "task"))
}

// countUnlogged returns the number of tasks that the log had no room for.
func (r *Rank) countUnlogged() int {
	if r.Summary == nil || r.Summary.Unlogged == nil {
		return 0
	}
	return r.Summary.Unlogged.Count
}

// tornReason returns an error if a log is not whole.
func tornReason(r Rank) error {
	switch {
	case r.Summary != nil && r.Summary.RowsLost > 0:
		return fmt.Errorf("its log has only %d of %s, the others could not be written (no room on the disk, or a limit of file sizes): times and shares of functions are unknown", len(r.Log.Rows), plural.Count(int(r.Summary.Ended), "run"))
	case r.Summary != nil && !r.Summary.Complete && !r.Summary.Signal:
		return missingEnd(r.Summary, len(r.Log.Rows))
	case r.Log.Counts.Dropped > 0:
		return fmt.Errorf("%s of its log cannot be read", plural.Count(r.Log.Counts.Dropped, "line"))
	case r.Summary != nil && uint64(len(r.Log.Rows)+r.countUnlogged()) < r.Summary.Ended-r.Summary.Incomplete:
		return fmt.Errorf("its log has only %d of %s", len(r.Log.Rows), plural.Count(int(r.Summary.Ended), "run"))
	case r.Summary == nil && r.Log.Format != task.FormatTab:
		return errors.New("no summary: the program ended early")
	}
	return nil
}
