package trial

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/deft/internal/experiment"
	"github.com/foretime/foretime/deft/internal/policy"
)

// What a configuration says of a model reaches its program on a GPU.
func TestProgramsOnAGPU(t *testing.T) {
	machine := CUDA("hook", "python3", "run_model.py", t.TempDir(), []string{"PYTHONPATH=before"})
	x := &experiment.Experiment{DeviceID: 1, Duration: 2 * time.Second, MinJobs: 3}
	p, err := machine.Program(&experiment.Model{
		ModelName: "resnet18", OutputName: "a", PythonPath: "/their/python", RepoPath: "/their/repo",
		Terms: policy.Terms{Deadline: 5 * time.Millisecond}, Period: 20 * time.Millisecond, Compile: true,
	}, x)
	args := strings.Join(p.Args, " ")
	if err != nil || p.Path != "python3" || p.Env != nil || !strings.HasSuffix(args, " 1 2 --sync-model-load --min-jobs 3 --slo-ms 5 --period-ms 20 --compile") {
		t.Errorf("%s %q %q, %v", p.Path, args, p.Env, err)
	}
	p, err = machine.Program(&experiment.Model{ModelName: "codegen-350M-mono", OutputName: "b", PythonPath: "/their/python", RepoPath: "/their/repo"}, x)
	if err != nil || p.Path != "/their/python" || !slices.Equal(p.Env, []string{"PYTHONPATH=/their/repo:before"}) {
		t.Errorf("%s %q, %v", p.Path, p.Env, err)
	}
}
