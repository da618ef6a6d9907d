package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/foretime/foretime/shared/cli/scripttest"
)

// TestReadme runs the commands of the README's first block as they stand, but
// for shorter runs.
func TestReadme(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("needs cc: install with apt-get install gcc libc6-dev")
	}
	script := filepath.Join(t.TempDir(), "readme.txtar")
	if err := os.WriteFile(script, []byte(readmeScript(t, "../../README.md", "../../examples/input.json")), 0o600); err != nil {
		t.Fatal(err)
	}
	scripttest.Run(t, testscript.Params{Files: []string{script}})
}

// readmeScript turns the first console block of a README into a test script.
func readmeScript(t *testing.T, readme, example string) string {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```console\n")
	block, _, _ = strings.Cut(block, "```")
	var b strings.Builder
	b.WriteString("env XDG_CACHE_HOME=$WORK/cache\n")
	commands := 0
	for line := range strings.Lines(block) {
		command, ours := strings.CutPrefix(strings.TrimSpace(line), "$ out/bin/deft ")
		if !ours {
			continue
		}
		commands++
		command, file, redirected := strings.Cut(command, " > ")
		if strings.Contains(command, " -f ") {
			command += " --duration 200ms"
		}
		b.WriteString("deft " + command + "\n")
		if redirected {
			b.WriteString("cp stdout " + file + "\n")
		}
	}
	if commands < 5 {
		t.Fatalf("%d commands found in %s", commands, readme)
	}
	b.WriteString("exists out/with/model_B.csv out/jct_vs_t.svg\n-- deft/examples/input.json --\n")
	b.Write(config)
	return b.String()
}
