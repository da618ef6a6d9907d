package launch

import (
	"os"
	"path/filepath"
	"testing"
)

// fakeSMI is a stand-in for nvidia-smi: it prints the files of its folder, again
// and again.
const fakeSMI = `#!/bin/sh
while :; do cat "$(dirname "$0")/gpus"; sleep 0.05; done
`

// A GPU that a process has open was used where nvidia-smi shows memory or work since
// the run began; else it is open and no more.
func TestSMI(t *testing.T) {
	for _, tt := range []struct {
		name, job string
		want      Evidence
	}{
		{"idle", "sleep 1", GPUOpen},
		{"memory", "echo 0, 0, 500 >gpus; sleep 1", GPUUsed},
		{"a little memory of somebody's", "echo 0, 0, 101 >gpus; sleep 1", GPUOpen},
		{"work", "echo 0, 37, 100 >gpus; sleep 1", GPUUsed},
		{"not told", "echo '0, [N/A], [N/A]' >gpus; sleep 1", GPUOpen},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"nvidia-smi": fakeSMI, "gpus": "0, 0, 100\n", "nvidia0": ""} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		r := New(Settings{Scratch: t.TempDir(), GPUDevices: []string{filepath.Join(dir, "nvidia[0-9]*")}, SMI: filepath.Join(dir, "nvidia-smi")})
		res, err := r.Run(t.Context(), Command{Args: []string{"sh", "-c", "exec 3<nvidia0; " + tt.job}, Dir: dir, Env: os.Environ(), GPU: true})
		if err != nil || res.Err != nil {
			t.Fatal(tt.name, err, res)
		}
		if res.GPU != tt.want || !res.GPUWatched {
			t.Errorf("%s: evidence %d, want %d", tt.name, res.GPU, tt.want)
		}
	}
}
