package slurm

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/mirage/internal/trace"
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

func TestParseBatch(t *testing.T) {
	job := func(change func(*Ask)) Ask {
		a := Ask{Job: trace.Job{Nodes: 1, Need: &trace.Need{CPUs: 1}}, Tasks: 1, Spread: true}
		change(&a)
		return a
	}
	for line, want := range map[string]Ask{
		"":                              job(func(*Ask) {}),
		"-N2 -t 1-0":                    job(func(a *Ask) { a.Nodes, a.Limit, a.Need.CPUs, a.Spread = 2, 86400, 2, false }),
		"--nodes=2-6 --time 90":         job(func(a *Ask) { a.Nodes, a.Limit, a.Need.CPUs, a.Spread = 2, 5400, 2, false }),
		"-N 1K":                         job(func(a *Ask) { a.Nodes, a.Need.CPUs, a.Spread = 1024, 1024, false }),
		"-n 6 --ntasks-per-node=4 -c 2": job(func(a *Ask) { a.Nodes, a.Need.CPUs, a.Spread = 2, 16, false }),
		"-n 40 --mem-per-cpu=2G":        job(func(a *Ask) { a.Need.CPUs, a.Need.MemoryMB = 40, 80*1024 }),
		"-N 2 --gres=gpu:l40:3,shard:2": job(func(a *Ask) {
			a.Nodes, a.Need.CPUs, a.Need.GPUs, a.GPUType, a.TypedGPUs, a.Spread = 2, 2, 6, "l40", 3, false
		}),
		"-G 8 -N 2 --cpus-per-gpu 4": job(func(a *Ask) { a.Nodes, a.Need.CPUs, a.Need.GPUs, a.Spread = 2, 32, 8, false }),
		"--gpus-per-node=h100:4 -N 2": job(func(a *Ask) {
			a.Nodes, a.Need.CPUs, a.Need.GPUs, a.GPUType, a.TypedGPUs, a.Spread = 2, 2, 8, "h100", 4, false
		}),
		"--exclusive -p a,b -A x -q y":                   job(func(a *Ask) { a.Need.Exclusive, a.Partition, a.Accounts, a.QOS = true, "a,b", []string{"x"}, "y" }),
		"-C ib&genoa -w n1 -x n[2-3] -H":                 job(func(a *Ask) { a.Place, a.Held = Place{Features: "ib&genoa", Required: "n1", Excluded: "n[2-3]"}, true }),
		"-a 0-9:3,15%2":                                  job(func(a *Ask) { a.Tasks, a.Together = 5, 2 }),
		"--begin=now+1hour":                              job(func(a *Ask) { a.Eligible = noon.Unix() + 3600 }),
		"-d afterok:77 --reservation=r":                  job(func(a *Ask) { a.After, a.Reservation = "77", "r" }),
		"--time=5 --time=7":                              job(func(a *Ask) { a.Limit = 420 }),
		"-t UNLIMITED -o log --mail-type=END --parsable": job(func(a *Ask) { a.Limit = trace.Unlimited }),
	} {
		got, unused, err := ParseBatch(strings.Fields(line), noon)
		if diff := cmp.Diff(want, got); diff != "" || err != nil || len(unused) > 0 {
			t.Errorf("%s: %v, %v %s", line, err, unused, diff)
		}
	}
	if _, unused, err := ParseBatch([]string{"-L", "matlab", "--nice"}, noon); err != nil || strings.Join(unused, " ") != "--licenses --nice" {
		t.Errorf("%v, %v", unused, err)
	}
	for _, bad := range []string{"-N 0", "-N two", "-t soon", "--mem=much", "-G none", "-c 0", "-a 5-1", "--begin=never", "-d afterok:1:2", "-d after", "--frobnicate", "word", "-C [a&b|(c]x"} {
		if _, _, err := ParseBatch(strings.Fields(bad), noon); !errors.Is(err, ErrOption) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestComplete: what Slurm adds to a job that says little.
func TestComplete(t *testing.T) {
	s := plainSite()
	s["show partitions"] = "PartitionName=std Default=YES DefaultTime=02:00:00 MaxTime=1-00:00:00 State=UP\n"
	a, _, err := ParseBatch([]string{"-n", "33"}, noon)
	if err != nil {
		t.Fatal(err)
	}
	if a = look(t, s).Complete(a); a.Nodes != 3 || a.Limit != 7200 || a.Partition != "std" {
		t.Errorf("%+v", a)
	}
}
