package slurmview

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/shared/testkit/slurmtest"
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
	if _, unread, err := ParseBatch(map[string]string{"clusters": "east,west", "time-min": "10", "quiet": "yes"}, noon); err != nil || !slices.Equal(unread, []string{"--clusters", "--time-min"}) {
		t.Errorf("unread %v, %v", unread, err)
	}
}

func TestHasPBS(t *testing.T) {
	for script, want := range map[string]bool{
		"#!/bin/sh\n#SBATCH -N 1\n#PBS -l nodes=2\n": true, "#!/bin/sh\n\n  #PBS -q long\r\n": true,
		"#!/bin/sh\ndate\n#PBS -l nodes=2\n": false, "#!/bin/sh\n# PBS\n": false, "": false,
	} {
		if got := HasPBS(script); got != want {
			t.Errorf("%q: %v", script, got)
		}
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

// TestSpread: a job that names no number of nodes gets as many as have room for it.
func TestSpread(t *testing.T) {
	s := plainSite()
	s["show config"] += "SelectTypeParameters = CR_CORE_MEMORY\n"
	s["show partitions"] = "PartitionName=std Default=YES MaxTime=1-00:00:00 State=UP\n"
	var nodes strings.Builder
	for i := range 4 {
		fmt.Fprintf(&nodes, "NodeName=g%d CPUTot=16 RealMemory=256000 Gres=gpu:a100:4 State=IDLE Partitions=std\n", i)
	}
	s["show nodes"] = nodes.String()
	v := look(t, s)
	for line, want := range map[string]int{
		"gpus=8": 2, "gpus=a100:8": 2, "gpus=1": 1, "gpus=5 exclusive=yes": 2, "gpus=8 gpus-per-node=2": 4, "gpus-per-task=1 ntasks=6": 2, "gpus-per-task=3 ntasks=4": 4,
		"mem-per-gpu=100G gpus=8": 4, "mem-per-cpu=40G ntasks=8": 2, "cpus-per-gpu=8 gpus=4": 2, "ntasks=6 ntasks-per-node=4 gpus-per-task=2": 3,
		"nodes=1-4 gpus=12": 3, "tres-per-task=cpu:9 ntasks=3": 3, "mem=200G ntasks=20": 2,
		"gpus=17": 0, "ntasks=3 cpus-per-task=17": -1, "nodes=1-2 gpus=9": -1, "gpus=v100:2": 0,
	} {
		values := map[string]string{}
		for word := range strings.FieldsSeq(line) {
			name, value, _ := strings.Cut(word, "=")
			values[name] = value
		}
		a, _, err := ParseBatch(values, noon)
		if err != nil {
			t.Fatal(line, err)
		}
		done := v.Complete(a)
		_, err = v.AskWaits(done)
		switch {
		case want > 0 && (err != nil || done.Nodes != want):
			t.Errorf("%s: %d nodes, want %d, %v", line, done.Nodes, want, err)
		case want == 0 && !errors.Is(err, cluster.ErrOversize) || want < 0 && !errors.Is(err, ErrNoStart):
			t.Errorf("%s: %v", line, err)
		}
		if line == "mem=200G ntasks=20" && done.Need.MemoryMB != 2*200<<10 {
			t.Errorf("%s: %d MB", line, done.Need.MemoryMB)
		}
	}
}

// TestRealSpread: a real Slurm gives jobs as many nodes as View.Complete predicts.
func TestRealSpread(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	c := slurmtest.Start(t, slurmtest.ShareNodes)
	v, err := (&Client{Runner: Exec{Env: c.Env()}}).Look(t.Context(), time.Now(), Sight{Days: AnswerDays})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"gpus=8", "gpus-per-task=1 ntasks=6", "gpus=8 gpus-per-node=2", "ntasks=9", "cpus-per-gpu=2 gpus=5"} {
		values, argv := map[string]string{}, []string{"sbatch", "--parsable", "--output=/dev/null", "--wrap=exec sleep 300"}
		for word := range strings.FieldsSeq(line) {
			name, value, _ := strings.Cut(word, "=")
			values[name] = value
			argv = append(argv, "--"+word)
		}
		a, _, err := ParseBatch(values, time.Now())
		if err != nil {
			t.Fatal(line, err)
		}
		id, err := c.Run(argv...)
		if err != nil {
			t.Fatal(line, err)
		}
		id = strings.TrimSpace(id)
		nodes := ""
		c.Await("a running job", func() bool {
			out, err := c.Run("squeue", "--noheader", "--states=R", "--jobs="+id, "--format=%D")
			nodes = strings.TrimSpace(out)
			return err == nil && nodes != ""
		})
		if got := v.Complete(a).Nodes; strconv.Itoa(got) != nodes {
			t.Errorf("%s: %d nodes, Slurm gives it %s", line, got, nodes)
		}
		if _, err := c.Run("scancel", id); err != nil {
			t.Fatal(err)
		}
		c.Await("idle nodes", func() bool {
			out, err := c.Run("squeue", "--noheader")
			return err == nil && out == ""
		})
	}
}
