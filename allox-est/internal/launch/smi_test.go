package launch

import (
	"os"
	"path/filepath"
	"testing"
)

// fakeSMI is a stand-in for nvidia-smi: it prints the files of its folder, again
// and again.
const fakeSMI = `#!/bin/sh
cd "$(dirname "$0")"
while :; do cat gpus; echo >>reads; sleep 0.05; done
`

// showSMI is a shell function that writes the new state of the GPUs, if any, and waits until
// nvidia-smi has printed it.
const showSMI = `show() {
	if [ $# -gt 0 ]; then printf "$1" >new; mv new gpus; fi
	n=$(($(wc -l <reads) + 3)); while [ $(wc -l <reads) -lt $n ]; do sleep 0.05; done
}
`

// A GPU that a process has open was used where nvidia-smi shows memory or work since
// the run began; else it is open and no more.
func TestSMI(t *testing.T) {
	for _, tt := range []struct {
		name, job string
		want      Evidence
		peak      int64 // MiB
	}{
		{"idle", "show", GPUOpen, 0},
		{"memory", `show '0, 0, 500\n'; show '0, 0, 300\n'`, GPUUsed, 400},
		{"a little memory of somebody's", `show '0, 0, 101\n'`, GPUOpen, 0},
		{"work", `show '0, 37, 100\n'`, GPUUsed, 0},
		{"not told", `show '0, [N/A], [N/A]\n'`, GPUOpen, 0},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"nvidia-smi": fakeSMI, "gpus": "0, 0, 100\n", "reads": "", "nvidia0": ""} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		r := New(Settings{Scratch: t.TempDir(), GPUDevices: []string{filepath.Join(dir, "nvidia[0-9]*")}, SMI: filepath.Join(dir, "nvidia-smi")})
		res, err := r.Run(t.Context(), Command{Args: []string{"sh", "-c", showSMI + "exec 3<nvidia0; " + tt.job + "; sleep 1"}, Dir: dir, Env: os.Environ(), GPU: true})
		if err != nil || res.Err != nil {
			t.Fatal(tt.name, err, res)
		}
		if res.GPU != tt.want || !res.GPUWatched || res.GPUPeakBytes != tt.peak<<20 {
			t.Errorf("%s: evidence %d, want %d; peak %d", tt.name, res.GPU, tt.want, res.GPUPeakBytes)
		}
	}
}

// The user's own job has a peak on whatever device it was said to run.
func TestSMIOfOwnJob(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"nvidia-smi": fakeSMI, "gpus": "0, 0, 100\n1, 0, 50\n", "reads": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	input, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	const script = showSMI + `show; show '0, 0, 500\n1, 0, 50\n'; show '0, 0, 300\n1, 0, 250\n'`
	j := NewJob(Settings{Scratch: t.TempDir(), SMI: filepath.Join(dir, "nvidia-smi")}, nil)
	res, err := j.Run(t.Context(), Command{Args: []string{"sh", "-c", script}, Dir: dir, Env: os.Environ(), Input: input})
	if err != nil || res.Err != nil || res.GPUPeakBytes != 600<<20 {
		t.Errorf("%+v, %v, want a peak of 600 MiB", res, err)
	}
}
