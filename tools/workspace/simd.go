package workspace

import (
	"context"
	"os"
	"os/exec"
)

// Simd returns the environment variables that make a go command build with vector
// instructions; none if the toolchain does not support them.
func Simd(ctx context.Context) []string {
	env := []string{"GOEXPERIMENT=simd"}
	asked := exec.CommandContext(ctx, "go", "env", "GOEXPERIMENT")
	if asked.Env = append(os.Environ(), env...); asked.Run() != nil {
		return nil
	}
	return env
}
