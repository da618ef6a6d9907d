package simcuda_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/deft/simcuda"
)

func TestCommand(t *testing.T) {
	c := simcuda.Command{
		Profile: "p.txt", CSV: "a.csv", Duration: 1500 * time.Millisecond, MinJobs: 1, Sleep: 50 * time.Millisecond,
		Launch: 5 * time.Microsecond, MemoryBytes: 1e9, Graph: 4,
	}
	want := strings.Fields("--barrier --profile p.txt --csv a.csv --dur-s 1.5 --min-jobs 1 --sleep-ms 50 --launch-ns 5000 --mem-bytes 1000000000 --graph-kernels 4")
	if diff := cmp.Diff(want, c.Args()); diff != "" {
		t.Error(diff)
	}
}
