package jobspec

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// launchers are the programs that run the program of a job, and scripts the files that they
// run.
var (
	launchers = regexp.MustCompile(`^(i?python|pypy|sh|bash|dash|zsh|ksh|fish|perl|ruby|node|Rscript|julia|java|env|torchrun|accelerate|deepspeed|srun|mpirun|mpiexec|uv|conda|nice|nohup|time|timeout|numactl|taskset|stdbuf)[0-9.]*$`)
	scripts   = regexp.MustCompile(`\.(py|sh|jl|R|pl|rb|js|jar|ipynb|sbatch)$`)
)

// nameOf returns a name for a command: that of its script or program, never that of an
// interpreter. Of a program given as text it is a digest.
func nameOf(command []string) string {
	name := func(word string) string { return strings.TrimSuffix(filepath.Base(word), filepath.Ext(word)) }
	if !launchers.MatchString(filepath.Base(command[0])) {
		return name(command[0])
	}
	for i, word := range command[1:] {
		if !strings.HasPrefix(word, "-") && scripts.MatchString(word) {
			return name(word)
		}
		if word == "-m" && i+2 < len(command) && !strings.HasPrefix(command[i+2], "torch.") {
			return command[i+2]
		}
	}
	for _, word := range command[1:] {
		if strings.Contains(word, "/") && !strings.ContainsAny(word, " ;") {
			return name(word)
		}
	}
	sum := sha256.Sum256([]byte(strings.Join(command, "\x00")))
	return fmt.Sprintf("%s-%x", filepath.Base(command[0]), sum[:3])
}
