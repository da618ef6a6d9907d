package job

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/foretime/foretime/chamtool/internal/summary"
)

// Run summarises the logs of one job in a directory.
type Run struct {
	Dir      string `json:"directory"`
	Program  string `json:"program"` // several names if the ranks run different programs
	Began    string `json:"began"`   // RFC 3339; "" if unknown
	Ranks    int    `json:"ranks"`   // with a summary
	Tasks    uint64 `json:"tasks"`   // that ended, as far as counted
	Complete bool   `json:"complete"`
}

// Runs lists the runs in a directory and the directories directly below it, in the order of
// their starts. It ignores summaries that cannot be read: [Load] reports them.
func Runs(root string) ([]Run, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	dirs := []string{root}
	for _, e := range entries {
		if e.IsDir() {
			dirs = append(dirs, filepath.Join(root, e.Name()))
		}
	}
	runs := []Run{}
	for _, dir := range dirs {
		if r := readRun(dir); r.Ranks > 0 {
			runs = append(runs, r)
		}
	}
	slices.SortStableFunc(runs, func(a, b Run) int { return cmp.Compare(a.Began, b.Began) })
	return runs, nil
}

func readRun(dir string) Run {
	r := Run{Dir: dir, Complete: true}
	files, _ := find(dir)
	var programs []string
	for _, rank := range slices.Sorted(maps.Keys(files)) {
		s, err := summary.Read(files[rank][summaries])
		if err != nil {
			continue
		}
		r.Ranks++
		r.Tasks += s.Ended
		r.Complete = r.Complete && s.Complete
		if s.Program != "" && !slices.Contains(programs, s.Program) {
			programs = append(programs, s.Program)
		}
		if r.Began == "" || s.Began < r.Began {
			r.Began = s.Began
		}
	}
	slices.Sort(programs)
	r.Program = strings.Join(programs, ", ")
	return r
}
