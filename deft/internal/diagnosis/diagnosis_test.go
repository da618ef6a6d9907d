package diagnosis

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foretime/foretime/deft/internal/session"
	"github.com/foretime/foretime/deft/internal/testkit/simcudatest"
)

func TestDiagnose(t *testing.T) {
	tests := []struct {
		name    string
		clients []session.Client
		verdict Verdict
		finding string // part of one, or "" for none at all
	}{
		{"nobody", nil, NotLoaded, "LD_PRELOAD"},
		{"never near the driver", []session.Client{{}}, Driverless, "does not use CUDA"},
		{"could not open it", []session.Client{{Words: session.Words{Paths: session.PathDlopen}}}, Driverless, "could not"},
		{"looked up only", []session.Client{{Words: session.Words{Paths: session.PathDlsym | session.PathLoaded}}}, NoLaunch, "launched nothing"},
		{"past the hook", []session.Client{{Words: session.Words{Paths: session.PathLoaded}}}, Bypassed, "--shim"},
		{"deepbind", []session.Client{{Words: session.Words{Paths: session.PathLoaded | session.PathDeepbind}}}, Bypassed, "DEFT_DEEPBIND=strip"},
		{"seen", []session.Client{{}, {Words: session.Words{Launches: 3, Paths: session.PathLinked | session.PathLoaded}}}, Seen, ""},
		{"nothing but a private table", []session.Client{{Words: session.Words{Paths: session.PathExportTable | session.PathGetProcV2}}}, NoLaunch, "private table"},
		{"seen in one process", []session.Client{{Words: session.Words{Launches: 1}}, {Words: session.Words{Paths: session.PathDeepbind}}}, Partial, "RTLD_DEEPBIND"},
		{"a namespace", []session.Client{{Words: session.Words{Paths: session.PathNamespace}}}, Bypassed, "dlmopen"},
		{"seen beside a namespace", []session.Client{{Words: session.Words{Launches: 1, Paths: session.PathNamespace}}}, Partial, "dlmopen"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := Diagnose(Evidence{JoinsAtLoad: true, Clients: tt.clients})
			findings := strings.Join(r.Findings, "\n")
			if r.Verdict != tt.verdict || r.OK() != (tt.verdict == Seen) || !strings.Contains(findings, tt.finding) || tt.finding == "" && findings != "" {
				t.Errorf("got %+v", r)
			}
		})
	}
	if r := Diagnose(Evidence{}); r.Verdict != Unreached || !strings.Contains(r.Findings[0], "deft doctor") {
		t.Errorf("got %+v", r)
	}
	r := Diagnose(Evidence{Clients: []session.Client{{}, {Name: "a", Words: session.Words{Launches: 3}}, {Name: "b", Words: session.Words{Launches: 4, Paths: session.PathShim}}}})
	if r.Launches != 7 || len(r.Processes) != 2 || r.Processes[1].Name != "b" || r.Processes[1].Paths[0] != "shim" {
		t.Errorf("got %+v", r)
	}
}

func TestWatch(t *testing.T) {
	s, err := session.Create(filepath.Join(t.TempDir(), "session"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if clients, err := Watch(s, exec.Command("/nonesuch")); err == nil || clients != nil {
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
	clients, err := Watch(s, exec.Command(self, "-test.run=^$"))
	if err != nil || len(clients) != 1 || clients[0].Name != "left before" {
		t.Errorf("got %+v, %v", clients, err)
	}
}
