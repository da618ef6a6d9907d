package slurm

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "train.sbatch")
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead(t *testing.T) {
	path := script(t, "#!/usr/bin/env bash\n# a comment\n#SBATCH -N 1\n\n#SBATCH --gres=gpu:1\nset -e\n#SBATCH --time=1\n")
	s, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Directives, []string{"#SBATCH -N 1", "#SBATCH --gres=gpu:1"}) {
		t.Errorf("directives %q", s.Directives)
	}
	if got := s.Command("--epochs", "{epochs}"); !slices.Equal(got, []string{"/usr/bin/env", "bash", path, "--epochs", "{epochs}"}) {
		t.Errorf("command %q", got)
	}
	for _, text := range []string{"", "echo no interpreter\n", "#!\n"} {
		if _, err := Read(script(t, text)); !errors.Is(err, ErrScript) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// The words of a command reach it as they are.
func TestWrap(t *testing.T) {
	s := &Script{Directives: []string{"#SBATCH -N 1"}}
	words := []string{"printf", "%s|", "a b", "it's", `$HOME "x"`, ""}
	text := s.wrap(words)
	if !strings.Contains(text, "\n#SBATCH -N 1\n") {
		t.Errorf("no directive in %q", text)
	}
	out, err := exec.Command("sh", "-c", text).Output()
	if err != nil || string(out) != strings.Join(words[2:], "|")+"|" {
		t.Errorf("%q, %v", out, err)
	}
}

func TestLimit(t *testing.T) {
	for seconds, want := range map[float64]string{0.2: "00:01:00", 60: "00:01:00", 60.1: "00:02:00", 3599: "01:00:00", 90000: "25:00:00", 400 * 3600: "400:00:00"} {
		if got := Limit(seconds); got != want {
			t.Errorf("%v s: %s, want %s", seconds, got, want)
		}
	}
}
