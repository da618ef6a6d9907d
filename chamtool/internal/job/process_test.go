package job_test

import (
	"errors"
	"testing"
	"testing/fstest"

	"github.com/foretime/foretime/chamtool/internal/job"
)

// tree is a /proc: process 12 is a rank of MPICH below a shell, 22 one of Intel MPI, 3 a
// rank of MPICH, 30 a process of a login shell; the others have no usable files.
var tree = func() fstest.MapFS {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	return fstest.MapFS{
		"12/stat": file("12 (a) b) S 11 1 1"), "12/cmdline": file("./a\x00"),
		"11/stat": file("11 (sh) S 10 1 1"), "11/cmdline": file("sh\x00-c\x00./a\x00"),
		"10/stat": file("10 (hydra_pmi_proxy) S 9 1 1"), "10/cmdline": file("/usr/bin/hydra_pmi_proxy\x00--control-port\x00node:34661\x00--rmk\x00user\x00"),
		"9/stat": file("9 (mpiexec) S 1 1 1"), "9/cmdline": file("mpiexec\x00"),
		"22/stat": file("22 (a) S 21 1 1"), "21/stat": file("21 (hydra_pmi_prox) S 20 1 1"), "21/cmdline": file("hydra_pmi_proxy\x00--usize\x00-1\x00"),
		"20/stat": file("20 (hydra_bstrap_pr) S 1 1 1"), "20/cmdline": file("hydra_bstrap_proxy\x00--upstream-host\x00node1\x00--upstream-port\x0041567\x00"),
		"30/stat": file("30 (a) S 31 1 1"), "31/stat": file("31 (sh) S 1 1 1"), "31/cmdline": file("sh\x00"),
		"7/stat": file("7 (x) S 9"), "6/stat": file("6 (x"), "5/stat": file("5 (x) S 4 "), "3/stat": file("3 (x) S 10"), "2/stat": file("2 (x) S 2"), "2/cmdline": file("loop"),
	}
}()

type variables map[string]string

func locate(v variables, pid int) (job.Process, error) {
	lookup := func(name string) (string, bool) { text, ok := v[name]; return text, ok }
	return job.Locate(job.System{Lookup: lookup, Proc: tree, PID: pid, Name: "here-1"})
}

// batch is the environment of a batch script of Slurm 22.05 (see TestRealSlurm).
var batch = variables{"SLURM_JOB_ID": "42", "SLURM_PROCID": "0", "SLURM_NTASKS": "8", "SLURM_LOCALID": "0"}

func in(base, more variables) variables {
	out := variables{}
	for _, v := range []variables{base, more} {
		for name, text := range v {
			out[name] = text
		}
	}
	return out
}

