package slurm

import (
	"errors"
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
