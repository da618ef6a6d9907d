package checker

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// TestLonestar6Invariants has the checker look at every discipline.
func TestLonestar6Invariants(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one thread computes")
	}
	data := os.Getenv("FORETIME_DATA")
	if data == "" {
		t.Skip("needs the data folder that FORETIME_DATA names")
	}
	log, err := trace.Open(filepath.Join(data, "ls6-a100", "ls6-a100-2022-10_2023-02.log"), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	from, _ := log.Date("2022-11-01")
	to, _ := log.Date("2023-03-01")
	jobs := log.Between(from, to)
	for _, d := range disciplines() {
		t.Run(string(d), func(t *testing.T) {
			table := Table{Jobs: jobs, Machine: cluster.Machine{Nodes: 75}, Rules: cluster.Defaults(d)}
			table.Rules.UserLimit = 8
			out, err := simulate(table, nil)
			if err != nil {
				t.Fatal(err)
			}
			report := Check(table, out)
			if err := report.Err(); err != nil {
				t.Error(err)
			}
		})
	}
}
