package docs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/tools/workspace"
)

// prepared creates what the commands of a manual need: a job, an experiment, images.
var prepared = map[string]func(dir, root string) error{
	"allox-est": func(dir, _ string) error {
		return os.WriteFile(filepath.Join(dir, "run.sh"), []byte("for i in $(seq $1); do echo epoch $i; sleep 0.05; done\n"), 0o644)
	},
	"deft": func(dir, root string) error {
		text, err := os.ReadFile(filepath.Join(root, "deft", "examples", "input.json"))
		if err != nil {
			return err
		}
		text = bytes.Replace(text, []byte(`"exp_dur": 10`), []byte(`"exp_dur": 2`), 1)
		return os.WriteFile(filepath.Join(dir, "input.json"), text, 0o644)
	},
	"edgeprof": func(dir, root string) error {
		found, err := filepath.Glob(filepath.Join(root, "out", "real", "pip", "onnxruntime==*", "onnxruntime", "capi", "libonnxruntime.so*"))
		if err != nil {
			return err
		}
		if len(found) > 0 { // else where it is installed
			if err := os.Symlink(found[0], filepath.Join(dir, "libonnxruntime.so.1")); err != nil {
				return err
			}
		}
		if err := os.Mkdir(filepath.Join(dir, "test_images"), 0o755); err != nil {
			return err
		}
		var b bytes.Buffer
		if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 64, 64))); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, "test_images", "1.png"), b.Bytes(), 0o644)
	},
}

var (
	commandOf = regexp.MustCompile("(\\*?)`([^`]+)`")
	// Numbers for which a test has no time.
	quicker = strings.NewReplacer("--episodes 2802", "--episodes 12", "--episodes 888", "--episodes 4",
		"--iterations 100", "--iterations 2 --set profiles=1 --set warmup=0")
)

// TestRealOriginals runs the commands of from-the-originals.md, and compares the flags of
// the programs that it builds with the table of CONTRIBUTING.md.
func TestRealOriginals(t *testing.T) {
	ws, err := workspace.Find(".")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("from-the-originals.md")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	path := bin + ":" + os.Getenv("PATH")
	var tool, dir string
	ran := map[string]int{}
	described := map[string][]command{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if !strings.HasPrefix(line, "|") || len(cells) != 3 || strings.Contains(line, "--|") || strings.TrimSpace(cells[0]) == "manual" {
			continue
		}
		if name := strings.TrimSpace(cells[0]); name != "" {
			tool, dir = name, t.TempDir()
			if err := build(t.Context(), filepath.Join(ws.Root, tool), bin, tool); err != nil {
				t.Fatal(err)
			}
			described[tool] = describe(t, filepath.Join(bin, tool))
			if prepare := prepared[tool]; prepare != nil {
				if err := prepare(dir, ws.Root); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, m := range commandOf.FindAllStringSubmatch(cells[2], -1) {
			if m[1] == "*" || strings.HasPrefix(m[2], "sacct") {
				continue
			}
			begin := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			cmd := exec.CommandContext(ctx, "sh", "-c", quicker.Replace(m[2]))
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PATH="+path, "GOWORK="+filepath.Join(ws.Root, "go.work"), "PYTHONPATH="+filepath.Join(ws.Root, "allox-est", "python"),
				"XDG_STATE_HOME="+filepath.Join(bin, "state"), "XDG_CONFIG_HOME="+filepath.Join(bin, "config"), "XDG_DATA_HOME="+filepath.Join(bin, "data"))
			if strings.HasPrefix(m[2], "go build") {
				cmd.Dir, cmd.Args[2] = filepath.Join(ws.Root, tool), strings.Replace(m[2], "-o ", "-o "+dir+"/", 1)
			}
			var err error
			if strings.Contains(m[2], " serve ") {
				err = serve(t, cmd)
			} else if out, failed := cmd.CombinedOutput(); failed != nil {
				err = fmt.Errorf("%w: %s", failed, out)
			}
			cancel()
			t.Logf("%.1f s: %s: %s", time.Since(begin).Seconds(), tool, m[2])
			if err != nil {
				t.Errorf("%s: %s: %v", tool, m[2], err)
			}
			ran[tool]++
		}
	}
	if len(ran) != 5 || ran["mirage"] < 6 || ran["edgeprof"] < 6 {
		t.Errorf("ran %v", ran)
	}
	if text, err = os.ReadFile(filepath.Join(ws.Root, "CONTRIBUTING.md")); err != nil {
		t.Fatal(err)
	}
	for _, finding := range checkVocabulary(readVocabulary(string(text)), described) {
		t.Error(finding)
	}
}

// describe returns the commands of a program.
func describe(t *testing.T, program string) (commands []command) {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), program, "describe").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &commands); err != nil {
		t.Fatal(err)
	}
	return commands
}

// build builds the programs of a module that run its commands into bin.
func build(ctx context.Context, module, bin, tool string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", bin+"/", "./cmd/"+tool)
	if tool == "edgeprof" {
		cmd.Args = append(cmd.Args, "./cmd/edgeprof-ort")
	}
	cmd.Dir = module
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// serve starts a service that ends with the test and waits until it listens.
func serve(t *testing.T, cmd *exec.Cmd) error {
	t.Helper()
	own := exec.Command(cmd.Path, append(cmd.Args[1:2:2], "exec "+cmd.Args[2])...)
	own.Dir, own.Env = cmd.Dir, cmd.Env
	var said bytes.Buffer
	own.Stdout, own.Stderr = &said, &said
	if err := own.Start(); err != nil {
		return err
	}
	t.Cleanup(func() {
		_ = own.Process.Kill()
		_ = own.Wait()
	})
	address := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(cmd.Args[2])
	for range 600 {
		connection, err := net.Dial("tcp", address)
		if err == nil {
			return connection.Close()
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("nothing listens at %s: %s", address, &said)
}
