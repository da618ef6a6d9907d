package jobspec

import (
	"regexp"
	"strings"
	"testing"
)

// A job is named after its script or program, whatever starts it.
func TestNameOf(t *testing.T) {
	for command, want := range map[string]string{
		"./train.sh {epochs}":                                 "train",
		"/opt/bin/gromacs -s run.tpr":                         "gromacs",
		"python3 train.py --epochs 5":                         "train",
		"/usr/bin/python3.12 -u src/net.train.py":             "net.train",
		"python3 -m pkg.train --epochs 5":                     "pkg.train",
		"python3 -m torch.distributed.run --nproc 2 train.py": "train",
		"torchrun --nproc_per_node 4 train.py":                "train",
		"srun -n 4 ./solver input.dat":                        "solver",
		"env A=1 nice bash run.sh":                            "run",
		"sh -c train":                                         "sh-[0-9a-f]{6}",
		"python3":                                             "python3-[0-9a-f]{6}",
	} {
		if got := nameOf(strings.Fields(command)); !regexp.MustCompile("^" + want + "$").MatchString(got) {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}
