package host_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/foretime/foretime/chamtool/host"
	"github.com/foretime/foretime/chamtool/internal/testkit/mpitest"
	"github.com/foretime/foretime/shared/testkit/slurmtest"
)

// TestRealSlurm submits the batch script of docs/reference.md, twice in one folder, to a real
// Slurm: both jobs leave the logs of both ranks, the second in a folder of its own.
func TestRealSlurm(t *testing.T) {
	slurmtest.Need(t)
	mpitest.ForEachMPI(t, os.Getenv("PATH"), testSlurm)
}

func testSlurm(t *testing.T) {
	tool, _ := need(t)
	c := slurmtest.Start(t)
	p, err := host.Build(t.Context(), c.Dir, host.Options{MPI: true})
	if err != nil {
		t.Fatal(err)
	}
	mpirun, err := host.Launch(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	script := batchScript(t)
	for from, to := range map[string]string{
		"/apps/chamtool/libchamtool.so": tool,
		"./your_program":                p.Path + " --threads 2 --tasks 50 --iterations 5",
		"$HOME":                         c.Dir,
		"mpirun -n 2":                   strings.Join(mpirun, " "),
		"--ntasks=2":                    "--ntasks=1", // of the one processor that a node of the test has
	} {
		if !strings.Contains(script, from) {
			t.Fatalf("the script has no %s", from)
		}
		script = strings.ReplaceAll(script, from, to)
	}
	if err := os.WriteFile(filepath.Join(c.Dir, "job.sbatch"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, logs := range []string{"logs", "logs/job-JOB-*"} {
		out, err := c.Run("sh", "-c", "cd "+c.Dir+" && sbatch --parsable --output=%j.out job.sbatch")
		if err != nil {
			t.Fatal(err)
		}
		job := strings.TrimSpace(out)
		c.Await("the job's end", func() bool {
			out, err := c.Run("squeue", "--noheader", "--jobs="+job, "--states=PENDING,RUNNING,COMPLETING")
			return err == nil && out == ""
		})
		dir := filepath.Join(c.Dir, strings.ReplaceAll(logs, "JOB", job))
		for _, name := range []string{"chamtool_rank_0.csv", "chamtool_rank_1.csv", "chamtool_summary_rank_0.json", "chamtool_summary_rank_1.json"} {
			if found, _ := filepath.Glob(filepath.Join(dir, name)); len(found) != 1 {
				said, _ := os.ReadFile(filepath.Join(c.Dir, job+".out"))
				t.Fatalf("no %s in %s; the job said:\n%s", name, dir, said)
			}
		}
	}
}

// batchScript is that of docs/reference.md.
func batchScript(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", "reference.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)batch script: run by a test -->\n```sh\n(.*?)```").FindSubmatch(text)
	if found == nil {
		t.Fatal("no batch script in docs/reference.md")
	}
	return string(found[1])
}
