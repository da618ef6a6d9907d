package cli

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// TestBatch: jobs as sbatch's options describe them.
func TestBatch(t *testing.T) {
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	parse := func(line string) (a slurmview.Ask, unread []string, err error) {
		values, err := batchValues(strings.Fields(line))
		if err != nil {
			return a, nil, err
		}
		return slurmview.ParseBatch(values, noon)
	}
	job := func(change func(*slurmview.Ask)) slurmview.Ask {
		a := slurmview.Ask{Job: trace.Job{Nodes: 1, Need: &trace.Need{CPUs: 1}}, Tasks: 1, Spread: true}
		change(&a)
		return a
	}
	gpus := func(nodes, cpus, gpus int) slurmview.Ask {
		return job(func(a *slurmview.Ask) { a.Nodes, a.Need.CPUs, a.Need.GPUs = nodes, cpus, gpus })
	}
	for line, want := range map[string]slurmview.Ask{
		"":                              job(func(*slurmview.Ask) {}),
		"-N2 -t 1-0":                    job(func(a *slurmview.Ask) { a.Nodes, a.Limit, a.Need.CPUs, a.Spread = 2, 86400, 2, false }),
		"--nodes=2-6 --time 90":         job(func(a *slurmview.Ask) { a.Nodes, a.MostNodes, a.Limit, a.Need.CPUs = 2, 6, 5400, 2 }),
		"-N 1K":                         job(func(a *slurmview.Ask) { a.Nodes, a.Need.CPUs, a.Spread = 1024, 1024, false }),
		"-n 6 --ntasks-per-node=4 -c 2": job(func(a *slurmview.Ask) { a.Nodes, a.Need.CPUs = 2, 12 }),
		"-n 40 --mem-per-cpu=2G":        job(func(a *slurmview.Ask) { a.Need.CPUs, a.Need.MemoryMB = 40, 80*1024 }),
		"-N 2 --gres=gpu:l40:3": job(func(a *slurmview.Ask) {
			a.Nodes, a.Need.CPUs, a.Need.GPUs, a.GPUType, a.TypedGPUs, a.Spread = 2, 2, 6, "l40", 3, false
		}),
		"-G 8":                                  gpus(1, 1, 8),
		"-G 8 --gpus-per-node=2":                gpus(4, 4, 8),
		"-G 8 --gpus-per-task=2 -c 3":           gpus(1, 12, 8),
		"--tres-per-task=cpu:4,gres/gpu:1 -n 2": gpus(1, 8, 2),
		"--tres-per-task=cpu=4,gres/gpu=2":      gpus(1, 4, 2),
		"-G 8 -N 2 --cpus-per-gpu 4":            job(func(a *slurmview.Ask) { a.Nodes, a.Need.CPUs, a.Need.GPUs, a.Spread = 2, 32, 8, false }),
		"--gpus-per-node=h100:4 -N 2": job(func(a *slurmview.Ask) {
			a.Nodes, a.Need.CPUs, a.Need.GPUs, a.GPUType, a.TypedGPUs, a.Spread = 2, 2, 8, "h100", 4, false
		}),
		"--exclusive -p a,b -A x -q y": job(func(a *slurmview.Ask) {
			a.Need.Exclusive, a.Partition, a.Accounts, a.QOS = true, "a,b", []string{"x"}, "y"
		}),
		"-C ib&genoa -w n1 -x n[2-3] -H": job(func(a *slurmview.Ask) {
			a.Place, a.Held = slurmview.Place{Features: "ib&genoa", Required: "n1", Excluded: "n[2-3]"}, true
		}),
		"-a 0-9:3,15%2":                                  job(func(a *slurmview.Ask) { a.Tasks, a.Together = 5, 2 }),
		"--begin=now+1hour":                              job(func(a *slurmview.Ask) { a.Eligible = noon.Unix() + 3600 }),
		"-d afterok:77 --reservation=r":                  job(func(a *slurmview.Ask) { a.After, a.Outcomes, a.Reservation = "77", []string{"afterok:77"}, "r" }),
		"-d afterok:77:78":                               job(func(a *slurmview.Ask) { a.After, a.Outcomes = "77,78", []string{"afterok:77", "afterok:78"} }),
		"--time=5 --time=7":                              job(func(a *slurmview.Ask) { a.Limit = 420 }),
		"-t UNLIMITED -o log --mail-type=END --parsable": job(func(a *slurmview.Ask) { a.Limit = trace.Unlimited }),
	} {
		got, unread, err := parse(line)
		got.Amounts = slurmview.Amounts{} // as the need shows
		if diff := cmp.Diff(want, got); diff != "" || err != nil || len(unread) > 0 {
			t.Errorf("%s: %v, %v %s", line, err, unread, diff)
		}
	}
	for line, want := range map[string]string{
		"-L matlab --nice": "--nice", "--gres=gpu:a100:1,shard:2": "--gres=shard:2",
		"--tres-per-task=cpu:4,license/matlab:1": "--tres-per-task=license/matlab:1", "--gpus-per-socket=2 --sockets-per-node=2": "--sockets-per-node --gpus-per-socket",
	} {
		if _, unread, err := parse(line); err != nil || strings.Join(unread, " ") != want {
			t.Errorf("%s: %v, %v", line, unread, err)
		}
	}
	for _, bad := range []string{"-N 0", "-N 2-1", "-N two", "-t soon", "--mem=much", "-G none", "-c 0", "-a 5-1", "--begin=never", "-d after", "--frobnicate", "word", "-C [a&b|(c]x"} {
		if _, _, err := parse(bad); !errors.Is(err, slurmview.ErrOption) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestLastOptions: of a script with more options than an argument list holds the last of each
// count.
func TestLastOptions(t *testing.T) {
	options, err := slurmview.Script("#!/bin/sh\n" + strings.Repeat("#SBATCH --comment=a -N 2 --exclusive\n", 200_000) + "#SBATCH --exclusive=user -N 3 --requeue\n")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := lastOptions(options), []string{"--comment=a", "--exclusive=user", "--nodes=3", "--requeue"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
