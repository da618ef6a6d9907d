package hook_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/foretime/foretime/deft/hook"
	"github.com/foretime/foretime/deft/internal/session"
)

// Where a plugin is opened with RTLD_DEEPBIND the preload sees nothing. It
// sees that it was so, and either stripping the flag or the shim mends it.
func TestDeepbind(t *testing.T) {
	w := newWorld(t, session.Options{})
	shim, err := hook.BuildShim(t.Context(), built, w.driver.Driver)
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{"deepbind", "deepbind-dlsym"} {
		for _, tt := range []struct {
			name     string
			preload  bool
			env      string
			launches uint64
			path     session.Paths
		}{
			{"preload", true, "", 0, session.PathDeepbind},
			{"stripped", true, "DEFT_DEEPBIND=strip", 10, session.PathStripped},
			{"shim", false, "LD_LIBRARY_PATH=" + filepath.Dir(shim), 10, session.PathShim},
		} {
			t.Run(way+", "+tt.name, func(t *testing.T) {
				cmd := w.command(w.clients.Client, way, "10", w.clients.Plugin)
				if !tt.preload {
					cmd.Env = append(cmd.Env, "LD_PRELOAD=")
				}
				cmd.Env = append(cmd.Env, tt.env)
				w.run(cmd)
				gone := w.reap()
				if len(gone) != 1 || gone[0].Launches != tt.launches || gone[0].Paths&tt.path == 0 {
					t.Errorf("the hook saw %+v", gone)
				}
			})
		}
	}
}

// The shim exports what the driver exports, whether libdeft wraps it or not.
func TestShimReachesEveryFunction(t *testing.T) {
	w := newWorld(t, session.Options{})
	shim, err := hook.BuildShim(t.Context(), built, w.driver.Driver)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"v2", "10"}, {"v1", "10"}, {"dlsym", "10"}, {"double", "10"}, {"copies", "3"}, {"memory", "3"}, {"capture", "3"}, {"events", "3"}} {
		cmd := w.command(w.clients.Client, args...)
		cmd.Env = append(cmd.Env, "LD_PRELOAD=", "LD_LIBRARY_PATH="+filepath.Dir(shim))
		w.run(cmd)
		if gone := w.reap(); len(gone) != 1 || gone[0].Launches+gone[0].Copies == 0 && args[0] != "memory" {
			t.Errorf("%s: the hook saw %+v", args[0], gone)
		}
	}
}

func TestFindDriver(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "libcuda.so.1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	path, err := hook.FindDriver("", t.TempDir(), dir)
	if err != nil || path != filepath.Join(dir, "libcuda.so.1") {
		t.Errorf("got %q, %v", path, err)
	}
	if path, err := hook.FindDriver(); err != nil && !errors.Is(err, hook.ErrNoDriver) || err == nil && path == "" {
		t.Errorf("got %q, %v", path, err)
	}
}

func TestShimRefusesWhatIsNoLibrary(t *testing.T) {
	c := needCompiler(t)
	for _, path := range []string{"/nonesuch/libcuda.so.1", "shim_test.go"} {
		if shim, err := hook.BuildShim(t.Context(), c, path); err == nil {
			t.Errorf("%s: got %s", path, shim)
		}
	}
}