func TestLocate(t *testing.T) {
	srun := in(batch, variables{"SLURM_PROCID": "3", "SLURM_STEP_ID": "1", "SLURM_STEP_NUM_TASKS": "4"})
	openMPI := variables{"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "3", "PMIX_NAMESPACE": "prterun-a@1", "PMIX_RANK": "2"}
	hydra := variables{"PMI_RANK": "1", "PMI_SIZE": "2"}
	for name, tt := range map[string]struct {
		variables variables
		pid       int
		want      job.Process
	}{
		"none":                              {nil, 30, job.Process{Launcher: "none", Job: "job-here-1", Ranks: 1}},
		"batch script":                      {batch, 30, job.Process{Launcher: "none", Job: "job-42-here-1", Ranks: 1}},
		"batch script that names its step":  {in(batch, variables{"SLURM_STEP_ID": "4294967291"}), 30, job.Process{Launcher: "none", Job: "job-42-here-1", Ranks: 1}},
		"srun":                              {srun, 30, job.Process{Launcher: "Slurm", Job: "job-42-1", Rank: 3, Ranks: 4}},
		"srun, PMI 2":                       {in(srun, variables{"PMI_RANK": "3", "PMI_SIZE": "4", "PMI_JOBID": "42.1"}), 30, job.Process{Launcher: "Slurm", Job: "job-42-1", Rank: 3, Ranks: 4}},
		"srun, PMIx":                        {in(srun, variables{"PMIX_RANK": "3", "PMIX_NAMESPACE": "slurm.pmix.42.1"}), 30, job.Process{Launcher: "PMIx", Job: "job-42-slurm.pmix.42.1", Rank: 3, Ranks: 4}},
		"PMIx alone":                        {variables{"PMIX_RANK": "5", "PMIX_NAMESPACE": "17"}, 30, job.Process{Launcher: "PMIx", Job: "job-17", Rank: 5}},
		"Open MPI":                          {openMPI, 30, job.Process{Launcher: "Open MPI", Job: "job-prterun-a_1", Rank: 2, Ranks: 3}},
		"Open MPI 4":                        {variables{"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_MCA_ess_base_jobid": "99"}, 30, job.Process{Launcher: "Open MPI", Job: "job-99", Ranks: 2}},
		"Open MPI in a batch script":        {in(batch, openMPI), 30, job.Process{Launcher: "Open MPI", Job: "job-42-prterun-a_1", Rank: 2, Ranks: 3}},
		"Open MPI started by srun":          {in(srun, openMPI), 30, job.Process{Launcher: "Open MPI", Job: "job-42-prterun-a_1", Rank: 2, Ranks: 3}},
		"MPICH":                             {hydra, 12, job.Process{Launcher: "Hydra", Job: "job-node_34661", Rank: 1, Ranks: 2}},
		"MPICH in a batch script":           {in(batch, hydra), 3, job.Process{Launcher: "Hydra", Job: "job-42-node_34661", Rank: 1, Ranks: 2}},
		"MPICH, proxies started by srun":    {in(srun, hydra), 12, job.Process{Launcher: "Hydra", Job: "job-42-node_34661", Rank: 1, Ranks: 2}},
		"Intel MPI":                         {hydra, 22, job.Process{Launcher: "Hydra", Job: "job-node1_41567", Rank: 1, Ranks: 2}},
		"PMI without a name":                {hydra, 30, job.Process{Launcher: "Hydra", Job: "job-here-1", Rank: 1, Ranks: 2}},
		"a process that is gone":            {hydra, 99, job.Process{Launcher: "Hydra", Job: "job-here-1", Rank: 1, Ranks: 2}},
		"a torn /proc":                      {hydra, 6, job.Process{Launcher: "Hydra", Job: "job-here-1", Rank: 1, Ranks: 2}},
		"a parent without a file":           {hydra, 5, job.Process{Launcher: "Hydra", Job: "job-here-1", Rank: 1, Ranks: 2}},
		"a loop of parents":                 {hydra, 2, job.Process{Launcher: "Hydra", Job: "job-here-1", Rank: 1, Ranks: 2}},
		"a parent that Hydra did not start": {hydra, 7, job.Process{Launcher: "Hydra", Job: "job-here-1", Rank: 1, Ranks: 2}},
	} {
		if got, err := locate(tt.variables, tt.pid); err != nil || got != tt.want {
			t.Errorf("%s: %+v (%v), want %+v", name, got, err, tt.want)
		}
	}
}

// Variables without sense are an error, and the process counts as one of its own.
func TestLocateRejects(t *testing.T) {
	for _, v := range []variables{
		{"OMPI_COMM_WORLD_RANK": "x", "OMPI_COMM_WORLD_SIZE": "2", "PMIX_NAMESPACE": "1"},
		{"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "2", "PMIX_NAMESPACE": "1"},
		{"OMPI_COMM_WORLD_RANK": "-1", "OMPI_COMM_WORLD_SIZE": "2", "PMIX_NAMESPACE": "1"},
		{"SLURM_JOB_ID": "4", "SLURM_STEP_ID": "0", "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "0"},
	} {
		if p, err := locate(v, 30); !errors.Is(err, job.ErrLauncher) || p.Launcher != "none" || p.Rank != 0 || p.Ranks != 1 {
			t.Errorf("%v: %+v, %v", v, p, err)
		}
	}
}
