package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// program is a command tree with one subcommand for each way to end.
func program(env *Env) *cobra.Command {
	root := &cobra.Command{Use: "prog", Short: "a program"}
	add := func(use string, args cobra.PositionalArgs, run func(*cobra.Command, []string) error) {
		root.AddCommand(&cobra.Command{Use: use, Args: args, RunE: run})
	}
	add("good", nil, func(*cobra.Command, []string) error { return env.WriteJSON(map[string]string{"a": "<b>"}) })
	add("bad", nil, func(*cobra.Command, []string) error {
		return fmt.Errorf("read: %w", errors.New("disk.csv:3:\n  no such column"))
	})
	add("usage", nil, func(*cobra.Command, []string) error { return Usagef("--n: %d is negative", -1) })
	add("panic", nil, func(*cobra.Command, []string) error { panic("boom") })
	add("wait", nil, func(cmd *cobra.Command, _ []string) error { <-cmd.Context().Done(); return cmd.Context().Err() })
	add("log", nil, func(*cobra.Command, []string) error { env.Log.Debug("detail"); env.Log.Warn("careful"); return nil })
	add("one ARG", cobra.ExactArgs(1), func(*cobra.Command, []string) error { return nil })
	group := &cobra.Command{Use: "group", Short: "a group"}
	group.AddCommand(&cobra.Command{Use: "leaf", RunE: func(*cobra.Command, []string) error { return nil }})
	root.AddCommand(group)
	return root
}

func TestRun(t *testing.T) {
	tests := []struct {
		args           string
		code           int
		stdout, stderr string // exact, or a part after "~"
	}{
		{"good", ExitDone, "{\n  \"a\": \"<b>\"\n}\n", ""},
		{"bad", ExitFailed, "", "prog: read: disk.csv:3:; no such column\n"},
		{"usage", ExitUsage, "", "prog: --n: -1 is negative\n"},
		{"panic", ExitFailed, "", "~prog: internal error: boom"},
		{"good --nonesuch", ExitUsage, "", "prog: unknown flag: --nonesuch; see prog good -h\n"},
		{"good -z", ExitUsage, "", "prog: unknown flag: -z; see prog good -h\n"},
		{"good extra", ExitUsage, "", "~have 1 argument; usage: prog good"},
		{"one", ExitUsage, "", "~have 0 arguments; usage: prog one"},
		{"nonesuch", ExitUsage, "", "~unknown command \"nonesuch\""},
		{"group nonesuch", ExitUsage, "", "~unknown command \"nonesuch\""},
		{"nonesuch -h", ExitUsage, "", "~unknown command \"nonesuch\""},
		{"group nonesuch --help", ExitUsage, "", "~unknown command \"nonesuch\""},
		{"help nonesuch", ExitUsage, "", "~unknown command \"nonesuch\""},
		{"help group", ExitDone, "~leaf", ""},
		{"help", ExitDone, "~a program", ""},
		{"", ExitUsage, "", "~no subcommand given"},
		{"group", ExitUsage, "", "~no subcommand given"},
		{"-h", ExitDone, "~a program", ""},
		{"group -h", ExitDone, "~leaf", ""},
		{"log", ExitDone, "", "level=warning msg=careful\n"},
		{"log --verbose", ExitDone, "", "~msg=detail"},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			env := NewEnv(strings.NewReader(""), &stdout, &stderr)
			code := Run(t.Context(), env, program(env), strings.Fields(tt.args))
			if code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			for _, s := range []struct{ name, got, want string }{{"stdout", stdout.String(), tt.stdout}, {"stderr", stderr.String(), tt.stderr}} {
				part, loose := strings.CutPrefix(s.want, "~")
				if loose && !strings.Contains(s.got, part) || !loose && s.got != s.want {
					t.Errorf("%s %q, want %q", s.name, s.got, s.want)
				}
			}
			if tt.code != ExitDone && strings.Count(stderr.String(), "\n") != 1 {
				t.Errorf("stderr is not one line: %q", stderr.String())
			}
		})
	}
}

func TestRunInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	env := NewEnv(strings.NewReader(""), &stdout, &stderr)
	if code := Run(ctx, env, program(env), []string{"wait"}); code != ExitFailed {
		t.Errorf("exit code %d, want %d", code, ExitFailed)
	}
	if got := stderr.String(); got != "prog: interrupted\n" {
		t.Errorf("stderr %q", got)
	}
}

