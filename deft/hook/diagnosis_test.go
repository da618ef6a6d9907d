package hook_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/foretime/foretime/deft/hook"
	"github.com/foretime/foretime/deft/internal/session"
	"github.com/foretime/foretime/deft/internal/testkit/simcudatest"
)

func TestDiagnose(t *testing.T) {
	tests := []struct {
		name    string
		clients []session.Client
		verdict hook.Verdict
		finding string // part of one, or "" for none at all
	}{
		{"nobody", nil, hook.NotLoaded, "LD_PRELOAD"},
		{"never near the driver", []session.Client{{}}, hook.Driverless, "does not use CUDA"},
		{"could not open it", []session.Client{{Words: session.Words{Paths: session.PathDlopen}}}, hook.Driverless, "could not"},
		{"looked up only", []session.Client{{Words: session.Words{Paths: session.PathDlsym | session.PathLoaded}}}, hook.NoLaunch, "launched nothing"},
		{"past the hook", []session.Client{{Words: session.Words{Paths: session.PathLoaded}}}, hook.Bypassed, "--shim"},
		{"deepbind", []session.Client{{Words: session.Words{Paths: session.PathLoaded | session.PathDeepbind}}}, hook.Bypassed, "DEFT_DEEPBIND=strip"},
		{"seen", []session.Client{{}, {Words: session.Words{Launches: 3, Paths: session.PathLinked | session.PathLoaded}}}, hook.Seen, ""},
		{"nothing but a private table", []session.Client{{Words: session.Words{Paths: session.PathExportTable | session.PathGetProcV2}}}, hook.NoLaunch, "private table"},
		{"seen in one process", []session.Client{{Words: session.Words{Launches: 1}}, {Words: session.Words{Paths: session.PathDeepbind}}}, hook.Partial, "RTLD_DEEPBIND"},
		{"a namespace", []session.Client{{Words: session.Words{Paths: session.PathNamespace}}}, hook.Bypassed, "dlmopen"},
		{"seen beside a namespace", []session.Client{{Words: session.Words{Launches: 1, Paths: session.PathNamespace}}}, hook.Partial, "dlmopen"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := hook.Diagnose(hook.Evidence{JoinsAtLoad: true, Clients: tt.clients})
			findings := strings.Join(r.Findings, "\n")
			if r.Verdict != tt.verdict || r.OK() != (tt.verdict == hook.Seen) || !strings.Contains(findings, tt.finding) || tt.finding == "" && findings != "" {
				t.Errorf("got %+v", r)
			}
		})
	}
	if r := hook.Diagnose(hook.Evidence{}); r.Verdict != hook.Unreached || !strings.Contains(r.Findings[0], "deft doctor") {
		t.Errorf("got %+v", r)
	}
	r := hook.Diagnose(hook.Evidence{Clients: []session.Client{{}, {Name: "a", Words: session.Words{Launches: 3}}, {Name: "b", Words: session.Words{Launches: 4, Paths: session.PathShim}}}})
	if r.Launches != 7 || len(r.Processes) != 2 || r.Processes[1].Name != "b" || r.Processes[1].Paths[0] != "shim" {
		t.Errorf("got %+v", r)
	}
}

func TestWatch(t *testing.T) {
	s, err := session.Create(session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if clients, err := hook.Watch(s, exec.Command("/nonesuch")); err == nil || clients != nil {
		t.Errorf("got %v, %v", clients, err)
	}
	m, err := simcudatest.Join(s, "left before", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	m.Leave()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	clients, err := hook.Watch(s, exec.Command(self, "-test.run=^$"))
	if err != nil || len(clients) != 1 || clients[0].Name != "left before" {
		t.Errorf("got %+v, %v", clients, err)
	}
}

func TestBefore(t *testing.T) {
	for _, tt := range []struct {
		environ []string
		want    string
	}{
		{nil, "LIST=/own"},
		{[]string{"LIST="}, "LIST=/own"},
		{[]string{"LIST=/a", "X=1", "LIST=/b", "LISTS=/c"}, "LIST=/own:/b"},
	} {
		got := hook.Prepend(tt.environ, "LIST", "/own")
		if len(got) != len(tt.environ)+1 || got[len(got)-1] != tt.want {
			t.Errorf("%q: %q, want %q at the end", tt.environ, got, tt.want)
		}
	}
}
