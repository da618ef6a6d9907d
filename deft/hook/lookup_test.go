package hook_test

import (
	"slices"
	"testing"

	"github.com/foretime/foretime/deft/internal/session"
)

// Every way to a launch is seen, ten times of ten.
func TestLookupPaths(t *testing.T) {
	w := newWorld(t, session.Options{})
	tests := []struct {
		name string
		args []string
		path session.Paths
	}{
		{"dlsym", []string{"dlsym", "10"}, session.PathDlsym},
		{"cuGetProcAddress_v2", []string{"v2", "10"}, session.PathGetProcV2},
		{"cuGetProcAddress_v2, per-thread stream", []string{"ptds", "10"}, session.PathPerThread},
		{"cuGetProcAddress looked up by itself", []string{"double", "10"}, session.PathGetProcV2},
		{"plugin opened with RTLD_LOCAL", []string{"local", "10", w.clients.Plugin}, session.PathLinked},
		{"linked", nil, session.PathLinked},
		{"cuGetProcAddress", []string{"v1", "10"}, session.PathGetProc},
		{"cuLaunchKernelEx", []string{"ex", "10"}, session.PathGetProcV2},
		{"cuLaunchCooperativeKernel", []string{"coop", "10"}, session.PathGetProcV2},
		{"plugin through dlsym", []string{"local-dlsym", "10", w.clients.Plugin}, session.PathDlsym},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cmd := w.command(w.clients.Client, tt.args...)
			if tt.args == nil {
				cmd = w.command(w.clients.Direct, "10")
			}
			w.run(cmd)
			gone := w.reap()
			if len(gone) != 1 || gone[0].Launches != 10 || gone[0].Paths&tt.path == 0 {
				t.Errorf("the hook saw %+v", gone)
			}
		})
	}
}

func TestPathNames(t *testing.T) {
	got := (session.PathDlsym | session.PathDeepbind).Names()
	if !slices.Equal(got, []string{"dlsym", "deepbind"}) {
		t.Errorf("got %q", got)
	}
}

// Versions of one name keep their own arguments, in a session and without one.
func TestVersionsOfOneName(t *testing.T) {
	w := newWorld(t, session.Options{})
	program := compileTest(t, "versions", "versions.c")
	if got := w.run(w.command(program)); got != "ok\n" {
		t.Errorf("in a session: %s", got)
	}
	alone := w.command(program)
	alone.Env = append(alone.Env, "DEFT_SESSION=")
	if got := w.run(alone); got != "ok\n" {
		t.Errorf("without a session: %s", got)
	}
	plain := w.command(program)
	plain.Env = append(plain.Env, "LD_PRELOAD=")
	if got := w.run(plain); got != "ok\n" {
		t.Errorf("without the hook: %s", got)
	}
}
