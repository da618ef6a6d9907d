package workspace

import (
	"context"
	"os"
	"os/exec"
)

// Simd are the variables with which a go command builds vector instructions in; none
// where the toolchain does not know of them.
func Simd(ctx context.Context) []string {
	env := []string{"GOEXPERIMENT=simd"}
	asked := exec.CommandContext(ctx, "go", "env", "GOEXPERIMENT")
	if asked.Env = append(os.Environ(), env...); asked.Run() != nil {
		return nil
	}
	return env
}
