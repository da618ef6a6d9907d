package slurm

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScript(t *testing.T) {
	got, err := Script("#!/bin/sh\n# a comment\n#SBATCH -N 3   # nodes\n\n#SBATCH --job-name='two words' --mem=\"4G\"\n  #SBATCH -t10\r\nmodule load x\n#SBATCH -N 9\n")
	want := []string{"-N", "3", "--job-name=two words", "--mem=4G", "-t10"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if _, err := Script("#SBATCH --job-name='open\n"); !errors.Is(err, ErrOption) {
		t.Errorf("a quote that is not closed: %v", err)
	}
	if _, err := Script("#!/bin/sh\n#SBATCH -N 2\n#SBATCH hetjob\n#SBATCH -N 1\n"); !errors.Is(err, ErrOption) || !strings.Contains(err.Error(), "line 3: ") {
		t.Errorf("a heterogeneous job: %v", err)
	}
	if _, unused, err := ParseBatch(map[string]string{"clusters": "east,west", "time-min": "10", "quiet": "yes"}, noon); err != nil || !slices.Equal(unused, []string{"--clusters", "--time-min"}) {
		t.Errorf("unused %v, %v", unused, err)
	}
}

// TestComplete: what Slurm adds to a job that says little.
func TestComplete(t *testing.T) {
	s := plainSite()
	s["show partitions"] = "PartitionName=std Default=YES DefaultTime=02:00:00 MaxTime=1-00:00:00 State=UP\n"
	a, _, err := ParseBatch(map[string]string{"ntasks": "33"}, noon)
	if err != nil {
		t.Fatal(err)
	}
	if a = look(t, s).Complete(a); a.Nodes != 3 || a.Limit != 7200 || a.Partition != "std" {
		t.Errorf("%+v", a)
	}
}
