package main

import (
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/testkit/porttest"
	"github.com/foretime/foretime/shared/testkit/scripttest"
)

// TestRealScripts runs the commands that measure models.
func TestRealScripts(t *testing.T) {
	needLibrary(t)
	scripttest.Run(t, realParams)
}

// TestRealWhichBoard runs the guide with a short calibration, on a port that is free.
func TestRealWhichBoard(t *testing.T) {
	needLibrary(t)
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("needs curl: install with apt-get install curl")
	}
	scripttest.Guide(t, "../../docs/which-board.md", realParams,
		"calibrate --out", "calibrate --bursts 1 --width 0.1 --out",
		"edgeprof serve", "edgeprof serve --set source.timeout=1m",
		"127.0.0.1:7001", fmt.Sprint("127.0.0.1:", porttest.Free(t)))
}

// TestRealReadme runs the README's first success.
func TestRealReadme(t *testing.T) {
	needLibrary(t)
	scripttest.Guide(t, "../../README.md", realParams)
}

// realParams keeps calibrations of the one who tests out of the test, and adds the library
// that was found, and a directory with an image.
var realParams = testscript.Params{Setup: func(env *testscript.Env) error {
	env.Setenv("HOME", env.WorkDir)
	env.Setenv("XDG_CONFIG_HOME", env.WorkDir)
	if err := os.Symlink(library.path, filepath.Join(env.WorkDir, soName)); err != nil {
		return err
	}
	images := filepath.Join(env.WorkDir, "test_images")
	if err := os.Mkdir(images, 0o755); err != nil {
		return err
	}
	return file.Write(filepath.Join(images, "a.png"), func(w io.Writer) error { return png.Encode(w, image.NewGray(image.Rect(0, 0, 8, 8))) })
}}