func TestWrite(t *testing.T) {
	var stdout bytes.Buffer
	env := NewEnv(nil, &stdout, io.Discard)
	path := filepath.Join(t.TempDir(), "out")
	for _, at := range []string{"-", path} {
		if err := env.Write(at, func(w io.Writer) error { _, err := io.WriteString(w, "a,b\n"); return err }); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(path)
	if err != nil || string(written) != "a,b\n" || stdout.String() != "a,b\n" {
		t.Errorf("file %q, stdout %q, %v", written, stdout.String(), err)
	}
}

func TestIsTerminal(t *testing.T) {
	for path, want := range map[string]bool{"/dev/ptmx": true, os.DevNull: false} {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Skip(err)
		}
		defer f.Close()
		if IsTerminal(f) != want {
			t.Errorf("%s: terminal %v, want %v", path, !want, want)
		}
	}
	if IsTerminal(&strings.Builder{}) {
		t.Error("a builder is a terminal")
	}
}

func TestProgressIsSilentWithoutATerminal(t *testing.T) {
	var stderr bytes.Buffer
	p := NewEnv(nil, nil, &stderr).Progress("work", 10)
	p.Describe("more")
	p.Add(3)
	p.Set(10)
	p.Done()
	if stderr.Len() > 0 {
		t.Errorf("stderr %q", stderr.String())
	}
}

func TestProgressOnATerminal(t *testing.T) {
	var stderr bytes.Buffer
	env := NewEnv(nil, nil, &stderr)
	env.Terminal = true
	p := env.Progress("work", 10)
	p.Set(5)
	p.Done()
	if !strings.Contains(stderr.String(), "work") {
		t.Errorf("stderr %q", stderr.String())
	}
	stderr.Reset()
	p = env.Progress("", 10)
	p.Describe("9s left")
	p.Set(5)
	if shown := stderr.String(); !strings.Contains(shown, "9s left") || strings.Contains(shown, "[") {
		t.Errorf("a bar with a text of its own: %q", shown)
	}
}

// TestNoColor runs a process that has a terminal on stderr, with and without
// NO_COLOR.
func TestNoColor(t *testing.T) {
	terminal := os.Stderr
	defer func() { os.Stderr = terminal }()
	var err error
	if os.Stderr, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0); err != nil {
		t.Skip(err)
	}
	defer os.Stderr.Close()
	t.Setenv("TERM", "xterm")
	for value, want := range map[string]bool{"": false, "1": true} {
		t.Setenv("NO_COLOR", value)
		if f := OSEnv().Log.Formatter.(*plainLog); f.DisableColors != want {
			t.Errorf("NO_COLOR=%s: without colours %v", value, f.DisableColors)
		}
	}
}

func TestLogTimes(t *testing.T) {
	var stderr bytes.Buffer
	env := NewEnv(nil, nil, &stderr)
	env.Log.Info("before")
	env.LogTimes()
	env.Log.Info("after")
	before, after, _ := strings.Cut(stderr.String(), "\n")
	at, ok := strings.CutPrefix(after, `time="`)
	if at, _, _ = strings.Cut(at, `"`); strings.Contains(before, "time=") || !ok {
		t.Fatalf("%q", stderr.String())
	}
	if _, err := time.Parse(LogTime, at); err != nil {
		t.Error(err)
	}
}

func TestCompletions(t *testing.T) {
	complete := func(typed ...string) string {
		var stdout bytes.Buffer
		env := NewEnv(nil, &stdout, &bytes.Buffer{})
		var answer Output
		into := struct {
			Wait struct {
				Seconds float64 `json:"seconds" help:"time to wait"`
			} `json:"wait"`
		}{}
		settings := NewSettings(&into)
		root := &cobra.Command{Use: "program", RunE: func(*cobra.Command, []string) error { return nil }}
		root.Flags().String("policy", "", "")
		root.Flags().StringSlice("device", nil, "")
		Values(root, "policy", "fair", "first")
		Values(root, "device", "cpu", "gpu")
		answer.Flags(root, nil)
		settings.Flags(root)
		if code := Run(t.Context(), env, root, append([]string{"__complete"}, typed...)); code != ExitDone {
			t.Fatalf("%v: exit code %d", typed, code)
		}
		return stdout.String()
	}
	for _, c := range []struct {
		typed []string
		want  string
	}{
		{[]string{"--policy", "f"}, "fair\nfirst\n:4\n"},
		{[]string{"--device", "cpu,"}, "cpu,cpu\ncpu,gpu\n:4\n"},
		{[]string{"--set", ""}, "wait.seconds=\ttime to wait\n:6\n"},
		{[]string{"--csv", ""}, "csv\n:8\n"},
	} {
		if got := complete(c.typed...); got != c.want {
			t.Errorf("%v: %q, want %q", c.typed, got, c.want)
		}
	}
}
