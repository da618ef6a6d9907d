package docs

import (
	"os"
	"path/filepath"
	"testing"
)

func TestUntestable(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "m", "p")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text := "package p\n\nfunc TestFast(t *testing.T) {}\n\nfunc BenchmarkRun(b *testing.B) {}\n\nfunc testing() {}\n"
	if err := os.WriteFile(filepath.Join(dir, "p_test.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	roots := []string{root, filepath.Join(root, "m")}
	for arguments, want := range map[string]string{
		"-run Fast -v ./m/p -jobs 3":    "",
		"-run 'TestFast$' ./p":          "",
		"-run TestFast/sub ./p":         "",
		`-run 'Slow\|Fast' ./p`:         "",
		"-run xxx -bench Run ./p":       "",
		"-run '^$' -bench . ./p":        "",
		"./m/...":                       "",
		"-run TestSlow ./m/p":           "-run TestSlow: nothing in ./m/p has that name",
		"-run testing ./p":              "-run testing: nothing in ./p has that name",
		"-run NONE -bench TestFast ./p": "-bench TestFast: nothing in ./p has that name",
		"-run Fast ./q":                 "tests ./q, which is not there",
		"-run 'Fast(' ./p":              "-run Fast(: error parsing regexp: missing closing ): `Fast(`",
	} {
		if got := untestable(roots, arguments); got != want {
			t.Errorf("go test %s: %q, want %q", arguments, got, want)
		}
	}
}
