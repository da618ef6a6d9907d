package mpitest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// ForEachMPI runs a test once per MPI that is installed, each time with that one's mpicc and
// mpirun before path, the present PATH, and skips it where there is none.
func ForEachMPI(t *testing.T, path string, test func(*testing.T)) {
	t.Helper()
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
	var several []string
	for _, name := range []string{"openmpi", "mpich"} {
		if installed("mpicc."+name, "mpirun."+name) {
			several = append(several, name)
		}
	}
	if len(several) == 0 {
		if !installed("mpicc", "mpirun") {
			t.Skip("needs MPI: install with apt-get install openmpi-bin libopenmpi-dev")
		}
		test(t)
		return
	}
	for _, name := range several {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, program := range []string{"mpicc", "mpirun"} { // no links: Hydra looks for its parts next to itself
				text := fmt.Sprintf("#!/bin/sh\nexec %s.%s \"$@\"\n", program, name)
				if err := os.WriteFile(filepath.Join(dir, program), []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", dir+string(os.PathListSeparator)+path)
			test(t)
		})
	}
}

func installed(names ...string) bool {
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			return false
		}
	}
	return true
}
