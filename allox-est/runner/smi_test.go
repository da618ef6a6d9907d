package runner

import (
	"os"
	"path/filepath"
	"testing"
)

// fakeSMI is a stand-in for nvidia-smi: it prints the files of its folder, again
// and again.
const fakeSMI = `#!/bin/sh
case $1 in *compute-apps*) file=apps ;; *) file=gpus ;; esac
while :; do cat "$(dirname "$0")/$file"; sleep 0.05; done
`

// A GPU that a process has open was used where nvidia-smi knows the process, or,
// by numbers of the host's, memory or work since the run began; else it is open
// and no more.
func TestSMI(t *testing.T) {
	for _, tt := range []struct {
		name, job string
		want      Evidence
		bytes     int64
	}{
		{"idle", "sleep 1", GPUOpen, 0},
		{"its process", "echo $$, 300 >apps; sleep 1", GPUUsed, 0},
		{"another's process", "echo 999999, 300 >apps; sleep 1", GPUOpen, 0},
		{"memory", "echo 0, 0, 500 >gpus; sleep 1", GPUUsed, 400 << 20},
		{"a little memory of somebody's", "echo 0, 0, 101 >gpus; sleep 1", GPUOpen, 0},
		{"work", "echo 0, 37, 100 >gpus; sleep 1", GPUUsed, 0},
		{"not told", "echo '0, [N/A], [N/A]' >gpus; sleep 1", GPUOpen, 0},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"nvidia-smi": fakeSMI, "gpus": "0, 0, 100\n", "apps": "", "nvidia0": ""} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		r := New(Settings{Scratch: t.TempDir(), GPUDevices: []string{filepath.Join(dir, "nvidia[0-9]*")}, SMI: filepath.Join(dir, "nvidia-smi")})
		res, err := r.Run(t.Context(), Command{Args: []string{"sh", "-c", "exec 3<nvidia0; " + tt.job}, Dir: dir, Env: os.Environ(), GPU: true})
		if err != nil || res.Err != nil {
			t.Fatal(tt.name, err, res)
		}
		if res.GPU != tt.want || res.GPUBytes != tt.bytes || !res.GPUWatched || (res.GPUTrace != nil) != (tt.bytes > 0) {
			t.Errorf("%s: evidence %d, %d bytes, trace %v; want %d, %d", tt.name, res.GPU, res.GPUBytes, res.GPUTrace, tt.want, tt.bytes)
		}
	}
}
