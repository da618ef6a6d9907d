package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/uncertainty"
)

// TestRecord checks that an answer is corrected, and ends with the coverage of
// earlier ones once there are ten.
func TestRecord(t *testing.T) {
	state := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		var b bytes.Buffer
		env := NewEnv(nil, &b, &b)
		env.State = state
		root := &cobra.Command{Use: "prog"}
		r := NewRecord(env, root)
		var out Output
		ask := &cobra.Command{Use: "ask", RunE: func(*cobra.Command, []string) error {
			p := r.Predict("ask", "key", uncertainty.Prediction{Value: 10, Low: 9, High: 11, Level: .9})
			return out.Print(env, p, func(page *Page) {
				page.Line("%v", Quantity{Prediction: p, Unit: "s"})
				r.Show(page, "ask")
			})
		}}
		root.AddCommand(ask, &cobra.Command{Use: "did", RunE: func(*cobra.Command, []string) error { r.Outcome("ask", "key", 13); return nil }})
		if code := Run(t.Context(), env, root, args); code != ExitDone {
			t.Fatalf("%v: exit code %d: %s", args, code, b.String())
		}
		return b.String()
	}
	if got := run("record"); got != "no predictions yet\n" {
		t.Errorf("%q", got)
	}
	run("did") // without a prediction
	for range 10 {
		if got := run("ask"); got != "10.0 s, 9.0 to 11.0 (90 %)\n" {
			t.Errorf("%q", got)
		}
		run("did")
	}
	got := run("ask")
	if !strings.HasSuffix(got, "\n0 of the last 10 outcomes here were in their interval (level 90 %)\n") || strings.HasPrefix(got, "10.0 s, 9.0 to") {
		t.Errorf("%q", got)
	}
	if got := run("ask", "--no-record"); got != "10.0 s, 9.0 to 11.0 (90 %)\n" {
		t.Errorf("%q", got)
	}
	if got := run("record"); !strings.Contains(got, "ask             10            0  90.0 %") {
		t.Errorf("%s", got)
	}
	if err := os.WriteFile(filepath.Join(state, "foretime", "record.jsonl"), []byte("not ours\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := run("ask"); !strings.Contains(got, "10.0 s, 9.0 to 11.0 (90 %)") || strings.Count(got, "1 line could not be read: moved to record.jsonl.bad") != 1 {
		t.Errorf("%q", got)
	}
	if got := run("ask"); got != "10.0 s, 9.0 to 11.0 (90 %)\n" {
		t.Errorf("a second time: %q", got)
	}
	if got := run("record", "--list"); strings.Count(got, "2c70e12b7a0646f9") != 1 {
		t.Errorf("%s", got)
	}
	if got := run("record", "--forget", "key"); got != "predictions removed: 2\n" {
		t.Errorf("%q", got)
	}
	if got := run("record", "--reset"); got != "no predictions were recorded\n" {
		t.Errorf("%q", got)
	}
	run("ask")
	if got := run("record", "--reset") + run("record"); got != "predictions removed: 1\nno predictions yet\n" {
		t.Errorf("%q", got)
	}
}

// TestNoRecord checks that without a directory for the record an answer is printed,
// with one warning that gives the reason.
func TestNoRecord(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ state, home, dir, none string }{
		{"", "/", "", "HOME is /"},
		{"", "//", "", "HOME is /"},
		{"", "", "", "not set"},
		{"", filepath.Join(dir, "none"), "", "no such file"},
		{"relative", "/", "", "HOME is /"},
		{"/state", "/", "/state", ""},
		{"", dir, filepath.Join(dir, ".local", "state"), ""},
	} {
		state, none := stateDirectory(c.state, c.home)
		if state != c.dir || !strings.Contains(none, c.none) || (none == "") != (c.none == "") {
			t.Errorf("%q %q: %q %q", c.state, c.home, state, none)
		}
	}
	if os.Geteuid() == 0 { // of a user's home, as under sudo -E
		home := t.TempDir()
		if err := os.Chown(home, 1, 1); err != nil {
			t.Fatal(err)
		}
		if state, _ := stateDirectory("", home); state == "" {
			t.Error("no state in the home of root in a container, which has another owner")
		}
		t.Setenv("SUDO_UID", "1")
		if state, none := stateDirectory("", home); state != "" || !strings.Contains(none, "another user's") {
			t.Errorf("the home of another user: %q %q", state, none)
		}
	}
	var b bytes.Buffer
	env := NewEnv(nil, &b, &b)
	env.Stateless = "HOME is /"
	root := &cobra.Command{Use: "prog"}
	r := NewRecord(env, root)
	root.AddCommand(&cobra.Command{Use: "ask", Run: func(*cobra.Command, []string) {
		p := r.Predict("ask", "key", uncertainty.Point(1))
		r.Outcome("ask", "key", 1)
		env.Log.Infof("%v", p.Value)
	}})
	if code := Run(t.Context(), env, root, []string{"ask"}); code != ExitDone || strings.Count(b.String(), "no record of predictions: HOME is /") != 1 {
		t.Errorf("%d: %q", code, b.String())
	}
}
